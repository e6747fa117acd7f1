/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * The algorithms of each kind of collective: the rules use the enumerators, users the names, plans the
 * builders. Those of Open MPI come first, in its own order; then those that only MPICH has.
 *
 * X(enumerator, name, builder, also fit for an operation that does not commute)
 */
#define PF_BARRIER_ALGORITHMS(X)                                                                             \
    X(BARRIER_LINEAR, "linear", barrier_linear, true)                                                        \
    X(BARRIER_DOUBLE_RING, "double_ring", barrier_ring, true)                                                \
    X(BARRIER_RECURSIVE_DOUBLING, "recursive_doubling", barrier_doubling, true)                              \
    X(BARRIER_BRUCK, "bruck", barrier_bruck, true)                                                           \
    X(BARRIER_TWO_PROC, "two_proc", barrier_doubling, true)                                                  \
    X(BARRIER_TREE, "tree", barrier_tree, true)

#define PF_BCAST_ALGORITHMS(X)                                                                               \
    X(BCAST_BASIC_LINEAR, "basic_linear", bcast_linear, true)                                                \
    X(BCAST_CHAIN, "chain", bcast_chain, true)                                                               \
    X(BCAST_PIPELINE, "pipeline", bcast_chain, true)                                                         \
    X(BCAST_SPLIT_BINARY_TREE, "split_binary_tree", bcast_split, true)                                       \
    X(BCAST_BINARY_TREE, "binary_tree", bcast_binary, true)                                                  \
    X(BCAST_BINOMIAL, "binomial", bcast_binomial, true)                                                      \
    X(BCAST_KNOMIAL, "knomial", bcast_knomial, true)                                                         \
    X(BCAST_SCATTER_ALLGATHER, "scatter_allgather", bcast_scatter_allgather, true)                           \
    X(BCAST_SCATTER_ALLGATHER_RING, "scatter_allgather_ring", bcast_scatter_ring, true)                      \
    X(BCAST_BINOMIAL_IN_TURN, "binomial_in_turn", bcast_in_turn, true)

#define PF_SCATTER_ALGORITHMS(X)                                                                             \
    X(SCATTER_BASIC_LINEAR, "basic_linear", scatter_linear, true)                                            \
    X(SCATTER_BINOMIAL, "binomial", scatter_binomial, true)                                                  \
    X(SCATTER_LINEAR_NB, "linear_nb", scatter_linear_at_once, true)

#define PF_SCATTERV_ALGORITHMS(X)                                                                            \
    X(SCATTERV_LINEAR, "linear", scatter_linear, true)                                                       \
    X(SCATTERV_LINEAR_NB, "linear_nb", scatter_linear_at_once, true)

#define PF_GATHER_ALGORITHMS(X)                                                                              \
    X(GATHER_BASIC_LINEAR, "basic_linear", gather_linear, true)                                              \
    X(GATHER_BINOMIAL, "binomial", gather_binomial, true)                                                    \
    X(GATHER_LINEAR_SYNC, "linear_sync", gather_sync, true)

#define PF_GATHERV_ALGORITHMS(X)                                                                             \
    X(GATHERV_LINEAR, "linear", gather_linear, true)                                                         \
    X(GATHERV_LINEAR_NB, "linear_nb", gather_linear_at_once, true)

#define PF_ALLGATHER_ALGORITHMS(X)                                                                           \
    X(ALLGATHER_LINEAR, "linear", allgather_linear, true)                                                    \
    X(ALLGATHER_BRUCK, "bruck", allgather_bruck, true)                                                       \
    X(ALLGATHER_RECURSIVE_DOUBLING, "recursive_doubling", allgather_doubling, true)                          \
    X(ALLGATHER_RING, "ring", allgather_ring, true)                                                          \
    X(ALLGATHER_NEIGHBOR, "neighbor", allgather_neighbor, true)                                              \
    X(ALLGATHER_TWO_PROC, "two_proc", allgather_bruck, true)                                                 \
    X(ALLGATHER_DIRECT, "direct", allgather_direct, true)

