/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/* Per node: its host and the processes that use its NIC. It outlives the platform, for what is written at the
 * end. */

void pf_trace_place_host(int node, const char *name);
/* "" when it is not set. */
const char *pf_trace_host_name(int node);

/* A process uses the NIC of a node. */
void pf_trace_place_process(int node, int rank);
/* The rank of a node; -1 when there are several, or none. */
int pf_trace_rank_of_node(int node);
