/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Is preloaded into processes that a rank starts: real MPI would be alone there, and say so only by its
 * results.
 */
#include <stdio.h>
#include <unistd.h>

#pragma GCC visibility push(default)

static int refuse(const char *name)
{
    fprintf(stderr, "parfocal: error: %s in a process that a rank has started, and that is no rank\n", name);
    fflush(stderr);
    _exit(1);
    return 1;
}

int MPI_Init(int *argc, char ***argv);
int MPI_Init(int *argc, char ***argv)
{
    return refuse("MPI_Init");
}

int PMPI_Init(int *argc, char ***argv);
int PMPI_Init(int *argc, char ***argv)
{
    return refuse("MPI_Init");
}

int MPI_Init_thread(int *argc, char ***argv, int required, int *provided);
int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    return refuse("MPI_Init_thread");
}

int PMPI_Init_thread(int *argc, char ***argv, int required, int *provided);
int PMPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    return refuse("MPI_Init_thread");
}
