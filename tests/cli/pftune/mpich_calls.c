/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mpich_calls COLLECTIVE:BYTES...: under a real MPICH, prints for each rank and call the sizes of the
 * messages that it sends through UCX. BYTES are those of the whole vector. Built without MPICH's mpi.h: the
 * binary interface is the same for all libraries with this name.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORLD = 0x44000000, BYTE = 0x4c00010d, INT = 0x4c000405, SUM = 0x58000003 };
enum { MOST = 1 << 20, CALLS = 64 };

int MPI_Init(int *, char ***), MPI_Finalize(void), MPI_Comm_rank(int, int *), MPI_Comm_size(int, int *);
int MPI_Barrier(int), MPI_Bcast(void *, int, int, int, int);
int MPI_Allreduce(const void *, void *, int, int, int, int);
int MPI_Reduce(const void *, void *, int, int, int, int, int);
int MPI_Reduce_scatter(const void *, void *, const int *, int, int, int);
int MPI_Alltoall(const void *, int, int, void *, int, int, int);
int MPI_Allgather(const void *, int, int, void *, int, int, int);

static int from[MOST], to[MOST], counts[CALLS];
static char line[1 << 16];
static size_t used;

static void note(size_t bytes)
{
    if (used + 24 < sizeof line)
        used += (size_t)sprintf(line + used, " %zu", bytes);
}

typedef void *send_t(void *, const void *, size_t, uint64_t, const void *);

/* In the place of UCX's, which libmpich calls. */
#define SEND(name)                                                                                           \
    void *name(void *ep, const void *data, size_t bytes, uint64_t tag, const void *how)                      \
    {                                                                                                        \
        static send_t *stock;                                                                                \
        if (!stock)                                                                                          \
            *(void **)&stock = dlsym(RTLD_NEXT, #name);                                                      \
        note(bytes);                                                                                         \
        return stock(ep, data, bytes, tag, how);                                                             \
    }

SEND(ucp_tag_send_nbx)
SEND(ucp_tag_send_sync_nbx)

static void call(const char *name, int ranks, int bytes)
{
    int part = bytes / ranks, count = bytes / (int)sizeof(int);
    for (int i = 0; i < ranks; i++)
        counts[i] = count / ranks;
    if (strcmp(name, "bcast") == 0)
        MPI_Bcast(from, bytes, BYTE, 0, WORLD);
    else if (strcmp(name, "allreduce") == 0)
        MPI_Allreduce(from, to, count, INT, SUM, WORLD);
    else if (strcmp(name, "reduce") == 0)
        MPI_Reduce(from, to, count, INT, SUM, 0, WORLD);
    else if (strcmp(name, "reduce_scatter") == 0)
        MPI_Reduce_scatter(from, to, counts, INT, SUM, WORLD);
    else if (strcmp(name, "alltoall") == 0)
        MPI_Alltoall(from, part, BYTE, to, part, BYTE, WORLD);
    else
        MPI_Allgather(from, part, BYTE, to, part, BYTE, WORLD);
}

int main(int argc, char **argv)
{
    int rank, ranks;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(WORLD, &rank);
    MPI_Comm_size(WORLD, &ranks);
    for (int i = 1; i < argc; i++) {
        char *bytes = strchr(argv[i], ':');
        *bytes++ = 0;
        MPI_Barrier(WORLD);
        used = 0;
        call(argv[i], ranks, atoi(bytes));
        printf("%d %d%.*s\n", i - 1, rank, (int)used, line);
    }
    MPI_Finalize();
    return 0;
}
