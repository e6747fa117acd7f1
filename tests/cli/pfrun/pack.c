/* SPDX-License-Identifier: BSD-3-Clause */
/* Packs a lot. Prints the simulated time of that over the processor time. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { COUNT = 1 << 22, TIMES = 20 };

/* The real one: pfcc leads clock_gettime() to the simulated clock. */
static double processor(void)
{
    struct timespec now;
    syscall(SYS_clock_gettime, CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

int main(int argc, char **argv)
{
    MPI_Datatype every_other;
    int *from, *to;
    double real, simulated;
    MPI_Init(&argc, &argv);
    MPI_Type_vector(COUNT / 2, 1, 2, MPI_INT, &every_other);
    MPI_Type_commit(&every_other);
    from = calloc(COUNT, sizeof *from);
    to = calloc(COUNT, sizeof *to);
    simulated = MPI_Wtime();
    real = processor();
    for (int i = 0; i < TIMES; i++) {
        int position = 0;
        MPI_Pack(from, 1, every_other, to, COUNT * (int)sizeof *to, &position, MPI_COMM_WORLD);
        position = 0;
        MPI_Unpack(to, COUNT * (int)sizeof *to, &position, from, 1, every_other, MPI_COMM_WORLD);
    }
    real = processor() - real;
    simulated = MPI_Wtime() - simulated;
    printf("packing %.3f\n", simulated / real);
    MPI_Type_free(&every_other);
    free(from);
    free(to);
    MPI_Finalize();
    return 0;
}
