/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/* The collective calls by their names in struct pf_own_fn, and in lower case as adapters name their
 * functions.
 */

/* X(Name, name): fn->Name, and its nonblocking one fn->Iname. */
#define PF_LOCAL_COLLECTIVES(X)                                                                              \
    X(Barrier, barrier)                                                                                      \
    X(Bcast, bcast)                                                                                          \
    X(Gather, gather)                                                                                        \
    X(Gatherv, gatherv)                                                                                      \
    X(Scatter, scatter)                                                                                      \
    X(Scatterv, scatterv)                                                                                    \
    X(Allgather, allgather)                                                                                  \
    X(Allgatherv, allgatherv)                                                                                \
    X(Alltoall, alltoall)                                                                                    \
    X(Alltoallv, alltoallv)                                                                                  \
    X(Alltoallw, alltoallw)                                                                                  \
    X(Reduce, reduce)                                                                                        \
    X(Allreduce, allreduce)                                                                                  \
    X(Scan, scan)                                                                                            \
    X(Exscan, exscan)                                                                                        \
    X(Reduce_scatter_block, reduce_scatter_block)                                                            \
    X(Reduce_scatter, reduce_scatter)

/* X(Name, name): those that make a communicator. */
#define PF_LOCAL_COMM_MAKERS(X)                                                                              \
    X(Comm_dup, comm_dup)                                                                                    \
    X(Comm_create, comm_create)                                                                              \
    X(Comm_create_group, comm_create_group)                                                                  \
    X(Comm_split, comm_split)                                                                                \
    X(Cart_create, cart_create)                                                                              \
    X(Graph_create, graph_create)                                                                            \
    X(Dist_graph_create, dist_graph_create)                                                                  \
    X(Dist_graph_create_adjacent, dist_graph_create_adjacent)
