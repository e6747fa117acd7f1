/* SPDX-License-Identifier: BSD-3-Clause */
/* The algorithm that Open MPI uses where the user has not chosen one. */
#include "adapters/analytic/coll/algorithms/algorithms.h"
#include "adapters/analytic/coll/algorithms/schedule.h"

/*
 * The thresholds of the fixed decisions of Open MPI 4.1's coll/tuned. A row applies to fewer ranks than its
 * number, 0 to all others. Algorithms are those of KIND.
 */
#define PASTE(kind, name)     kind##_##name
#define ALGORITHM(kind, name) PASTE(kind, name)
#define BELOW(bytes, name)                                                                                   \
    {                                                                                                        \
        bytes, ALGORITHM(KIND, name)                                                                         \
    }
#define ELSE(name) BELOW(0, name)

#define KIND       ALLREDUCE
static const struct pf_rule allreduce_ordered_rules[] = {
    {4, {BELOW(131072, RECURSIVE_DOUBLING), ELSE(BASIC_LINEAR)}},
    {8, {ELSE(RECURSIVE_DOUBLING)}},
    {16, {BELOW(1048576, RECURSIVE_DOUBLING), ELSE(NONOVERLAPPING)}},
    {128, {ELSE(RECURSIVE_DOUBLING)}},
    {256, {BELOW(131072, NONOVERLAPPING), BELOW(524288, RECURSIVE_DOUBLING), ELSE(NONOVERLAPPING)}},
    {512, {BELOW(4096, NONOVERLAPPING), BELOW(524288, RECURSIVE_DOUBLING), ELSE(NONOVERLAPPING)}},
    {0, {BELOW(2048, NONOVERLAPPING), ELSE(RECURSIVE_DOUBLING)}},
};

static const struct pf_rule allreduce_rules[] = {
    {4,
     {BELOW(8, RING), BELOW(4096, RECURSIVE_DOUBLING), BELOW(8192, RING), BELOW(16384, RECURSIVE_DOUBLING),
      BELOW(65536, RING), BELOW(262144, SEGMENTED_RING), ELSE(RABENSEIFNER)}},
    {8, {BELOW(16, RING), BELOW(8192, RECURSIVE_DOUBLING), ELSE(RABENSEIFNER)}},
    {16, {BELOW(8192, RECURSIVE_DOUBLING), ELSE(RABENSEIFNER)}},
    {32, {BELOW(64, SEGMENTED_RING), BELOW(4096, RECURSIVE_DOUBLING), ELSE(RABENSEIFNER)}},
    {64, {BELOW(128, SEGMENTED_RING), ELSE(RABENSEIFNER)}},
    {128, {BELOW(262144, RECURSIVE_DOUBLING), ELSE(RABENSEIFNER)}},
    {256, {BELOW(131072, NONOVERLAPPING), BELOW(262144, RECURSIVE_DOUBLING), ELSE(RABENSEIFNER)}},
    {512, {BELOW(4096, NONOVERLAPPING), ELSE(RABENSEIFNER)}},
    {2048, {BELOW(2048, NONOVERLAPPING), BELOW(16384, RECURSIVE_DOUBLING), ELSE(RABENSEIFNER)}},
    {4096,
     {BELOW(2048, NONOVERLAPPING), BELOW(4096, SEGMENTED_RING), BELOW(16384, RECURSIVE_DOUBLING),
      ELSE(RABENSEIFNER)}},
    {0,
     {BELOW(2048, NONOVERLAPPING), BELOW(16384, SEGMENTED_RING), BELOW(32768, RECURSIVE_DOUBLING),
      ELSE(RABENSEIFNER)}},
};

