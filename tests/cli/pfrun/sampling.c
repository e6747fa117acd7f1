/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Iterations for the markers of a run: messages to both neighbours, an allreduce, in every fifth iteration a
 * large reduce. Options, in any order: phases (names one at each end), pcontrol (one in each iteration),
 * levels (other ones, before), uneven (rank 0 names a phase of its own), dup (collectives on a duplicate of
 * the world), busy (some 0.1 s of processor time in each iteration), mpifile (open from the start). The
 * result of all ranks is printed.
 */
#include <limits.h>
#include <mpi.h>
#include <parfocal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST (1 << 16)

static int rank, size;
static double out[2][MOST], in[2][MOST], large[MOST], sum[MOST];
static int chosen_count;
static char **chosen;

static int wants(const char *option)
{
    for (int i = 0; i < chosen_count; i++)
        if (strcmp(chosen[i], option) == 0)
            return 1;
    return 0;
}

static void compute(void)
{
    volatile long steps = 0;
    while (steps < 50000000)
        steps++;
}

static void open_file(void)
{
    static MPI_File file;
    if (wants("mpifile"))
        MPI_File_open(MPI_COMM_WORLD, "mpifile", MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
}

static void exchange(int items)
{
    MPI_Request requests[4];
    int left = (rank + size - 1) % size, right = (rank + 1) % size;
    MPI_Irecv(in[0], items, MPI_DOUBLE, left, 1, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(in[1], items, MPI_DOUBLE, right, 2, MPI_COMM_WORLD, &requests[1]);
    MPI_Isend(out[0], items, MPI_DOUBLE, right, 1, MPI_COMM_WORLD, &requests[2]);
    MPI_Isend(out[1], items, MPI_DOUBLE, left, 2, MPI_COMM_WORLD, &requests[3]);
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < items; i++) {
        out[0][i] = 0.5 * (in[0][i] + in[1][i]) + 1;
        out[1][i] = in[0][i] - in[1][i];
    }
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int iterations = argc > 1 ? atoi(argv[1]) : 20;
    MPI_Comm comm = MPI_COMM_WORLD;
    chosen = argv;
    chosen_count = argc;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (wants("dup"))
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    if (wants("phases"))
        pf_phase("the, first");
    for (int i = 0; wants("levels") && i < 3; i++)
        MPI_Pcontrol((const int[]){0, -120, INT_MIN}[i]);
    if (wants("uneven") && rank == 0)
        pf_phase("mine");
    open_file();
    for (int i = 0; i < MOST; i++)
        out[0][i] = out[1][i] = large[i] = rank + i % 7;
    for (int i = 0; i < iterations; i++) {
        double mine = out[0][0], all;
        if (wants("pcontrol"))
            MPI_Pcontrol(7);
        if (wants("busy"))
            compute();
        exchange(64 << i % 5);
        MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, comm);
        if (i % 5 == 4)
            MPI_Reduce(large, sum, MOST, MPI_DOUBLE, MPI_SUM, 0, comm);
        out[0][0] += all * 1e-3;
    }
    if (wants("phases"))
        pf_phase("the last");
    double result = out[0][0] + out[1][1] + sum[MOST - 1], total;
    MPI_Reduce(&result, &total, 1, MPI_DOUBLE, MPI_SUM, 0, comm);
    if (rank == 0)
        printf("result %.12g at %.12g s\n", total, MPI_Wtime());
    if (comm != MPI_COMM_WORLD)
        MPI_Comm_free(&comm);
    MPI_Finalize();
    return 0;
}