#define PF_ALLGATHERV_ALGORITHMS(X)                                                                          \
    X(ALLGATHERV_DEFAULT, "default", allgather_linear, true)                                                 \
    X(ALLGATHERV_BRUCK, "bruck", allgather_bruck, true)                                                      \
    X(ALLGATHERV_RING, "ring", allgather_ring, true)                                                         \
    X(ALLGATHERV_NEIGHBOR, "neighbor", allgather_neighbor, true)                                             \
    X(ALLGATHERV_TWO_PROC, "two_proc", allgather_bruck, true)                                                \
    X(ALLGATHERV_DIRECT, "direct", allgather_direct, true)                                                   \
    X(ALLGATHERV_RECURSIVE_DOUBLING, "recursive_doubling", allgather_doubling, true)                         \
    X(ALLGATHERV_PIPELINED_RING, "pipelined_ring", allgather_pipelined_ring, true)

#define PF_ALLTOALL_ALGORITHMS(X)                                                                            \
    X(ALLTOALL_LINEAR, "linear", alltoall_linear, true)                                                      \
    X(ALLTOALL_PAIRWISE, "pairwise", alltoall_pairwise, true)                                                \
    X(ALLTOALL_MODIFIED_BRUCK, "modified_bruck", alltoall_bruck, true)                                       \
    X(ALLTOALL_LINEAR_SYNC, "linear_sync", alltoall_linear_sync, true)                                       \
    X(ALLTOALL_TWO_PROC, "two_proc", alltoall_pairwise, true)                                                \
    X(ALLTOALL_IN_PLACE, "in_place", alltoall_in_place, true)

#define PF_ALLTOALLV_ALGORITHMS(X)                                                                           \
    X(ALLTOALLV_BASIC_LINEAR, "basic_linear", alltoall_linear, true)                                         \
    X(ALLTOALLV_PAIRWISE, "pairwise", alltoall_pairwise, true)                                               \
    X(ALLTOALLV_IN_PLACE, "in_place", alltoall_in_place, true)

#define PF_ALLTOALLW_ALGORITHMS(X)                                                                           \
    X(ALLTOALLW_BASIC_LINEAR, "basic_linear", alltoall_linear, true)                                         \
    X(ALLTOALLW_PAIRWISE, "pairwise", alltoall_pairwise, true)                                               \
    X(ALLTOALLW_IN_PLACE, "in_place", alltoall_in_place, true)

#define PF_REDUCE_ALGORITHMS(X)                                                                              \
    X(REDUCE_LINEAR, "linear", reduce_linear, true)                                                          \
    X(REDUCE_CHAIN, "chain", reduce_chain, false)                                                            \
    X(REDUCE_PIPELINE, "pipeline", reduce_chain, false)                                                      \
    X(REDUCE_BINARY, "binary", reduce_binary, false)                                                         \
    X(REDUCE_BINOMIAL, "binomial", reduce_binomial, true)                                                    \
    X(REDUCE_IN_ORDER_BINARY, "in-order_binary", reduce_in_order, true)                                      \
    X(REDUCE_RABENSEIFNER, "rabenseifner", reduce_rabenseifner, false)

#define PF_ALLREDUCE_ALGORITHMS(X)                                                                           \
    X(ALLREDUCE_BASIC_LINEAR, "basic_linear", allreduce_linear, true)                                        \
    X(ALLREDUCE_NONOVERLAPPING, "nonoverlapping", allreduce_nonoverlapping, true)                            \
    X(ALLREDUCE_RECURSIVE_DOUBLING, "recursive_doubling", allreduce_doubling, true)                          \
    X(ALLREDUCE_RING, "ring", allreduce_ring, false)                                                         \
    X(ALLREDUCE_SEGMENTED_RING, "segmented_ring", allreduce_segmented_ring, false)                           \
    X(ALLREDUCE_RABENSEIFNER, "rabenseifner", allreduce_rabenseifner, false)                                 \
    X(ALLREDUCE_BINOMIAL, "binomial", allreduce_binomial, true)

