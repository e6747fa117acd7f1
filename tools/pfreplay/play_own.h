/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdlib.h>

#include "tools/pfreplay/play.h"

/* What the actions of one MPI function each read besides (play_calls.c). */

/* "i" for MPI_IN_PLACE, "-" for memory. */
void *play_place(void *memory);

/* Ranks of MPI_COMM_WORLD; the caller frees the group. */
MPI_Group play_group(void);

/* The new communicator's place; -1: this rank gets none. */
MPI_Comm *play_new_comm(void);

int play_color(void);
int play_assert(void);

/* So many types, which the caller frees; so many zeros, which stay. */
MPI_Datatype *play_types(int count);
MPI_Aint *play_zero_aints(int count);
