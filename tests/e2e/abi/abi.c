/* SPDX-License-Identifier: BSD-3-Clause */
/* A program of the standard ABI that looks at what such a program can see of its MPI and of its process. The
 * library's function counts calls of the rank that made them. */
#include <mpi.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int library_calls(MPI_Comm comm);

extern char **environ;
static int failures;

#define CHECK(condition)                                                                                     \
    ((condition) ? (void)0 : (void)(failures++, printf("line %d: %s\n", __LINE__, #condition)))

_Static_assert(sizeof(MPI_Status) == 8 * sizeof(int), "the status of the ABI");
_Static_assert(sizeof(MPI_Aint) == 8 && sizeof(MPI_Offset) == 8 && sizeof(MPI_Count) == 8, "integers");

static void thread_levels(void)
{
    int level = -1;
    MPI_Query_thread(&level);
    CHECK(level == MPI_THREAD_FUNNELED);
}

static void status_fields(int rank, int size)
{
    MPI_Status statuses[2];
    int next = (rank + 1) % size, before = (rank + size - 1) % size, got = -1, count = -1;
    memset(statuses, 0x55, sizeof statuses);
    MPI_Sendrecv(&rank, 1, MPI_INT, next, 7 + rank, &got, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG,
                 MPI_COMM_WORLD, statuses);
    MPI_Get_count(statuses, MPI_INT, &count);
    CHECK(got == before && statuses[0].MPI_SOURCE == before && statuses[0].MPI_TAG == 7 + before &&
          count == 1);
    CHECK(statuses[1].MPI_SOURCE == 0x55555555);
}

static void large_counts(int rank, int size)
{
    double mine[3] = {rank, 1, 2}, sum[3] = {0};
    int major = 0, minor = -1;
    CHECK(MPI_Allreduce_c(mine, sum, 3, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD) == MPI_SUCCESS);
    CHECK(sum[0] == size * (size - 1) / 2.0 && sum[1] == size && sum[2] == 2 * size);
    int *all = calloc((size_t)size, sizeof *all), wrong = 0;
    MPI_Count *counts = calloc((size_t)size, sizeof *counts);
    MPI_Aint *places = calloc((size_t)size, sizeof *places);
    for (int i = 0; i < size; i++) {
        counts[i] = 1;
        places[i] = size - 1 - i;
    }
    CHECK(MPI_Allgatherv_c(&rank, 1, MPI_INT, all, counts, places, MPI_INT, MPI_COMM_WORLD) == MPI_SUCCESS);
    for (int i = 0; i < size; i++)
        wrong += all[i] != size - 1 - i;
    CHECK(!wrong);
    free(all);
    free(counts);
    free(places);
    CHECK(MPI_Abi_get_version(&major, &minor) == MPI_SUCCESS && major == 1 && minor == 0);
}

/* All ranks stop between two options. */
static void options(int argc, char **argv, int rank)
{
    int number = 0;
    const char *word = "";
    for (int option; (option = getopt(argc, argv, "n:w:")) != -1; MPI_Barrier(MPI_COMM_WORLD)) {
        if (option == 'n')
            number = atoi(optarg);
        if (option == 'w')
            word = optarg;
    }
    CHECK(number == 12 && strcmp(word, "thirteen") == 0 && optind == argc - 1);
    optind = 100 + rank;
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(optind == 100 + rank);
}

static void process(int rank)
{
    char mine[32];
    int found = 0;
    const char *given = getenv("PMI_RANK");
    CHECK(given && atoi(given) == rank);
    snprintf(mine, sizeof mine, "PMI_RANK=%d", rank);
    for (char **entry = environ; *entry; entry++)
        found += strcmp(*entry, mine) == 0;
    CHECK(found == 1);
    double before = MPI_Wtime();
    sleep(5); /* simulated */
    CHECK(MPI_Wtime() - before >= 5 && MPI_Wtime() - before < 6);
}

static void library(int rank)
{
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < rank; i++)
        library_calls(MPI_COMM_SELF);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(library_calls(MPI_COMM_WORLD) == rank + 1);
}

int main(int argc, char **argv)
{
    int rank, size, all = 0, level;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
    CHECK(level == MPI_THREAD_FUNNELED);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (strcmp(argv[argc - 1], "newer") == 0)
        MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, (MPI_Session *)&all);
    if (strcmp(argv[argc - 1], "large") == 0)
        MPI_Send_c(&all, (MPI_Count)1 << 32, MPI_INT, 0, 0, MPI_COMM_WORLD);
    thread_levels();
    status_fields(rank, size);
    large_counts(rank, size);
    options(argc, argv, rank);
    process(rank);
    library(rank);
    MPI_Reduce(&failures, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        fprintf(stdout, "abi: %s\n", all ? "FAIL" : "PASS");
    MPI_Finalize();
    exit(failures != 0);
}
