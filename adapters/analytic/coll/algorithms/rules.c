/* SPDX-License-Identifier: BSD-3-Clause */
/* The algorithm that Open MPI uses where the user has not chosen one. */
#include "adapters/analytic/coll/algorithms/algorithms.h"
#include "adapters/analytic/coll/algorithms/schedule.h"

/*
 * The thresholds of the fixed decisions of Open MPI 4.1's coll/tuned. A row applies to fewer ranks than its
 * number, an entry to fewer bytes; 0: to all others.
 */
static const struct pf_rule allreduce_ordered_rules[] = {
    {4, {{131072, ALLREDUCE_RECURSIVE_DOUBLING}, {0, ALLREDUCE_BASIC_LINEAR}}},
    {8, {{0, ALLREDUCE_RECURSIVE_DOUBLING}}},
    {16, {{1048576, ALLREDUCE_RECURSIVE_DOUBLING}, {0, ALLREDUCE_NONOVERLAPPING}}},
    {128, {{0, ALLREDUCE_RECURSIVE_DOUBLING}}},
    {256,
     {{131072, ALLREDUCE_NONOVERLAPPING},
      {524288, ALLREDUCE_RECURSIVE_DOUBLING},
      {0, ALLREDUCE_NONOVERLAPPING}}},
    {512,
     {{4096, ALLREDUCE_NONOVERLAPPING},
      {524288, ALLREDUCE_RECURSIVE_DOUBLING},
      {0, ALLREDUCE_NONOVERLAPPING}}},
    {0, {{2048, ALLREDUCE_NONOVERLAPPING}, {0, ALLREDUCE_RECURSIVE_DOUBLING}}},
};

static const struct pf_rule allreduce_rules[] = {
    {4,
     {{8, ALLREDUCE_RING},
      {4096, ALLREDUCE_RECURSIVE_DOUBLING},
      {8192, ALLREDUCE_RING},
      {16384, ALLREDUCE_RECURSIVE_DOUBLING},
      {65536, ALLREDUCE_RING},
      {262144, ALLREDUCE_SEGMENTED_RING},
      {0, ALLREDUCE_RABENSEIFNER}}},
    {8, {{16, ALLREDUCE_RING}, {8192, ALLREDUCE_RECURSIVE_DOUBLING}, {0, ALLREDUCE_RABENSEIFNER}}},
    {16, {{8192, ALLREDUCE_RECURSIVE_DOUBLING}, {0, ALLREDUCE_RABENSEIFNER}}},
    {32, {{64, ALLREDUCE_SEGMENTED_RING}, {4096, ALLREDUCE_RECURSIVE_DOUBLING}, {0, ALLREDUCE_RABENSEIFNER}}},
    {64, {{128, ALLREDUCE_SEGMENTED_RING}, {0, ALLREDUCE_RABENSEIFNER}}},
    {128, {{262144, ALLREDUCE_RECURSIVE_DOUBLING}, {0, ALLREDUCE_RABENSEIFNER}}},
    {256,
     {{131072, ALLREDUCE_NONOVERLAPPING},
      {262144, ALLREDUCE_RECURSIVE_DOUBLING},
      {0, ALLREDUCE_RABENSEIFNER}}},
    {512, {{4096, ALLREDUCE_NONOVERLAPPING}, {0, ALLREDUCE_RABENSEIFNER}}},
    {2048,
     {{2048, ALLREDUCE_NONOVERLAPPING}, {16384, ALLREDUCE_RECURSIVE_DOUBLING}, {0, ALLREDUCE_RABENSEIFNER}}},
    {4096,
     {{2048, ALLREDUCE_NONOVERLAPPING},
      {4096, ALLREDUCE_SEGMENTED_RING},
      {16384, ALLREDUCE_RECURSIVE_DOUBLING},
      {0, ALLREDUCE_RABENSEIFNER}}},
    {0,
     {{2048, ALLREDUCE_NONOVERLAPPING},
      {16384, ALLREDUCE_SEGMENTED_RING},
      {32768, ALLREDUCE_RECURSIVE_DOUBLING},
      {0, ALLREDUCE_RABENSEIFNER}}},
};

