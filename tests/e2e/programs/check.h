/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef E2E_CHECK_H
#define E2E_CHECK_H

/*
 * What every end-to-end program shares. A program checks its own data with CHECK, prints simulated times with
 * TIME (lines that begin with "T " differ between models, all others must not) and ends with check_end, whose
 * value is the exit status. SWITCH_A and SWITCH_B change the model; with a plain mpicc they do nothing.
 */
#include <mpi.h>
#include <parfocal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int check_rank, check_size;
static long check_count, check_failures;

static inline void check_failed(const char *file, int line, const char *what)
{
    if (check_failures++ < 20)
        printf("FAIL rank %d %s:%d: %s\n", check_rank, strrchr(file, '/') ? strrchr(file, '/') + 1 : file,
               line, what);
    fflush(stdout);
}

#define CHECK(condition)                                                                                     \
    do {                                                                                                     \
        check_count++;                                                                                       \
        if (!(condition))                                                                                    \
            check_failed(__FILE__, __LINE__, #condition);                                                    \
    } while (0)

/* For a call that must succeed although the error handler may be ERRORS_RETURN. */
#define CHECK_OK(call) CHECK((call) == MPI_SUCCESS)

#define TIME(label)    check_time(label)
static inline void check_time(const char *label)
{
    double now = MPI_Wtime();

    printf("T %s %d %.17g\n", label, check_rank, now);
    fflush(stdout);
}

/* The two models between which a program switches by itself; the runner may choose others. */
static inline const char *check_model(const char *variable, const char *otherwise)
{
    const char *value = getenv(variable);

    return value && *value ? value : otherwise;
}

#define SWITCH_A() CHECK(pf_model_switch(check_model("E2E_A", "smpi")) == 0)
#define SWITCH_B() CHECK(pf_model_switch(check_model("E2E_B", "portals")) == 0)

/* True when the simulated world answers MPI_Wtime, so that claims about time can be checked. */
static inline int check_simulated(void)
{
    return getenv("E2E_SIMULATED") != NULL;
}

static inline void check_begin(int *argc, char ***argv)
{
    MPI_Init(argc, argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &check_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &check_size);
}

/* Finalizes, prints one verdict for all ranks and returns the exit status of this one. */
static inline int check_end(const char *name)
{
    long mine[2] = {check_count, check_failures}, all[2] = {0, 0};

    MPI_Allreduce(mine, all, 2, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    if (check_rank == 0)
        printf(all[1] ? "%s: FAIL, %ld of %ld checks\n" : "%s: PASS\n", name, all[1], all[0]);
    fflush(stdout);
    MPI_Finalize();
    return all[1] != 0;
}

/* A value that names its origin: sender, place in the message, and a salt for the occasion. */
static inline int check_value(int rank, int index, int salt)
{
    return (rank + 1) * 1000003 + index * 31 + salt * 7919;
}

static inline void check_fill(int *buffer, int count, int rank, int salt)
{
    for (int i = 0; i < count; i++)
        buffer[i] = check_value(rank, i, salt);
}

static inline int check_filled(const int *buffer, int count, int rank, int salt)
{
    for (int i = 0; i < count; i++)
        if (buffer[i] != check_value(rank, i, salt))
            return 0;
    return 1;
}

#endif