#undef KIND
#define KIND REDUCE
static const struct pf_rule reduce_ordered_rules[] = {
    {4, {BELOW(8, IN_ORDER_BINARY), ELSE(LINEAR)}},
    {8, {ELSE(LINEAR)}},
    {16,
     {BELOW(1024, IN_ORDER_BINARY), BELOW(8192, LINEAR), BELOW(16384, IN_ORDER_BINARY), BELOW(262144, LINEAR),
      ELSE(IN_ORDER_BINARY)}},
    {128, {ELSE(IN_ORDER_BINARY)}},
    {256, {BELOW(512, IN_ORDER_BINARY), BELOW(1024, LINEAR), ELSE(IN_ORDER_BINARY)}},
    {0, {ELSE(IN_ORDER_BINARY)}},
};

static const struct pf_rule reduce_rules[] = {
    {4,
     {BELOW(8, RABENSEIFNER), BELOW(16, BINARY), BELOW(32, PIPELINE), BELOW(262144, LINEAR),
      BELOW(524288, PIPELINE), BELOW(1048576, CHAIN), ELSE(PIPELINE)}},
    {8,
     {BELOW(4096, BINARY), BELOW(65536, CHAIN), BELOW(262144, BINOMIAL), BELOW(524288, LINEAR),
      BELOW(1048576, BINOMIAL), ELSE(LINEAR)}},
    {16, {BELOW(8192, BINARY), ELSE(BINOMIAL)}},
    {32, {BELOW(4096, BINARY), ELSE(BINOMIAL)}},
    {256, {ELSE(BINOMIAL)}},
    {512, {BELOW(8192, BINOMIAL), BELOW(16384, IN_ORDER_BINARY), ELSE(BINOMIAL)}},
    {2048, {ELSE(BINOMIAL)}},
    {4096,
     {BELOW(512, BINOMIAL), BELOW(1024, IN_ORDER_BINARY), BELOW(8192, BINOMIAL),
      BELOW(16384, IN_ORDER_BINARY), ELSE(BINOMIAL)}},
    {0,
     {BELOW(16, BINOMIAL), BELOW(32, IN_ORDER_BINARY), BELOW(1024, BINOMIAL), BELOW(2048, IN_ORDER_BINARY),
      BELOW(8192, BINOMIAL), BELOW(16384, IN_ORDER_BINARY), ELSE(BINOMIAL)}},
};

#undef KIND
#define KIND REDUCE_SCATTER
static const struct pf_rule reduce_scatter_rules[] = {
    {4, {BELOW(65536, RING), BELOW(131072, BUTTERFLY), ELSE(RING)}},
    {8, {BELOW(8, NON_OVERLAPPING), BELOW(262144, RECURSIVE_HALVING), ELSE(RING)}},
    {32, {BELOW(262144, RECURSIVE_HALVING), ELSE(RING)}},
    {64, {BELOW(64, NON_OVERLAPPING), BELOW(2048, RECURSIVE_HALVING), BELOW(524288, BUTTERFLY), ELSE(RING)}},
    {128,
     {BELOW(256, NON_OVERLAPPING), BELOW(512, RECURSIVE_HALVING), BELOW(2048, BUTTERFLY),
      BELOW(4096, RECURSIVE_HALVING), ELSE(BUTTERFLY)}},
    {256, {BELOW(256, NON_OVERLAPPING), BELOW(512, RECURSIVE_HALVING), ELSE(BUTTERFLY)}},
    {512, {BELOW(256, NON_OVERLAPPING), BELOW(1024, RECURSIVE_HALVING), ELSE(BUTTERFLY)}},
    {1024,
     {BELOW(512, NON_OVERLAPPING), BELOW(2048, RECURSIVE_HALVING), BELOW(8192, BUTTERFLY),
      BELOW(16384, RECURSIVE_HALVING), ELSE(BUTTERFLY)}},
    {2048,
     {BELOW(512, NON_OVERLAPPING), BELOW(4096, RECURSIVE_HALVING), BELOW(16384, BUTTERFLY),
      BELOW(32768, RECURSIVE_HALVING), ELSE(BUTTERFLY)}},
    {4096, {BELOW(512, NON_OVERLAPPING), BELOW(4096, RECURSIVE_HALVING), ELSE(BUTTERFLY)}},
    {0, {BELOW(1024, NON_OVERLAPPING), BELOW(8192, RECURSIVE_HALVING), ELSE(BUTTERFLY)}},
};