static const struct pf_rule reduce_ordered_rules[] = {
    {4, {{8, REDUCE_IN_ORDER_BINARY}, {0, REDUCE_LINEAR}}},
    {8, {{0, REDUCE_LINEAR}}},
    {16,
     {{1024, REDUCE_IN_ORDER_BINARY},
      {8192, REDUCE_LINEAR},
      {16384, REDUCE_IN_ORDER_BINARY},
      {262144, REDUCE_LINEAR},
      {0, REDUCE_IN_ORDER_BINARY}}},
    {128, {{0, REDUCE_IN_ORDER_BINARY}}},
    {256, {{512, REDUCE_IN_ORDER_BINARY}, {1024, REDUCE_LINEAR}, {0, REDUCE_IN_ORDER_BINARY}}},
    {0, {{0, REDUCE_IN_ORDER_BINARY}}},
};

static const struct pf_rule reduce_rules[] = {
    {4,
     {{8, REDUCE_RABENSEIFNER},
      {16, REDUCE_BINARY},
      {32, REDUCE_PIPELINE},
      {262144, REDUCE_LINEAR},
      {524288, REDUCE_PIPELINE},
      {1048576, REDUCE_CHAIN},
      {0, REDUCE_PIPELINE}}},
    {8,
     {{4096, REDUCE_BINARY},
      {65536, REDUCE_CHAIN},
      {262144, REDUCE_BINOMIAL},
      {524288, REDUCE_LINEAR},
      {1048576, REDUCE_BINOMIAL},
      {0, REDUCE_LINEAR}}},
    {16, {{8192, REDUCE_BINARY}, {0, REDUCE_BINOMIAL}}},
    {32, {{4096, REDUCE_BINARY}, {0, REDUCE_BINOMIAL}}},
    {256, {{0, REDUCE_BINOMIAL}}},
    {512, {{8192, REDUCE_BINOMIAL}, {16384, REDUCE_IN_ORDER_BINARY}, {0, REDUCE_BINOMIAL}}},
    {2048, {{0, REDUCE_BINOMIAL}}},
    {4096,
     {{512, REDUCE_BINOMIAL},
      {1024, REDUCE_IN_ORDER_BINARY},
      {8192, REDUCE_BINOMIAL},
      {16384, REDUCE_IN_ORDER_BINARY},
      {0, REDUCE_BINOMIAL}}},
    {0,
     {{16, REDUCE_BINOMIAL},
      {32, REDUCE_IN_ORDER_BINARY},
      {1024, REDUCE_BINOMIAL},
      {2048, REDUCE_IN_ORDER_BINARY},
      {8192, REDUCE_BINOMIAL},
      {16384, REDUCE_IN_ORDER_BINARY},
      {0, REDUCE_BINOMIAL}}},
};

