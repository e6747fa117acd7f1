/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The algorithm that MPICH uses with one rank on each node: the tree of decisions of 4.0
 * (maint/tuning/coll/mpir/generic.json), whose thresholds are defaults of MPIR_CVAR_.... In 4.2 long
 * broadcasts have others.
 */
#include "adapters/analytic/coll/algorithms/algorithms.h"
#include "adapters/analytic/coll/algorithms/schedule.h"

enum {
    BCAST_SHORT = 12288,     /* MPIR_CVAR_BCAST_SHORT_MSG_SIZE */
    BCAST_LONG = 524288,     /* MPIR_CVAR_BCAST_LONG_MSG_SIZE */
    BCAST_RANKS = 8,         /* MPIR_CVAR_BCAST_MIN_PROCS */
    ALLGATHER_SHORT = 81920, /* MPIR_CVAR_ALLGATHER_SHORT_MSG_SIZE */
    ALLGATHER_LONG = 524288, /* MPIR_CVAR_ALLGATHER_LONG_MSG_SIZE */
    ALLTOALL_RANKS = 8,     /* so many do not use Bruck's algorithm: comm_size<8, which csel.c takes for <= */
    ALLTOALL_SHORT = 256,   /* MPIR_CVAR_ALLTOALL_SHORT_MSG_SIZE */
    IALLTOALL_SHORT = 2048, /* the nonblocking one's own */
    ALLTOALL_MEDIUM = 32768, /* MPIR_CVAR_ALLTOALL_MEDIUM_MSG_SIZE */
    REDUCE_SHORT = 2048,     /* MPIR_CVAR_REDUCE_SHORT_MSG_SIZE */
    ALLREDUCE_SHORT = 8,     /* 2048 is MPI_Iallreduce's */
    IALLREDUCE_SHORT = 2048,
    SCATTERED_LONG = 524288 /* MPIR_CVAR_REDUCE_SCATTER_COMMUTATIVE_LONG_MSG_SIZE */
};

static bool power_of_two(int n)
{
    return (n & (n - 1)) == 0;
}

/* Whether each rank of the power of two gets an element of the vector, and the operation may be cut up. */
static bool may_halve(const struct pf_coll_call *call)
{
    size_t elements = call->bytes / (call->element ? call->element : 1);
    return call->predefined && elements >= (size_t)1 << pf_log2((unsigned)call->n);
}

static int bcast(const struct pf_coll_call *call)
{
    size_t shortest = BCAST_SHORT + !call->nonblocking, longest = BCAST_LONG + !call->nonblocking;
    if (call->n < BCAST_RANKS || call->bytes < shortest)
        return BCAST_BINOMIAL_IN_TURN;
    return power_of_two(call->n) && call->bytes < longest ? BCAST_SCATTER_ALLGATHER
                                                          : BCAST_SCATTER_ALLGATHER_RING;
}

/* The bytes of all blocks; those of MPI_Ireduce_scatter_block csel.c takes for none. */
static size_t total_of(const struct pf_coll_call *call)
{
    if (call->kind == PF_COLL_REDUCE_SCATTER_BLOCK && call->nonblocking)
        return 0;
    return call->counts ? pf_plan_counts(call) : call->bytes * (size_t)call->n;
}

static int allgather(const struct pf_coll_call *call, int doubling, int bruck, int ring)
{
    size_t total = total_of(call);
    if (power_of_two(call->n))
        return total < ALLGATHER_LONG ? doubling : ring;
    return total < ALLGATHER_SHORT ? bruck : ring;
}

static int alltoall(const struct pf_coll_call *call)
{
    size_t bruck = call->nonblocking ? IALLTOALL_SHORT : ALLTOALL_SHORT;
    if (call->n > ALLTOALL_RANKS && call->bytes <= bruck)
        return ALLTOALL_MODIFIED_BRUCK;
    return call->bytes <= ALLTOALL_MEDIUM ? ALLTOALL_LINEAR : ALLTOALL_PAIRWISE;
}

static int allreduce(const struct pf_coll_call *call)
{
    size_t whole = call->nonblocking ? IALLREDUCE_SHORT : ALLREDUCE_SHORT;
    return call->bytes <= whole || !may_halve(call) ? ALLREDUCE_RECURSIVE_DOUBLING : ALLREDUCE_RABENSEIFNER;
}

static int reduce_scatter(const struct pf_coll_call *call)
{
    if (!call->commutative)
        return REDUCE_SCATTER_BUTTERFLY; /* MPICH has recursive doubling */
    return total_of(call) < SCATTERED_LONG ? REDUCE_SCATTER_RECURSIVE_HALVING : REDUCE_SCATTER_PAIRWISE;
}

static int reduce_scatter_block(const struct pf_coll_call *call)
{
    if (!call->commutative)
        return REDUCE_SCATTER_BLOCK_RECURSIVE_DOUBLING;
    return total_of(call) < SCATTERED_LONG ? REDUCE_SCATTER_BLOCK_RECURSIVE_HALVING
                                           : REDUCE_SCATTER_BLOCK_PAIRWISE;
}

int pf_rules_mpich(const struct pf_coll_call *call)
{
    switch (call->kind) {
    case PF_COLL_BARRIER:
        return BARRIER_BRUCK;
    case PF_COLL_BCAST:
        return bcast(call);
    case PF_COLL_SCATTER:
        return SCATTER_BINOMIAL;
    case PF_COLL_SCATTERV:
        return SCATTERV_LINEAR_NB;
    case PF_COLL_GATHER:
        return GATHER_BINOMIAL;
    case PF_COLL_GATHERV:
        return GATHERV_LINEAR_NB;
    case PF_COLL_ALLGATHER:
        return allgather(call, ALLGATHER_RECURSIVE_DOUBLING, ALLGATHER_BRUCK, ALLGATHER_RING);
    case PF_COLL_ALLGATHERV:
        return allgather(call, ALLGATHERV_RECURSIVE_DOUBLING, ALLGATHERV_BRUCK,
                         call->nonblocking ? ALLGATHERV_RING : ALLGATHERV_PIPELINED_RING);
    case PF_COLL_ALLTOALL:
        return alltoall(call);
    case PF_COLL_ALLTOALLV:
        return ALLTOALLV_BASIC_LINEAR;
    case PF_COLL_ALLTOALLW:
        return ALLTOALLW_BASIC_LINEAR;
    case PF_COLL_REDUCE:
        return call->bytes <= REDUCE_SHORT || !may_halve(call) ? REDUCE_BINOMIAL : REDUCE_RABENSEIFNER;
    case PF_COLL_ALLREDUCE:
        return allreduce(call);
    case PF_COLL_REDUCE_SCATTER:
        return reduce_scatter(call);
    case PF_COLL_REDUCE_SCATTER_BLOCK:
        return reduce_scatter_block(call);
    case PF_COLL_SCAN:
    case PF_COLL_EXSCAN:
        return SCAN_RECURSIVE_DOUBLING;
    case PF_COLL_KINDS:
        break;
    }
    return FIRST_ALGORITHM;
}
