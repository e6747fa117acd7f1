/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "adapters/analytic/engine/engine.h"

/* ---- handles (comm.c) ---- */
struct an_comm *an_comm_join(struct an_rank *rank, int id, const int *world_ranks, int n, int me);
/* The members of both sides, of which the first `cut` are one; `index` is the caller's place among them. */
struct an_comm *an_intercomm_join(struct an_rank *rank, int id, const int *members, int n, int cut,
                                  int index);
/* Another member of a communicator without an id, which its first member made with id -1. */
struct an_comm *an_comm_join_private(struct an_rank *rank, const struct an_comm *first, int me);
void an_comm_leave(struct an_comm *comm);

/* ---- what making one costs (create.c, group.c) ---- */

/* Fills the table of native functions. */
void an_comm_install(struct pf_own_fn *fn);

/* MPICH's list of identifiers that are free, with a word more. */
enum { AN_FREE_BYTES = 260 };

/*
 * The members of a new communicator agree on an identifier. Open MPI calls three nonblocking allreduces, one
 * after the other: for the lowest free identifier, for whether it is free everywhere, and for whether all are
 * ready. MPICH calls an allreduce and a broadcast. The members leave as far apart as these make them. Returns
 * an MPI error code.
 */
int an_comm_agree(struct an_comm *comm);

/*
 * The native function (group.c): the members exchange 4 B three times, up a binary tree of the group and down
 * again, as in Open MPI, and pay for these messages. As in MPICH all that are free by recursive doubling, and
 * one by a binomial tree.
 */
int an_comm_create_group(MPI_Comm comm, MPI_Group group, int tag, MPI_Comm *made);

/* The members of a new communicator in the order of their ranks there: of a list of n ranks of the world, or
 * of a group if that is NULL. The caller is number `me`. */
struct an_members {
    const int *list;
    MPI_Group group, world;
    int n, me;
};

/* A broadcast of 4 B from the first one: MPICH's in a new communicator, by a binomial tree; paid for by these
 * messages. */
void an_comm_broadcast(const struct an_comm *parent, const struct an_members *members);

/* The same in a group; other ranks do nothing. */
void an_comm_broadcast_group(const struct an_comm *parent, MPI_Group group);

/* ---- MPI_Comm_split as MPICH has it (split.c) ---- */

/* The caller's color and key in the exchange before a split. */
void an_split_say(struct an_comm *comm, int color, int key);

/* The caller's new communicator when all have said theirs and none has said the next ones: by color, key,
 * rank of the old one. The first member that asks sorts them. The list is in force until the next split. */
struct an_members an_split_members(const struct an_comm *comm);

/* What is remembered of the last split; NULL is allowed. */
void an_split_free(struct an_split *split);
