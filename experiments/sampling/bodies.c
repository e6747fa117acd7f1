/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Three bodies of iterative codes, of which the sampling of iterations is measured: bodies halo|amr|alltoallv
 * ITERATIONS [BYTES]. Each iteration begins with MPI_Pcontrol(1). halo exchanges with four neighbours; amr
 * does so with a mesh that is refined now and then, and reduces a large array in every tenth step; alltoallv
 * sends random volumes to random partners. All numbers come from the iteration: two runs do the same.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LARGE = 1 << 18, MOST = 1 << 20 };

struct job {
    int rank, ranks, columns, bytes;
    char *out, *in;
    int *counts, *places, *other_counts, *other_places;
};

/* The same for all ranks that ask for the same. */
static unsigned random_of(unsigned a, unsigned b, unsigned c)
{
    unsigned x = a * 2654435761u ^ b * 2246822519u ^ c * 3266489917u;

    x ^= x >> 15;
    x *= 2246822519u;
    x ^= x >> 13;
    x *= 3266489917u;
    return x ^ x >> 16;
}

static void exchange(const struct job *job, int bytes)
{
    const int steps[4] = {1, -1, job->columns, -job->columns};
    MPI_Request requests[8];

    for (int i = 0; i < 4; i++) {
        int from = (job->rank - steps[i] + 2 * job->ranks) % job->ranks;
        int to = (job->rank + steps[i] + 2 * job->ranks) % job->ranks;
        MPI_Irecv(job->in + (size_t)i * (size_t)bytes, bytes, MPI_BYTE, from, i, MPI_COMM_WORLD,
                  &requests[i]);
        MPI_Isend(job->out, bytes, MPI_BYTE, to, i, MPI_COMM_WORLD, &requests[4 + i]);
    }
    MPI_Waitall(8, requests, MPI_STATUSES_IGNORE);
}

static void agree(void)
{
    double residual = 1, all;

    MPI_Allreduce(&residual, &all, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
}

static void amr(const struct job *job, int iteration)
{
    int level = iteration / 150;

    exchange(job, job->bytes / 2 + (int)(random_of((unsigned)level, 1, 1) % (unsigned)job->bytes));
    agree();
    if (iteration % 10 == 9)
        MPI_Reduce(job->out, job->in, LARGE, MPI_BYTE, MPI_BOR, 0, MPI_COMM_WORLD);
}

static void alltoallv(const struct job *job, int iteration)
{
    int here = 0, there = 0;
    unsigned heat =
        random_of((unsigned)iteration / 25, 7, 7) % 3 + 2; /* slow change: how many partners there are */

    for (int other = 0; other < job->ranks; other++) {
        unsigned to = random_of((unsigned)iteration, (unsigned)job->rank, (unsigned)other);
        unsigned from = random_of((unsigned)iteration, (unsigned)other, (unsigned)job->rank);
        job->counts[other] = to % 8 < heat ? (int)(to / 8 % (unsigned)job->bytes) : 0;
        job->other_counts[other] = from % 8 < heat ? (int)(from / 8 % (unsigned)job->bytes) : 0;
        job->places[other] = here;
        job->other_places[other] = there;
        here += job->counts[other];
        there += job->other_counts[other];
    }
    MPI_Alltoallv(job->out, job->counts, job->places, MPI_BYTE, job->in, job->other_counts, job->other_places,
                  MPI_BYTE, MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    struct job job = {.columns = 4, .bytes = argc > 3 ? atoi(argv[3]) : 8192};
    const char *body = argc > 1 ? argv[1] : "";
    int iterations = argc > 2 ? atoi(argv[2]) : 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &job.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &job.ranks);
    if (iterations < 1 || job.bytes < 1 || job.bytes > MOST ||
        (strcmp(body, "halo") && strcmp(body, "amr") && strcmp(body, "alltoallv"))) {
        fprintf(stderr, "usage: bodies halo|amr|alltoallv ITERATIONS [BYTES, at most %d]\n", MOST);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    while (job.columns * job.columns < job.ranks)
        job.columns *= 2;
    size_t share =
        (size_t)(job.ranks > 6 ? job.ranks : 6) * (size_t)job.bytes; /* amr: four times one and a half */
    size_t room = share > LARGE ? share : LARGE;
    job.out = calloc(room, 1);
    job.in = calloc(room, 1);
    job.counts = calloc(4 * (size_t)job.ranks, sizeof *job.counts);
    job.places = job.counts + job.ranks;
    job.other_counts = job.places + job.ranks;
    job.other_places = job.other_counts + job.ranks;
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < iterations; i++) {
        MPI_Pcontrol(1);
        if (!strcmp(body, "alltoallv")) {
            alltoallv(&job, i);
        } else if (!strcmp(body, "amr")) {
            amr(&job, i);
        } else {
            exchange(&job, job.bytes);
            agree();
        }
    }
    MPI_Pcontrol(2);
    agree();
    if (job.rank == 0)
        printf("bodies: %s, %d iterations\n", body, iterations);
    free(job.out);
    free(job.in);
    free(job.counts);
    MPI_Finalize();
    return 0;
}