#define PF_REDUCE_SCATTER_ALGORITHMS(X)                                                                      \
    X(REDUCE_SCATTER_NON_OVERLAPPING, "non-overlapping", scatter_nonoverlapping, true)                       \
    X(REDUCE_SCATTER_RECURSIVE_HALVING, "recursive_halving", scatter_halving, false)                         \
    X(REDUCE_SCATTER_RING, "ring", scatter_ring, false)                                                      \
    X(REDUCE_SCATTER_BUTTERFLY, "butterfly", scatter_butterfly, true)                                        \
    X(REDUCE_SCATTER_BINOMIAL, "binomial", scatter_after_binomial, true)                                     \
    X(REDUCE_SCATTER_PAIRWISE, "pairwise", scatter_pairwise, false)

#define PF_REDUCE_SCATTER_BLOCK_ALGORITHMS(X)                                                                \
    X(REDUCE_SCATTER_BLOCK_BASIC_LINEAR, "basic_linear", scatter_nonoverlapping, true)                       \
    X(REDUCE_SCATTER_BLOCK_RECURSIVE_DOUBLING, "recursive_doubling", scatter_doubling, true)                 \
    X(REDUCE_SCATTER_BLOCK_RECURSIVE_HALVING, "recursive_halving", scatter_halving, false)                   \
    X(REDUCE_SCATTER_BLOCK_BUTTERFLY, "butterfly", scatter_butterfly, true)                                  \
    X(REDUCE_SCATTER_BLOCK_BINOMIAL, "binomial", scatter_after_binomial, true)                               \
    X(REDUCE_SCATTER_BLOCK_PAIRWISE, "pairwise", scatter_pairwise, false)

#define PF_SCAN_ALGORITHMS(X)                                                                                \
    X(SCAN_LINEAR, "linear", scan_linear, true)                                                              \
    X(SCAN_RECURSIVE_DOUBLING, "recursive_doubling", scan_doubling, true)

/* The place in the list of the kind. */
#define PF_ALGORITHM_ID(id, name, build, ordered) id,
enum { PF_BARRIER_ALGORITHMS(PF_ALGORITHM_ID) };
enum { PF_BCAST_ALGORITHMS(PF_ALGORITHM_ID) };
enum { PF_SCATTER_ALGORITHMS(PF_ALGORITHM_ID) };
enum { PF_SCATTERV_ALGORITHMS(PF_ALGORITHM_ID) };
enum { PF_GATHER_ALGORITHMS(PF_ALGORITHM_ID) };
enum { PF_GATHERV_ALGORITHMS(PF_ALGORITHM_ID) };
enum { PF_ALLGATHER_ALGORITHMS(PF_ALGORITHM_ID) };
enum { PF_ALLGATHERV_ALGORITHMS(PF_ALGORITHM_ID) };
enum { PF_ALLTOALL_ALGORITHMS(PF_ALGORITHM_ID) };
enum { PF_ALLTOALLV_ALGORITHMS(PF_ALGORITHM_ID) };
enum { PF_ALLTOALLW_ALGORITHMS(PF_ALGORITHM_ID) };
enum { PF_REDUCE_ALGORITHMS(PF_ALGORITHM_ID) };
enum { PF_ALLREDUCE_ALGORITHMS(PF_ALGORITHM_ID) };
enum { PF_REDUCE_SCATTER_ALGORITHMS(PF_ALGORITHM_ID) };
enum { PF_REDUCE_SCATTER_BLOCK_ALGORITHMS(PF_ALGORITHM_ID) };
enum { PF_SCAN_ALGORITHMS(PF_ALGORITHM_ID) };
#undef PF_ALGORITHM_ID

/* Of every kind. */
enum { FIRST_ALGORITHM = 0 };