static const struct pf_rule reduce_scatter_rules[] = {
    {4, {{65536, REDUCE_SCATTER_RING}, {131072, REDUCE_SCATTER_BUTTERFLY}, {0, REDUCE_SCATTER_RING}}},
    {8,
     {{8, REDUCE_SCATTER_NON_OVERLAPPING},
      {262144, REDUCE_SCATTER_RECURSIVE_HALVING},
      {0, REDUCE_SCATTER_RING}}},
    {32, {{262144, REDUCE_SCATTER_RECURSIVE_HALVING}, {0, REDUCE_SCATTER_RING}}},
    {64,
     {{64, REDUCE_SCATTER_NON_OVERLAPPING},
      {2048, REDUCE_SCATTER_RECURSIVE_HALVING},
      {524288, REDUCE_SCATTER_BUTTERFLY},
      {0, REDUCE_SCATTER_RING}}},
    {128,
     {{256, REDUCE_SCATTER_NON_OVERLAPPING},
      {512, REDUCE_SCATTER_RECURSIVE_HALVING},
      {2048, REDUCE_SCATTER_BUTTERFLY},
      {4096, REDUCE_SCATTER_RECURSIVE_HALVING},
      {0, REDUCE_SCATTER_BUTTERFLY}}},
    {256,
     {{256, REDUCE_SCATTER_NON_OVERLAPPING},
      {512, REDUCE_SCATTER_RECURSIVE_HALVING},
      {0, REDUCE_SCATTER_BUTTERFLY}}},
    {512,
     {{256, REDUCE_SCATTER_NON_OVERLAPPING},
      {1024, REDUCE_SCATTER_RECURSIVE_HALVING},
      {0, REDUCE_SCATTER_BUTTERFLY}}},
    {1024,
     {{512, REDUCE_SCATTER_NON_OVERLAPPING},
      {2048, REDUCE_SCATTER_RECURSIVE_HALVING},
      {8192, REDUCE_SCATTER_BUTTERFLY},
      {16384, REDUCE_SCATTER_RECURSIVE_HALVING},
      {0, REDUCE_SCATTER_BUTTERFLY}}},
    {2048,
     {{512, REDUCE_SCATTER_NON_OVERLAPPING},
      {4096, REDUCE_SCATTER_RECURSIVE_HALVING},
      {16384, REDUCE_SCATTER_BUTTERFLY},
      {32768, REDUCE_SCATTER_RECURSIVE_HALVING},
      {0, REDUCE_SCATTER_BUTTERFLY}}},
    {4096,
     {{512, REDUCE_SCATTER_NON_OVERLAPPING},
      {4096, REDUCE_SCATTER_RECURSIVE_HALVING},
      {0, REDUCE_SCATTER_BUTTERFLY}}},
    {0,
     {{1024, REDUCE_SCATTER_NON_OVERLAPPING},
      {8192, REDUCE_SCATTER_RECURSIVE_HALVING},
      {0, REDUCE_SCATTER_BUTTERFLY}}},
};

static const struct pf_rule reduce_scatter_block_rules[] = {
    {4,
     {{4, REDUCE_SCATTER_BLOCK_RECURSIVE_DOUBLING},
      {8, REDUCE_SCATTER_BLOCK_BUTTERFLY},
      {16, REDUCE_SCATTER_BLOCK_RECURSIVE_HALVING},
      {128, REDUCE_SCATTER_BLOCK_BUTTERFLY},
      {256, REDUCE_SCATTER_BLOCK_RECURSIVE_HALVING},
      {4096, REDUCE_SCATTER_BLOCK_BUTTERFLY},
      {8192, REDUCE_SCATTER_BLOCK_RECURSIVE_HALVING},
      {131072, REDUCE_SCATTER_BLOCK_BUTTERFLY},
      {0, REDUCE_SCATTER_BLOCK_BASIC_LINEAR}}},
    {8,
     {{8, REDUCE_SCATTER_BLOCK_RECURSIVE_HALVING},
      {32, REDUCE_SCATTER_BLOCK_RECURSIVE_DOUBLING},
      {256, REDUCE_SCATTER_BLOCK_BUTTERFLY},
      {8192, REDUCE_SCATTER_BLOCK_RECURSIVE_HALVING},
      {16384, REDUCE_SCATTER_BLOCK_BUTTERFLY},
      {1048576, REDUCE_SCATTER_BLOCK_RECURSIVE_HALVING},
      {0, REDUCE_SCATTER_BLOCK_BASIC_LINEAR}}},
    {16,
     {{4, REDUCE_SCATTER_BLOCK_BASIC_LINEAR},
      {32, REDUCE_SCATTER_BLOCK_RECURSIVE_HALVING},
      {128, REDUCE_SCATTER_BLOCK_BUTTERFLY},
      {524288, REDUCE_SCATTER_BLOCK_RECURSIVE_HALVING},
      {4194304, REDUCE_SCATTER_BLOCK_BASIC_LINEAR},
      {0, REDUCE_SCATTER_BLOCK_BUTTERFLY}}},
    {32,
     {{32, REDUCE_SCATTER_BLOCK_BASIC_LINEAR},
      {524288, REDUCE_SCATTER_BLOCK_RECURSIVE_HALVING},
      {2097152, REDUCE_SCATTER_BLOCK_BASIC_LINEAR},
      {4194304, REDUCE_SCATTER_BLOCK_RECURSIVE_HALVING},
      {0, REDUCE_SCATTER_BLOCK_BUTTERFLY}}},
    {0,
     {{4, REDUCE_SCATTER_BLOCK_RECURSIVE_HALVING},
      {16, REDUCE_SCATTER_BLOCK_BASIC_LINEAR},
      {65536, REDUCE_SCATTER_BLOCK_BUTTERFLY},
      {262144, REDUCE_SCATTER_BLOCK_BASIC_LINEAR},
      {0, REDUCE_SCATTER_BLOCK_BUTTERFLY}}},
};