#undef KIND
#define KIND REDUCE_SCATTER_BLOCK
static const struct pf_rule reduce_scatter_block_rules[] = {
    {4,
     {BELOW(4, RECURSIVE_DOUBLING), BELOW(8, BUTTERFLY), BELOW(16, RECURSIVE_HALVING), BELOW(128, BUTTERFLY),
      BELOW(256, RECURSIVE_HALVING), BELOW(4096, BUTTERFLY), BELOW(8192, RECURSIVE_HALVING),
      BELOW(131072, BUTTERFLY), ELSE(BASIC_LINEAR)}},
    {8,
     {BELOW(8, RECURSIVE_HALVING), BELOW(32, RECURSIVE_DOUBLING), BELOW(256, BUTTERFLY),
      BELOW(8192, RECURSIVE_HALVING), BELOW(16384, BUTTERFLY), BELOW(1048576, RECURSIVE_HALVING),
      ELSE(BASIC_LINEAR)}},
    {16,
     {BELOW(4, BASIC_LINEAR), BELOW(32, RECURSIVE_HALVING), BELOW(128, BUTTERFLY),
      BELOW(524288, RECURSIVE_HALVING), BELOW(4194304, BASIC_LINEAR), ELSE(BUTTERFLY)}},
    {32,
     {BELOW(32, BASIC_LINEAR), BELOW(524288, RECURSIVE_HALVING), BELOW(2097152, BASIC_LINEAR),
      BELOW(4194304, RECURSIVE_HALVING), ELSE(BUTTERFLY)}},
    {0,
     {BELOW(4, RECURSIVE_HALVING), BELOW(16, BASIC_LINEAR), BELOW(65536, BUTTERFLY),
      BELOW(262144, BASIC_LINEAR), ELSE(BUTTERFLY)}},
};

#undef KIND
#define KIND ALLTOALL
static const struct pf_rule alltoall_rules[] = {
    {3,
     {BELOW(2, PAIRWISE), BELOW(4, TWO_PROC), BELOW(16, PAIRWISE), BELOW(64, TWO_PROC), BELOW(256, PAIRWISE),
      BELOW(4096, TWO_PROC), BELOW(32768, PAIRWISE), BELOW(262144, LINEAR_SYNC), BELOW(1048576, TWO_PROC),
      ELSE(PAIRWISE)}},
    {8,
     {BELOW(8192, LINEAR_SYNC), BELOW(16384, LINEAR), BELOW(65536, LINEAR_SYNC), BELOW(524288, LINEAR),
      BELOW(1048576, PAIRWISE), ELSE(LINEAR)}},
    {16, {BELOW(262144, LINEAR_SYNC), ELSE(LINEAR)}},
    {32,
     {BELOW(4, LINEAR_SYNC), BELOW(512, MODIFIED_BRUCK), BELOW(8192, LINEAR_SYNC), BELOW(32768, LINEAR),
      BELOW(262144, LINEAR_SYNC), BELOW(524288, LINEAR), ELSE(LINEAR_SYNC)}},
    {64, {BELOW(512, MODIFIED_BRUCK), BELOW(524288, LINEAR), ELSE(LINEAR_SYNC)}},
    {128,
     {BELOW(1024, MODIFIED_BRUCK), BELOW(2048, LINEAR), BELOW(4096, LINEAR_SYNC), BELOW(262144, LINEAR),
      ELSE(PAIRWISE)}},
    {256, {BELOW(1024, MODIFIED_BRUCK), BELOW(2048, LINEAR_SYNC), BELOW(262144, LINEAR), ELSE(PAIRWISE)}},
    {512, {BELOW(1024, MODIFIED_BRUCK), BELOW(8192, LINEAR_SYNC), BELOW(32768, LINEAR), ELSE(PAIRWISE)}},
    {1024,
     {BELOW(512, MODIFIED_BRUCK), BELOW(8192, LINEAR_SYNC), BELOW(16384, LINEAR), BELOW(131072, LINEAR_SYNC),
      BELOW(262144, LINEAR), ELSE(PAIRWISE)}},
    {2048,
     {BELOW(512, MODIFIED_BRUCK), BELOW(1024, LINEAR_SYNC), BELOW(2048, LINEAR), BELOW(16384, LINEAR_SYNC),
      BELOW(262144, LINEAR), ELSE(LINEAR_SYNC)}},
    {4096,
     {BELOW(1024, MODIFIED_BRUCK), BELOW(4096, LINEAR_SYNC), BELOW(8192, LINEAR), BELOW(131072, LINEAR_SYNC),
      ELSE(LINEAR)}},
    {0,
     {BELOW(2048, MODIFIED_BRUCK), BELOW(8192, LINEAR_SYNC), BELOW(16384, LINEAR), BELOW(32768, LINEAR_SYNC),
      BELOW(65536, LINEAR), ELSE(LINEAR_SYNC)}},
};

