/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum pf_coll_kind {
    PF_COLL_BARRIER,
    PF_COLL_BCAST,
    PF_COLL_SCATTER,
    PF_COLL_SCATTERV,
    PF_COLL_GATHER,
    PF_COLL_GATHERV,
    PF_COLL_ALLGATHER,
    PF_COLL_ALLGATHERV,
    PF_COLL_ALLTOALL,
    PF_COLL_ALLTOALLV,
    PF_COLL_ALLTOALLW,
    PF_COLL_REDUCE,
    PF_COLL_ALLREDUCE,
    PF_COLL_REDUCE_SCATTER,
    PF_COLL_REDUCE_SCATTER_BLOCK,
    PF_COLL_SCAN,
    PF_COLL_EXSCAN,
    PF_COLL_KINDS
};

/*
 * One call. All sizes are bytes of data (counts times type size, no holes). What pointers point to belongs to
 * the caller and lives until pf_coll_close().
 */
struct pf_coll_call {
    enum pf_coll_kind kind;
    bool nonblocking; /* MPI_I...: libnbc's schedules instead of coll/tuned's */
    bool commutative; /* the reduction's operation */
    bool predefined;  /* likewise */
    bool mpich;       /* by MPICH's rules instead of Open MPI's */
    bool in_place;
    bool with_data;   /* its ranks have sent for other data, which share NICs and links with it */
    int n;            /* ranks of the communicator; of an intercommunicator those of both sides */
    int cut;          /* the first so many are one side of an intercommunicator; 0: it is none */
    int root;         /* of the rooted kinds; of an intercommunicator in the list of both sides */
    const int *world; /* world rank of each rank; NULL: the same numbers */
    size_t element;   /* bytes of one element: vectors are cut between elements; 0 counts as 1 */
    /* bcast, reductions, scans: the vector of a rank. scatter, gather, allgather, alltoall,
     * reduce_scatter_block: the block of one rank. */
    size_t bytes;
    /* The block of each rank. gatherv: counts[r] is read when rank r or the root has arrived; scatterv: when
     * the root has or rank r; allgatherv, reduce_scatter: all at open. NULL in the other kinds. */
    const size_t *counts;
    /* alltoallv, alltoallw: rows[i][j] goes from i to j; read when all have arrived. */
    const size_t *const *rows;
    /* Of an intercommunicator, whose sides may differ: the block that a member of each side sends (allgather,
     * alltoall) or gets (reduce_scatter_block). counts[r] of allgatherv and reduce_scatter are then read when
     * a member has arrived that knows them; rows[i][j] is read when i or j has. */
    size_t side[2];
};

/* A message: from `safe` on its buffer may be used again, and it goes to a rank of the job. */
struct pf_coll_sent {
    double safe;
    size_t bytes;
    int to;
};

/* A root gives or gets all the data. */
static inline bool pf_coll_is_rooted(enum pf_coll_kind kind)
{
    return (kind >= PF_COLL_BCAST && kind <= PF_COLL_GATHERV) || kind == PF_COLL_REDUCE;
}

/* The sides of an intercommunicator are 0 and 1: which one a rank is on, the first rank of it (its leader),
 * and how many it has. */
static inline int pf_coll_side(const struct pf_coll_call *call, int rank)
{
    return rank >= call->cut;
}

static inline int pf_coll_leader(const struct pf_coll_call *call, int side)
{
    return side ? call->cut : 0;
}

static inline int pf_coll_side_size(const struct pf_coll_call *call, int side)
{
    return side ? call->n - call->cut : call->cut;
}
