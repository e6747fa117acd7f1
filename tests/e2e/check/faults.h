/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef E2E_CHECK_FAULTS_H
#define E2E_CHECK_FAULTS_H

/*
 * What the programs with faults share. Each is run as "program CASE wrong" and "program CASE right"; a
 * comment of the source says what the first must print (run_check.py).
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int wrong, rank, size;

/* Starts MPI; is this the case that was asked for? Errors of calls come back, so that the run goes on. */
static inline const char *begin(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    wrong = argc > 2 && strcmp(argv[2], "wrong") == 0;
    return argc > 1 ? argv[1] : "";
}

#define CASE(name) if (strcmp(which, name) == 0)

#endif