#undef KIND
#define KIND ALLTOALLV
static const struct pf_rule alltoallv_rules[] = {
    {4, {ELSE(PAIRWISE)}},       {64, {ELSE(BASIC_LINEAR)}}, {128, {ELSE(PAIRWISE)}},
    {256, {ELSE(BASIC_LINEAR)}}, {1024, {ELSE(PAIRWISE)}},   {0, {ELSE(BASIC_LINEAR)}},
};

#undef KIND
#define KIND BARRIER
static const struct pf_rule barrier_rules[] = {
    {4, {ELSE(RECURSIVE_DOUBLING)}},
    {8, {ELSE(LINEAR)}},
    {64, {ELSE(RECURSIVE_DOUBLING)}},
    {256, {ELSE(BRUCK)}},
    {512, {ELSE(TREE)}},
    {1024, {ELSE(BRUCK)}},
    {4096, {ELSE(TREE)}},
    {0, {ELSE(BRUCK)}},
};

#undef KIND
#define KIND BCAST
static const struct pf_rule bcast_rules[] = {
    {4,
     {BELOW(32, PIPELINE), BELOW(256, BINARY_TREE), BELOW(512, PIPELINE), BELOW(1024, KNOMIAL),
      BELOW(32768, BASIC_LINEAR), BELOW(131072, BINARY_TREE), BELOW(262144, CHAIN),
      BELOW(524288, BASIC_LINEAR), BELOW(1048576, BINOMIAL), ELSE(BINARY_TREE)}},
    {8,
     {BELOW(64, BINARY_TREE), BELOW(128, BINOMIAL), BELOW(2048, BINARY_TREE), BELOW(8192, BINOMIAL),
      BELOW(1048576, BASIC_LINEAR), ELSE(CHAIN)}},
    {16,
     {BELOW(8, KNOMIAL), BELOW(64, BINARY_TREE), BELOW(4096, KNOMIAL), BELOW(16384, BINARY_TREE),
      BELOW(32768, BINOMIAL), ELSE(BASIC_LINEAR)}},
    {32, {BELOW(4096, KNOMIAL), BELOW(1048576, BINOMIAL), ELSE(SCATTER_ALLGATHER)}},
    {64, {BELOW(2048, BINOMIAL), ELSE(KNOMIAL)}},
    {128, {ELSE(KNOMIAL)}},
    {256,
     {BELOW(2, BINOMIAL), BELOW(16384, BINARY_TREE), BELOW(32768, BASIC_LINEAR), BELOW(65536, BINARY_TREE),
      ELSE(KNOMIAL)}},
    {1024, {BELOW(16384, KNOMIAL), BELOW(32768, SPLIT_BINARY_TREE), ELSE(KNOMIAL)}},
    {2048, {BELOW(524288, KNOMIAL), ELSE(SCATTER_ALLGATHER)}},
    {4096, {BELOW(262144, KNOMIAL), ELSE(SCATTER_ALLGATHER)}},
    {0, {BELOW(8192, KNOMIAL), BELOW(16384, BINARY_TREE), BELOW(262144, KNOMIAL), ELSE(SCATTER_ALLGATHER)}},
};

