/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "middleware/core/object.h"

/* Groups live in the middleware: a list of world ranks. Natives are made only for native calls that take a
 * group. */
struct pf_group {
    struct pf_object object;
    struct pf_rank *owner;
    int size;
    int me; /* index of the owner, MPI_UNDEFINED when it is no member */
    int world_ranks[];
};

/* The group behind a handle (also of MPI_GROUP_EMPTY), NULL when the handle is none. */
struct pf_group *pf_group_of(struct pf_rank *r, MPI_Group handle);

/* A new group with one reference. */
MPI_Group pf_group_new(struct pf_rank *r, const int *world_ranks, int size);
void pf_group_release(struct pf_group *group);

/* The native shadow: built from the native group of MPI_COMM_WORLD. */
extern const struct pf_object_ops pf_group_ops;
