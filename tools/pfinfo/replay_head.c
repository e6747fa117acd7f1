/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Records the calls that each rank makes on a real machine, and how long it computes between them, in one
 * file that pfrun -replay runs (pfinfo --record-program=calls): a library between a program and its MPI.
 *
 *   mpicc -O2 -shared -fPIC record.c -o record.so
 *   mpirun -np 2 -x LD_PRELOAD=./record.so -x PARFOCAL_REPLAY_RECORD=app.replay ./app
 *
 * Each rank writes into a file of its own in $TMPDIR; MPI_Finalize brings them together at rank 0. What the
 * messages carry is not recorded.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#define OMPI_OMIT_MPI1_COMPAT_DECLS     1
#define OMPI_WANT_MPI_INTERFACE_WARNING 0
#include <errno.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct recorder;
static struct recorder *record_self(void);
static long record_emit(struct recorder *me, const char *text, size_t length);
static void record_amend(struct recorder *me, long at, const char *text, size_t length);
static double record_computed(struct recorder *me, int *sleeps);
static void record_closed(struct recorder *me);
static void record_left(struct recorder *me);

#define RECORD_CALL(name) PMPI_##name
#define RECORD_FUNCTION   static
#define RECORD_NEW_COMM(me, comm, number)