#undef KIND
#define KIND ALLGATHER
static const struct pf_rule allgather_rules[] = {
    {3, {ELSE(TWO_PROC)}},
    {32, {ELSE(RECURSIVE_DOUBLING)}},
    {64, {BELOW(1024, RECURSIVE_DOUBLING), BELOW(65536, NEIGHBOR), ELSE(RING)}},
    {128, {BELOW(512, RECURSIVE_DOUBLING), BELOW(65536, NEIGHBOR), ELSE(RING)}},
    {256,
     {BELOW(512, RECURSIVE_DOUBLING), BELOW(131072, NEIGHBOR), BELOW(524288, RING), BELOW(1048576, NEIGHBOR),
      ELSE(RING)}},
    {512,
     {BELOW(32, RECURSIVE_DOUBLING), BELOW(128, BRUCK), BELOW(1024, RECURSIVE_DOUBLING),
      BELOW(131072, NEIGHBOR), BELOW(524288, RING), BELOW(1048576, NEIGHBOR), ELSE(RING)}},
    {1024,
     {BELOW(64, RECURSIVE_DOUBLING), BELOW(256, BRUCK), BELOW(2048, RECURSIVE_DOUBLING), ELSE(NEIGHBOR)}},
    {2048,
     {BELOW(4, RECURSIVE_DOUBLING), BELOW(8, BRUCK), BELOW(16, RECURSIVE_DOUBLING), BELOW(32, BRUCK),
      BELOW(256, RECURSIVE_DOUBLING), BELOW(512, BRUCK), BELOW(4096, RECURSIVE_DOUBLING), ELSE(NEIGHBOR)}},
    {4096,
     {BELOW(32, BRUCK), BELOW(128, RECURSIVE_DOUBLING), BELOW(512, BRUCK), BELOW(4096, RECURSIVE_DOUBLING),
      ELSE(NEIGHBOR)}},
    {0,
     {BELOW(2, RECURSIVE_DOUBLING), BELOW(8, BRUCK), BELOW(16, RECURSIVE_DOUBLING), BELOW(512, BRUCK),
      BELOW(4096, RECURSIVE_DOUBLING), ELSE(NEIGHBOR)}},
};

#undef KIND
#define KIND ALLGATHERV
static const struct pf_rule allgatherv_rules[] = {
    {3, {BELOW(2048, RING), BELOW(4096, TWO_PROC), BELOW(8192, RING), ELSE(TWO_PROC)}},
    {8,
     {BELOW(256, DEFAULT), BELOW(4096, NEIGHBOR), BELOW(8192, RING), BELOW(16384, NEIGHBOR),
      BELOW(262144, BRUCK), ELSE(NEIGHBOR)}},
    {16, {BELOW(1024, DEFAULT), ELSE(BRUCK)}},
    {32, {BELOW(128, DEFAULT), BELOW(262144, BRUCK), ELSE(RING)}},
    {64, {BELOW(256, DEFAULT), BELOW(8192, BRUCK), ELSE(RING)}},
    {128, {BELOW(256, DEFAULT), BELOW(4096, BRUCK), ELSE(RING)}},
    {256, {BELOW(1024, BRUCK), BELOW(65536, NEIGHBOR), ELSE(RING)}},
    {512, {BELOW(1024, BRUCK), ELSE(RING)}},
    {1024,
     {BELOW(512, BRUCK), BELOW(1024, DEFAULT), BELOW(4096, BRUCK), BELOW(1048576, NEIGHBOR), ELSE(RING)}},
    {0, {BELOW(4096, BRUCK), ELSE(NEIGHBOR)}},
};