static const struct pf_rule alltoall_rules[] = {
    {3,
     {{2, ALLTOALL_PAIRWISE},
      {4, ALLTOALL_TWO_PROC},
      {16, ALLTOALL_PAIRWISE},
      {64, ALLTOALL_TWO_PROC},
      {256, ALLTOALL_PAIRWISE},
      {4096, ALLTOALL_TWO_PROC},
      {32768, ALLTOALL_PAIRWISE},
      {262144, ALLTOALL_LINEAR_SYNC},
      {1048576, ALLTOALL_TWO_PROC},
      {0, ALLTOALL_PAIRWISE}}},
    {8,
     {{8192, ALLTOALL_LINEAR_SYNC},
      {16384, ALLTOALL_LINEAR},
      {65536, ALLTOALL_LINEAR_SYNC},
      {524288, ALLTOALL_LINEAR},
      {1048576, ALLTOALL_PAIRWISE},
      {0, ALLTOALL_LINEAR}}},
    {16, {{262144, ALLTOALL_LINEAR_SYNC}, {0, ALLTOALL_LINEAR}}},
    {32,
     {{4, ALLTOALL_LINEAR_SYNC},
      {512, ALLTOALL_MODIFIED_BRUCK},
      {8192, ALLTOALL_LINEAR_SYNC},
      {32768, ALLTOALL_LINEAR},
      {262144, ALLTOALL_LINEAR_SYNC},
      {524288, ALLTOALL_LINEAR},
      {0, ALLTOALL_LINEAR_SYNC}}},
    {64, {{512, ALLTOALL_MODIFIED_BRUCK}, {524288, ALLTOALL_LINEAR}, {0, ALLTOALL_LINEAR_SYNC}}},
    {128,
     {{1024, ALLTOALL_MODIFIED_BRUCK},
      {2048, ALLTOALL_LINEAR},
      {4096, ALLTOALL_LINEAR_SYNC},
      {262144, ALLTOALL_LINEAR},
      {0, ALLTOALL_PAIRWISE}}},
    {256,
     {{1024, ALLTOALL_MODIFIED_BRUCK},
      {2048, ALLTOALL_LINEAR_SYNC},
      {262144, ALLTOALL_LINEAR},
      {0, ALLTOALL_PAIRWISE}}},
    {512,
     {{1024, ALLTOALL_MODIFIED_BRUCK},
      {8192, ALLTOALL_LINEAR_SYNC},
      {32768, ALLTOALL_LINEAR},
      {0, ALLTOALL_PAIRWISE}}},
    {1024,
     {{512, ALLTOALL_MODIFIED_BRUCK},
      {8192, ALLTOALL_LINEAR_SYNC},
      {16384, ALLTOALL_LINEAR},
      {131072, ALLTOALL_LINEAR_SYNC},
      {262144, ALLTOALL_LINEAR},
      {0, ALLTOALL_PAIRWISE}}},
    {2048,
     {{512, ALLTOALL_MODIFIED_BRUCK},
      {1024, ALLTOALL_LINEAR_SYNC},
      {2048, ALLTOALL_LINEAR},
      {16384, ALLTOALL_LINEAR_SYNC},
      {262144, ALLTOALL_LINEAR},
      {0, ALLTOALL_LINEAR_SYNC}}},
    {4096,
     {{1024, ALLTOALL_MODIFIED_BRUCK},
      {4096, ALLTOALL_LINEAR_SYNC},
      {8192, ALLTOALL_LINEAR},
      {131072, ALLTOALL_LINEAR_SYNC},
      {0, ALLTOALL_LINEAR}}},
    {0,
     {{2048, ALLTOALL_MODIFIED_BRUCK},
      {8192, ALLTOALL_LINEAR_SYNC},
      {16384, ALLTOALL_LINEAR},
      {32768, ALLTOALL_LINEAR_SYNC},
      {65536, ALLTOALL_LINEAR},
      {0, ALLTOALL_LINEAR_SYNC}}},
};

