/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "adapters/analytic/engine/engine.h"

/* Fills the table of native functions. */
void an_collective_install(struct pf_own_fn *fn);

/* The arguments of one member. For an operation in place, the send buffer is where its data are. */
struct an_part {
    struct an_request *request;
    const void *send;
    void *receive;
    int send_count, receive_count;
    MPI_Datatype send_type, receive_type;
    const int *send_counts, *send_displs, *receive_counts,
        *receive_displs;                            /* NULL: blocks of the same size */
    const MPI_Datatype *send_types, *receive_types; /* of alltoallw */
    void *kept;                                     /* of a nonblocking call: copies of these arrays */
    MPI_Op op;
    int root;
    bool in_place;
    bool with_data; /* of struct pf_coll_call */
    bool here, left;
    size_t pretend; /* bytes of a call that moves no data of the application, which has only a price */
    struct an_items
        saved;    /* of reductions: a copy of its contribution, when it left before others used that */
    char *packed; /* of other kinds: the same */
    int packed_class;
    bool combined; /* in `early` of the collective */
};

struct an_collective {
    struct an_collective *next;
    struct an_shared *shared;
    struct pf_event step;  /* when the schedule goes on */
    struct pf_chain *last; /* of the member that has come last, while there are steps */
    uint64_t sequence;
    struct pf_coll *schedule;
    struct pf_coll_call call;
    struct pf_chain *path; /* of the members that all others need, NULL unless paths are followed */
    struct pf_cost_parts parts_of_time; /* of its messages; not while no path is followed */
    int members; /* that take part: without those that pass MPI_PROC_NULL as the root */
    int arrived, left;
    struct an_part *parts;
    size_t *counts;         /* bytes of the blocks of the vector variants */
    size_t **rows;          /* of alltoallv and alltoallw */
    struct an_items prefix; /* of scans: the combination of the first `combined` members */
    int combined, prefix_count;
    struct an_items early; /* of reductions: the combination of contributions whose members have left */
    size_t early_bytes;
};

struct an_leave {
    int member;
    double date;
};

/* A member enters its next collective. The request is complete when it leaves. */
struct an_request *an_collective_enter(struct an_comm *comm, const struct an_part *part,
                                       enum pf_coll_kind kind, bool nonblocking);

/* The member of `request` leaves a call that is evaluated step by step. */
void an_collective_leave(struct an_request *request);

/* The same, and waits until it leaves. Returns an MPI error code. */
int an_collective_call(struct an_comm *comm, const struct an_part *part, enum pf_coll_kind kind,
                       bool nonblocking);

/* Moves the data of the members that leave; `me` is the calling member. */
void an_collective_move(struct an_collective *c, int me, const struct an_leave *leaves, int n);

/* The same on an intercommunicator, and the sizes of its call (inter.c). */
void an_intercoll_move(struct an_collective *c, const struct an_leave *leaves, int n);
void an_intercoll_fill(struct an_collective *c, const struct an_comm *comm, const struct an_part *part);

/* Frees the saved contributions. */
void an_collective_forget(struct an_collective *c);

/* Frees the records of a communicator. */
void an_collective_clear(struct an_shared *shared);

/* Moves block `from` of what one member sends, saved or not, to block `to` of what another one receives; a
 * negative number is all of it (data.c). */
void an_part_give(const struct an_part *sender, int from, const struct an_part *receiver, int to);
/* Saves what a member sends that leaves before others have used it. */
void an_part_save(struct an_collective *c, int member);
/* How many items a member contributes to a reduction. */
int an_part_items(const struct an_collective *c, const struct an_part *p, int member);
const void *an_part_contribution(const struct an_part *p);

/* MPI_ROOT; SMPI has no intercommunicators, and its value is the number of a rank. */
#define AN_ROOT (-4)