#undef KIND
#define KIND GATHER
static const struct pf_rule gather_rules[] = {
    {4,
     {BELOW(2, LINEAR_SYNC), BELOW(4, BASIC_LINEAR), BELOW(32768, BINOMIAL), BELOW(65536, BASIC_LINEAR),
      BELOW(131072, BINOMIAL), ELSE(LINEAR_SYNC)}},
    {8,
     {BELOW(1024, BINOMIAL), BELOW(8192, BASIC_LINEAR), BELOW(32768, BINOMIAL), BELOW(262144, BASIC_LINEAR),
      ELSE(LINEAR_SYNC)}},
    {256, {ELSE(BINOMIAL)}},
    {512, {BELOW(2048, BINOMIAL), BELOW(8192, BASIC_LINEAR), ELSE(BINOMIAL)}},
    {0, {ELSE(BINOMIAL)}},
};

#undef KIND
#define KIND SCATTER
static const struct pf_rule scatter_rules[] = {
    {4, {BELOW(2, LINEAR_NB), BELOW(131072, BASIC_LINEAR), BELOW(262144, LINEAR_NB), ELSE(BASIC_LINEAR)}},
    {8,
     {BELOW(2048, BINOMIAL), BELOW(4096, BASIC_LINEAR), BELOW(8192, BINOMIAL), BELOW(32768, BASIC_LINEAR),
      BELOW(1048576, LINEAR_NB), ELSE(BASIC_LINEAR)}},
    {16, {BELOW(16384, BINOMIAL), BELOW(1048576, LINEAR_NB), ELSE(BASIC_LINEAR)}},
    {32, {BELOW(16384, BINOMIAL), BELOW(32768, BASIC_LINEAR), ELSE(LINEAR_NB)}},
    {64, {BELOW(512, BINOMIAL), BELOW(8192, LINEAR_NB), BELOW(16384, BINOMIAL), ELSE(LINEAR_NB)}},
    {0, {BELOW(512, BINOMIAL), ELSE(LINEAR_NB)}},
};

/* One algorithm for everything. */
static const struct pf_rule first_rules[] = {
    {0, {{0, FIRST_ALGORITHM}}},
};

static bool small(const struct pf_coll_call *call)
{
    return call->bytes < 65536;
}

static size_t elements(const struct pf_coll_call *call)
{
    return call->bytes / (call->element ? call->element : 1);
}

/* libnbc's choices. */
static int nonblocking_first(const struct pf_coll_call *call)
{
    return FIRST_ALGORITHM;
}

static int nonblocking_barrier(const struct pf_coll_call *call)
{
    return BARRIER_BRUCK;
}

static int nonblocking_bcast(const struct pf_coll_call *call)
{
    return call->n <= 4 ? BCAST_BASIC_LINEAR : BCAST_BINOMIAL;
}

static int nonblocking_scatter(const struct pf_coll_call *call)
{
    return call->kind == PF_COLL_SCATTER ? SCATTER_LINEAR_NB : SCATTERV_LINEAR_NB;
}

static int nonblocking_allgather(const struct pf_coll_call *call)
{
    return call->kind == PF_COLL_ALLGATHER ? ALLGATHER_DIRECT : ALLGATHERV_DIRECT;
}

static int nonblocking_reduce(const struct pf_coll_call *call)
{
    if (call->commutative && call->n > 2 && elements(call) >= (size_t)1 << pf_log2((unsigned)call->n))
        return REDUCE_RABENSEIFNER;
    return call->n > 4 || small(call) || !call->commutative ? REDUCE_BINOMIAL : REDUCE_CHAIN;
}

static int nonblocking_allreduce(const struct pf_coll_call *call)
{
    bool binomial = call->n < 4 || small(call) || !call->commutative || call->in_place;
    return binomial ? ALLREDUCE_BINOMIAL : ALLREDUCE_RABENSEIFNER;
}

static int nonblocking_reduce_scatter(const struct pf_coll_call *call)
{
    return call->kind == PF_COLL_REDUCE_SCATTER ? REDUCE_SCATTER_BINOMIAL : REDUCE_SCATTER_BLOCK_BINOMIAL;
}

#define BLOCK  "the block of one rank"
#define VECTOR "the vector"

