/* SPDX-License-Identifier: BSD-3-Clause */
/* What a copy of a program has to itself, and what it must not write; says how it was loaded. */
#include <math.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int counter = 40;
static int *const pointer = &counter;
#ifndef THREAD_LOCAL /* of the compiler */
#define THREAD_LOCAL
#endif
static THREAD_LOCAL int unused = 1;
static char zeroes[100000];
static const char text[] = "constant";
static int begun;

static int twice(int value)
{
    return 2 * value;
}

static int (*const functions[])(int) = {twice, abs};

static __attribute__((constructor)) void begin(void)
{
    begun++;
}

static void at_end(void)
{
    begun--;
}

/* Lines of the kernel's list of maps with this word. */
static int count_maps(const char *word)
{
    char line[4400];
    int count = 0;
    FILE *maps = fopen("/proc/self/maps", "r");
    while (maps && fgets(line, sizeof line, maps))
        count += strstr(line, word) != NULL;
    if (maps)
        fclose(maps);
    return count;
}

int main(int argc, char **argv)
{
    int rank, size, sum;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    *pointer += rank + unused - 1;
    zeroes[sizeof zeroes / 2] += (char)(rank + 1);
    atexit(at_end);
    MPI_Barrier(MPI_COMM_WORLD);
    int good = counter == 40 + rank && begun == 1 && zeroes[sizeof zeroes / 2] == (char)(rank + 1) &&
               !zeroes[0] && functions[0](rank) == 2 * rank && functions[1](-1) == 1 &&
               fabs(cos(rank) - cos(-rank)) == 0;
    MPI_Reduce(&good, &sum, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) {
        printf("%d of %d good at %.9f\n", sum, size, MPI_Wtime());
        if (getenv("COUNT_MAPS"))
            printf("%d maps of images, %d of files\n", count_maps("parfocal-image"),
                   count_maps(strrchr(argv[0], '/') + 1));
    }
    fflush(stdout);
    while (rank == 0 && argc > 1 && strcmp(argv[1], "sleep") == 0)
        pause();
    if (argc > 1 && strcmp(argv[1], "write") == 0)
        *(volatile char *)(uintptr_t)text = 1;
    MPI_Finalize();
    return 0;
}
