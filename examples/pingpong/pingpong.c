/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Half the round-trip time between ranks 0 and 1, for sizes from 1 byte up. Each size is a phase of its own,
 * such as size-1024, so that a schedule can choose the model for each.
 *
 *     pingpong [largest size in bytes] [repetitions]
 */
#include <mpi.h>
#include <parfocal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Ranks 0 and 1 bounce one message; the others have nothing to do. Returns the number of wrong bytes seen. */
static long bounce(char *buffer, int size, int repetitions, int rank)
{
    long wrong = 0;

    for (int i = 0; i < repetitions; i++) {
        if (rank == 0) {
            memset(buffer, i + 1, (size_t)size);
            MPI_Send(buffer, size, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
            MPI_Recv(buffer, size, MPI_BYTE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else if (rank == 1) {
            memset(buffer, 0, (size_t)size);
            MPI_Recv(buffer, size, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Send(buffer, size, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
        }
        for (int b = 0; b < size && rank < 2; b++)
            wrong += buffer[b] != (char)(i + 1);
    }
    return wrong;
}

int main(int argc, char **argv)
{
    int rank, nranks, largest, repetitions;
    long wrong = 0, all_wrong;
    char *buffer, phase[32];

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &nranks);
    largest = argc > 1 ? atoi(argv[1]) : 1 << 20;
    repetitions = argc > 2 ? atoi(argv[2]) : 10;
    if (nranks < 2 || largest < 1 || repetitions < 1) {
        if (rank == 0)
            fprintf(stderr, "usage: pingpong [largest size] [repetitions], on two ranks or more\n");
        MPI_Finalize();
        return 2;
    }
    buffer = malloc((size_t)largest);
    for (int size = 1; size <= largest && size > 0; size *= 4) {
        double begin;

        snprintf(phase, sizeof(phase), "size-%d", size);
        pf_phase(phase);
        MPI_Barrier(MPI_COMM_WORLD);
        begin = MPI_Wtime();
        wrong += bounce(buffer, size, repetitions, rank);
        if (rank == 0)
            printf("pingpong: %8d bytes  %12.3f us\n", size, (MPI_Wtime() - begin) / repetitions / 2 * 1e6);
    }
    MPI_Allreduce(&wrong, &all_wrong, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        printf("pingpong: %s\n", all_wrong ? "WRONG data" : "verified");
    free(buffer);
    MPI_Finalize();
    return all_wrong ? 1 : 0;
}
