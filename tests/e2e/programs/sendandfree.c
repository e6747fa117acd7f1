/* SPDX-License-Identifier: BSD-3-Clause */
/* e2e: switch=any stock=no mpirun=no */
/*
 * Communicators that are freed while a send on them is still under way, which nobody waits for: buffered, or
 * its request was freed. Made and freed again and again, so that their names in an implementation come back.
 */
#include "check.h"

enum { ROUNDS = 5, LARGE = 30000 };

static int out[ROUNDS][LARGE], in[LARGE];

enum way { BUFFERED, FREED };

static void exchange(MPI_Comm comm, int peer, int round, int count, enum way way)
{
    MPI_Request request;
    int wrong = 0;

    for (int i = 0; i < count; i++)
        out[round][i] = 1000 * check_rank + 7 * round + i;
    if (way == BUFFERED) {
        CHECK_OK(MPI_Bsend(out[round], count, MPI_INT, peer, round, comm));
    } else {
        CHECK_OK(MPI_Ibsend(out[round], count, MPI_INT, peer, round, comm, &request));
        CHECK_OK(MPI_Request_free(&request));
    }
    memset(in, 0, sizeof in);
    CHECK_OK(MPI_Recv(in, count, MPI_INT, peer, round, comm, MPI_STATUS_IGNORE));
    for (int i = 0; i < count; i++)
        wrong += in[i] != 1000 * (check_rank ^ 1) + 7 * round + i;
    CHECK(wrong == 0);
}

static void rounds(MPI_Comm half, int count, enum way way)
{
    for (int round = 0; round < ROUNDS; round++) {
        MPI_Comm sides, copy;
        CHECK_OK(MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - check_rank % 2, 5, &sides));
        exchange(sides, check_rank / 2, round, count, way);
        CHECK_OK(MPI_Comm_free(&sides));
        CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &copy));
        exchange(copy, check_rank ^ 1, round, count, way);
        CHECK_OK(MPI_Comm_free(&copy));
    }
}

int main(int argc, char **argv)
{
    int room = 2 * ROUNDS * ((int)sizeof in + MPI_BSEND_OVERHEAD);
    MPI_Comm half;
    void *buffer;

    check_begin(&argc, &argv);
    buffer = malloc((size_t)room);
    CHECK_OK(MPI_Comm_split(MPI_COMM_WORLD, check_rank % 2, check_rank, &half));
    for (int count = 100; count <= LARGE; count *= 300)
        for (enum way way = BUFFERED; way <= FREED; way++) {
            CHECK_OK(MPI_Buffer_attach(buffer, room));
            rounds(half, count, way);
            CHECK_OK(MPI_Buffer_detach(&buffer, &room));
        }
    CHECK_OK(MPI_Comm_free(&half));
    free(buffer);
    return check_end("sendandfree");
}