static const struct pf_rule alltoallv_rules[] = {
    {4, {{0, ALLTOALLV_PAIRWISE}}},    {64, {{0, ALLTOALLV_BASIC_LINEAR}}},
    {128, {{0, ALLTOALLV_PAIRWISE}}},  {256, {{0, ALLTOALLV_BASIC_LINEAR}}},
    {1024, {{0, ALLTOALLV_PAIRWISE}}}, {0, {{0, ALLTOALLV_BASIC_LINEAR}}},
};

static const struct pf_rule barrier_rules[] = {
    {4, {{0, BARRIER_RECURSIVE_DOUBLING}}},
    {8, {{0, BARRIER_LINEAR}}},
    {64, {{0, BARRIER_RECURSIVE_DOUBLING}}},
    {256, {{0, BARRIER_BRUCK}}},
    {512, {{0, BARRIER_TREE}}},
    {1024, {{0, BARRIER_BRUCK}}},
    {4096, {{0, BARRIER_TREE}}},
    {0, {{0, BARRIER_BRUCK}}},
};

static const struct pf_rule bcast_rules[] = {
    {4,
     {{32, BCAST_PIPELINE},
      {256, BCAST_BINARY_TREE},
      {512, BCAST_PIPELINE},
      {1024, BCAST_KNOMIAL},
      {32768, BCAST_BASIC_LINEAR},
      {131072, BCAST_BINARY_TREE},
      {262144, BCAST_CHAIN},
      {524288, BCAST_BASIC_LINEAR},
      {1048576, BCAST_BINOMIAL},
      {0, BCAST_BINARY_TREE}}},
    {8,
     {{64, BCAST_BINARY_TREE},
      {128, BCAST_BINOMIAL},
      {2048, BCAST_BINARY_TREE},
      {8192, BCAST_BINOMIAL},
      {1048576, BCAST_BASIC_LINEAR},
      {0, BCAST_CHAIN}}},
    {16,
     {{8, BCAST_KNOMIAL},
      {64, BCAST_BINARY_TREE},
      {4096, BCAST_KNOMIAL},
      {16384, BCAST_BINARY_TREE},
      {32768, BCAST_BINOMIAL},
      {0, BCAST_BASIC_LINEAR}}},
    {32, {{4096, BCAST_KNOMIAL}, {1048576, BCAST_BINOMIAL}, {0, BCAST_SCATTER_ALLGATHER}}},
    {64, {{2048, BCAST_BINOMIAL}, {0, BCAST_KNOMIAL}}},
    {128, {{0, BCAST_KNOMIAL}}},
    {256,
     {{2, BCAST_BINOMIAL},
      {16384, BCAST_BINARY_TREE},
      {32768, BCAST_BASIC_LINEAR},
      {65536, BCAST_BINARY_TREE},
      {0, BCAST_KNOMIAL}}},
    {1024, {{16384, BCAST_KNOMIAL}, {32768, BCAST_SPLIT_BINARY_TREE}, {0, BCAST_KNOMIAL}}},
    {2048, {{524288, BCAST_KNOMIAL}, {0, BCAST_SCATTER_ALLGATHER}}},
    {4096, {{262144, BCAST_KNOMIAL}, {0, BCAST_SCATTER_ALLGATHER}}},
    {0,
     {{8192, BCAST_KNOMIAL},
      {16384, BCAST_BINARY_TREE},
      {262144, BCAST_KNOMIAL},
      {0, BCAST_SCATTER_ALLGATHER}}},
};

