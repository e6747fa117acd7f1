/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What exit handlers and destructors of an application ask when the simulation is over: MPI_Initialized and
 * MPI_Finalized answer at any time (MPI 3.1 section 8.7), other calls are refused.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int refused;

static void say(const char *where)
{
    int initialized = -1, finalized = -1;
    MPI_Initialized(&initialized);
    MPI_Finalized(&finalized);
    printf("%s: %d %d%s\n", where, initialized, finalized, MPI_Wtime() >= 0 ? "" : " and no clock");
}

static void handler(void)
{
    say("exit handler");
}

__attribute__((constructor)) static void first(void)
{
    say("constructor");
}

__attribute__((destructor)) static void last(void)
{
    int rank = -1;
    say("destructor");
    if (refused)
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
}

int main(int argc, char **argv)
{
    refused = argc > 1;
    MPI_Init(&argc, &argv);
    atexit(handler);
    say("main");
    MPI_Finalize();
    return 0;
}