const struct pf_rules pf_rules[PF_COLL_KINDS] = {
    [PF_COLL_BARRIER] = {barrier_rules, NULL, nonblocking_barrier, "bruck", ""},
    [PF_COLL_BCAST] = {bcast_rules, NULL, nonblocking_bcast, "basic_linear up to 4 ranks, else binomial",
                       VECTOR},
    [PF_COLL_SCATTER] = {scatter_rules, NULL, nonblocking_scatter, "linear_nb", BLOCK},
    [PF_COLL_SCATTERV] = {first_rules, NULL, nonblocking_scatter, "linear_nb", ""},
    [PF_COLL_GATHER] = {gather_rules, NULL, nonblocking_first, "basic_linear", BLOCK},
    [PF_COLL_GATHERV] = {first_rules, NULL, nonblocking_first, "linear", ""},
    [PF_COLL_ALLGATHER] = {allgather_rules, NULL, nonblocking_allgather, "direct", BLOCK},
    [PF_COLL_ALLGATHERV] = {allgatherv_rules, NULL, nonblocking_allgather, "direct", "the mean block"},
    [PF_COLL_ALLTOALL] = {alltoall_rules, NULL, nonblocking_first, "linear", "the block for one rank"},
    [PF_COLL_ALLTOALLV] = {alltoallv_rules, NULL, nonblocking_first, "basic_linear", ""},
    [PF_COLL_ALLTOALLW] = {first_rules, NULL, nonblocking_first, "basic_linear", ""},
    [PF_COLL_REDUCE] =
        {reduce_rules, reduce_ordered_rules, nonblocking_reduce,
         "rabenseifner for 3 ranks and more, an element for each, and an operation that commutes; "
         "else binomial for more than 4 ranks, less than 64 KiB or an operation that does not "
         "commute; else chain",
         VECTOR},
    [PF_COLL_ALLREDUCE] =
        {allreduce_rules, allreduce_ordered_rules, nonblocking_allreduce,
         "rabenseifner for 4 ranks and more, 64 KiB and more and an operation that commutes; "
         "else binomial",
         VECTOR},
    [PF_COLL_REDUCE_SCATTER] = {reduce_scatter_rules, first_rules, nonblocking_reduce_scatter, "binomial",
                                VECTOR},
    [PF_COLL_REDUCE_SCATTER_BLOCK] = {reduce_scatter_block_rules, first_rules, nonblocking_reduce_scatter,
                                      "binomial", BLOCK},
    [PF_COLL_SCAN] = {first_rules, NULL, nonblocking_first, "linear", ""},
    [PF_COLL_EXSCAN] = {first_rules, NULL, nonblocking_first, "linear", ""},
};

static size_t measured(const struct pf_coll_call *call)
{
    if (call->kind == PF_COLL_ALLGATHERV)
        return pf_plan_counts(call) / (size_t)call->n;
    return call->kind == PF_COLL_REDUCE_SCATTER ? pf_plan_counts(call) : call->bytes;
}

int pf_rules_in_place(const struct pf_coll_call *call)
{
    if (!call->in_place)
        return -1;
    return call->kind == PF_COLL_ALLTOALL    ? (int)ALLTOALL_IN_PLACE
           : call->kind == PF_COLL_ALLTOALLV ? (int)ALLTOALLV_IN_PLACE
           : call->kind == PF_COLL_ALLTOALLW ? (int)ALLTOALLW_IN_PLACE
                                             : -1;
}

int pf_rules_choose(const struct pf_coll_call *call)
{
    const struct pf_rules *rules = &pf_rules[call->kind];
    if (pf_rules_in_place(call) >= 0)
        return pf_rules_in_place(call);
    if (call->mpich)
        return pf_rules_mpich(call);
    if (call->nonblocking)
        return rules->nonblocking(call);
    const struct pf_rule *rule = rules->ordered && !call->commutative ? rules->ordered : rules->plain;
    while (rule->n && call->n >= rule->n)
        rule++;
    size_t bytes = measured(call);
    int i = 0;
    while (rule->by_size[i].below && bytes >= rule->by_size[i].below)
        i++;
    return rule->by_size[i].algorithm;
}