static const struct pf_rule allgather_rules[] = {
    {3, {{0, ALLGATHER_TWO_PROC}}},
    {32, {{0, ALLGATHER_RECURSIVE_DOUBLING}}},
    {64, {{1024, ALLGATHER_RECURSIVE_DOUBLING}, {65536, ALLGATHER_NEIGHBOR}, {0, ALLGATHER_RING}}},
    {128, {{512, ALLGATHER_RECURSIVE_DOUBLING}, {65536, ALLGATHER_NEIGHBOR}, {0, ALLGATHER_RING}}},
    {256,
     {{512, ALLGATHER_RECURSIVE_DOUBLING},
      {131072, ALLGATHER_NEIGHBOR},
      {524288, ALLGATHER_RING},
      {1048576, ALLGATHER_NEIGHBOR},
      {0, ALLGATHER_RING}}},
    {512,
     {{32, ALLGATHER_RECURSIVE_DOUBLING},
      {128, ALLGATHER_BRUCK},
      {1024, ALLGATHER_RECURSIVE_DOUBLING},
      {131072, ALLGATHER_NEIGHBOR},
      {524288, ALLGATHER_RING},
      {1048576, ALLGATHER_NEIGHBOR},
      {0, ALLGATHER_RING}}},
    {1024,
     {{64, ALLGATHER_RECURSIVE_DOUBLING},
      {256, ALLGATHER_BRUCK},
      {2048, ALLGATHER_RECURSIVE_DOUBLING},
      {0, ALLGATHER_NEIGHBOR}}},
    {2048,
     {{4, ALLGATHER_RECURSIVE_DOUBLING},
      {8, ALLGATHER_BRUCK},
      {16, ALLGATHER_RECURSIVE_DOUBLING},
      {32, ALLGATHER_BRUCK},
      {256, ALLGATHER_RECURSIVE_DOUBLING},
      {512, ALLGATHER_BRUCK},
      {4096, ALLGATHER_RECURSIVE_DOUBLING},
      {0, ALLGATHER_NEIGHBOR}}},
    {4096,
     {{32, ALLGATHER_BRUCK},
      {128, ALLGATHER_RECURSIVE_DOUBLING},
      {512, ALLGATHER_BRUCK},
      {4096, ALLGATHER_RECURSIVE_DOUBLING},
      {0, ALLGATHER_NEIGHBOR}}},
    {0,
     {{2, ALLGATHER_RECURSIVE_DOUBLING},
      {8, ALLGATHER_BRUCK},
      {16, ALLGATHER_RECURSIVE_DOUBLING},
      {512, ALLGATHER_BRUCK},
      {4096, ALLGATHER_RECURSIVE_DOUBLING},
      {0, ALLGATHER_NEIGHBOR}}},
};

