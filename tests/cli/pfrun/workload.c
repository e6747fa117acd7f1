/* SPDX-License-Identifier: BSD-3-Clause */
/* A job of a workload: reports its rank and its world, and fails as its first argument says. */
#include <assert.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int deep(int levels)
{
    volatile char frame[4096];
    frame[0] = (char)levels;
    return levels ? deep(levels - 1) + frame[0] : 0;
}

/* The ways in which a rank can be at its end. */
static void fail(const char *what)
{
    volatile int zero = 0;
    int nothing = 1;
    char *memory = malloc((size_t)(40 + zero));
    if (!strcmp(what, "crash"))
        *(volatile int *)0 = 1;
    if (!strcmp(what, "divide"))
        zero = 10 / zero;
    if (!strcmp(what, "trap"))
        __builtin_trap();
    if (!strcmp(what, "assert"))
        assert(zero);
    if (!strcmp(what, "deep"))
        zero = deep(1 << 20);
    if (!strcmp(what, "jump"))
        ((void (*)(void))(uintptr_t)zero)();
    if (!strcmp(what, "error"))
        MPI_Send(&nothing, 1, MPI_INT, 77, 0, MPI_COMM_WORLD);
    if (!strcmp(what, "twice"))
        MPI_Init(NULL, NULL);
    if (!strcmp(what, "buffer"))
        MPI_Send((void *)(uintptr_t)(8 + zero), 100, MPI_INT, 0, 0, MPI_COMM_WORLD);
    if (!strcmp(what, "spin"))
        for (int flag = 0; !flag;)
            MPI_Iprobe(0, 55, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    if (!strcmp(what, "heap")) {
        memset(memory - 16, 255, 40);
        free(memory);
        free(memory);
    }
    free(memory);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    int me, size, number, universe, *value, found, sum = 1, nothing;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_APPNUM, &value, &found);
    number = found ? *value : -1;
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_UNIVERSE_SIZE, &value, &found);
    universe = found ? *value : -1;
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    printf("%s: rank %d of %d, program %d, universe %d, sum %d, variable %s\n", what, me, size, number,
           universe, sum, getenv("OMPI_COMM_WORLD_SIZE"));
    if (!strcmp(what, "abort") && me == 1)
        MPI_Abort(MPI_COMM_WORLD, 7);
    if (me == 1 || !strcmp(what, "assert"))
        fail(what);
    if (!strcmp(what, "wait") && me == 1)
        MPI_Recv(&nothing, 1, MPI_INT, 0, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    static char bytes[4000000];
    if (!strcmp(what, "send") && me == 0)
        MPI_Send(bytes, sizeof bytes, MPI_CHAR, 1, 0, MPI_COMM_WORLD);
    if (!strcmp(what, "send") && me == 1)
        MPI_Recv(bytes, sizeof bytes, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return !strcmp(what, "status") ? 3 : 0;
}
