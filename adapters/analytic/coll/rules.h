/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PF_ADAPTERS_ANALYTIC_COLL_RULES_H
#define PF_ADAPTERS_ANALYTIC_COLL_RULES_H

#include "adapters/analytic/coll/schedule.h"

/* coll/tuned's fixed rules per kind, and those for operations that do not commute. */
extern const struct pf_rule pf_allreduce_ordered_rules[];
extern const struct pf_rule pf_allreduce_rules[];
extern const struct pf_rule pf_reduce_ordered_rules[];
extern const struct pf_rule pf_reduce_rules[];
extern const struct pf_rule pf_reduce_scatter_rules[];
extern const struct pf_rule pf_reduce_scatter_block_rules[];
extern const struct pf_rule pf_alltoall_rules[];
extern const struct pf_rule pf_alltoallv_rules[];
extern const struct pf_rule pf_barrier_rules[];
extern const struct pf_rule pf_bcast_rules[];
extern const struct pf_rule pf_allgather_rules[];
extern const struct pf_rule pf_allgatherv_rules[];
extern const struct pf_rule pf_gather_rules[];
extern const struct pf_rule pf_scatter_rules[];
extern const struct pf_rule pf_first_rules[];

/* libnbc's choice for a call. */
int pf_nonblocking_first(const struct pf_coll_call *call);
int pf_nonblocking_barrier(const struct pf_coll_call *call);
int pf_nonblocking_bcast(const struct pf_coll_call *call);
int pf_nonblocking_scatter(const struct pf_coll_call *call);
int pf_nonblocking_allgather(const struct pf_coll_call *call);
int pf_nonblocking_reduce(const struct pf_coll_call *call);
int pf_nonblocking_allreduce(const struct pf_coll_call *call);
int pf_nonblocking_reduce_scatter(const struct pf_coll_call *call);

#endif