static const struct pf_rule allgatherv_rules[] = {
    {3,
     {{2048, ALLGATHERV_RING},
      {4096, ALLGATHERV_TWO_PROC},
      {8192, ALLGATHERV_RING},
      {0, ALLGATHERV_TWO_PROC}}},
    {8,
     {{256, ALLGATHERV_DEFAULT},
      {4096, ALLGATHERV_NEIGHBOR},
      {8192, ALLGATHERV_RING},
      {16384, ALLGATHERV_NEIGHBOR},
      {262144, ALLGATHERV_BRUCK},
      {0, ALLGATHERV_NEIGHBOR}}},
    {16, {{1024, ALLGATHERV_DEFAULT}, {0, ALLGATHERV_BRUCK}}},
    {32, {{128, ALLGATHERV_DEFAULT}, {262144, ALLGATHERV_BRUCK}, {0, ALLGATHERV_RING}}},
    {64, {{256, ALLGATHERV_DEFAULT}, {8192, ALLGATHERV_BRUCK}, {0, ALLGATHERV_RING}}},
    {128, {{256, ALLGATHERV_DEFAULT}, {4096, ALLGATHERV_BRUCK}, {0, ALLGATHERV_RING}}},
    {256, {{1024, ALLGATHERV_BRUCK}, {65536, ALLGATHERV_NEIGHBOR}, {0, ALLGATHERV_RING}}},
    {512, {{1024, ALLGATHERV_BRUCK}, {0, ALLGATHERV_RING}}},
    {1024,
     {{512, ALLGATHERV_BRUCK},
      {1024, ALLGATHERV_DEFAULT},
      {4096, ALLGATHERV_BRUCK},
      {1048576, ALLGATHERV_NEIGHBOR},
      {0, ALLGATHERV_RING}}},
    {0, {{4096, ALLGATHERV_BRUCK}, {0, ALLGATHERV_NEIGHBOR}}},
};

static const struct pf_rule gather_rules[] = {
    {4,
     {{2, GATHER_LINEAR_SYNC},
      {4, GATHER_BASIC_LINEAR},
      {32768, GATHER_BINOMIAL},
      {65536, GATHER_BASIC_LINEAR},
      {131072, GATHER_BINOMIAL},
      {0, GATHER_LINEAR_SYNC}}},
    {8,
     {{1024, GATHER_BINOMIAL},
      {8192, GATHER_BASIC_LINEAR},
      {32768, GATHER_BINOMIAL},
      {262144, GATHER_BASIC_LINEAR},
      {0, GATHER_LINEAR_SYNC}}},
    {256, {{0, GATHER_BINOMIAL}}},
    {512, {{2048, GATHER_BINOMIAL}, {8192, GATHER_BASIC_LINEAR}, {0, GATHER_BINOMIAL}}},
    {0, {{0, GATHER_BINOMIAL}}},
};

static const struct pf_rule scatter_rules[] = {
    {4,
     {{2, SCATTER_LINEAR_NB},
      {131072, SCATTER_BASIC_LINEAR},
      {262144, SCATTER_LINEAR_NB},
      {0, SCATTER_BASIC_LINEAR}}},
    {8,
     {{2048, SCATTER_BINOMIAL},
      {4096, SCATTER_BASIC_LINEAR},
      {8192, SCATTER_BINOMIAL},
      {32768, SCATTER_BASIC_LINEAR},
      {1048576, SCATTER_LINEAR_NB},
      {0, SCATTER_BASIC_LINEAR}}},
    {16, {{16384, SCATTER_BINOMIAL}, {1048576, SCATTER_LINEAR_NB}, {0, SCATTER_BASIC_LINEAR}}},
    {32, {{16384, SCATTER_BINOMIAL}, {32768, SCATTER_BASIC_LINEAR}, {0, SCATTER_LINEAR_NB}}},
    {64,
     {{512, SCATTER_BINOMIAL}, {8192, SCATTER_LINEAR_NB}, {16384, SCATTER_BINOMIAL}, {0, SCATTER_LINEAR_NB}}},
    {0, {{512, SCATTER_BINOMIAL}, {0, SCATTER_LINEAR_NB}}},
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
    (void)call;
    return FIRST_ALGORITHM;
}

static int nonblocking_barrier(const struct pf_coll_call *call)
{
    (void)call;
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
    size_t total = 0;
    if (call->kind != PF_COLL_ALLGATHERV && call->kind != PF_COLL_REDUCE_SCATTER)
        return call->bytes;
    for (int r = 0; r < call->n; r++)
        total += call->counts[r];
    return call->kind == PF_COLL_ALLGATHERV ? total / (size_t)call->n : total;
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
