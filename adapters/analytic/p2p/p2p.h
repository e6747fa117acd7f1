/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "adapters/analytic/engine/engine.h"

/* Fill the table of native functions. */
void an_p2p_install(struct pf_own_fn *fn);
void an_wait_install(struct pf_own_fn *fn);
void an_probe_install(struct pf_own_fn *fn);

/* The error code of SMPI for such arguments of a call. */
int an_check_peer(MPI_Comm comm, int peer, int tag, bool receives);

/* Blocks until all of several requests are done; for none, does nothing. */
void an_wait_all(int n, MPI_Request handles[]);

/* The same in steps, for a rank without a stack, of requests one of which at least is active: the beginning,
 * and what is asked after each stop until it is false. See an_rank_must_settle(). */
bool an_must_wait_all(struct an_rank *rank, int n, MPI_Request handles[]);
bool an_must_wait_on(struct an_rank *rank, int n, MPI_Request handles[]);

/* Starts a send or a receive whose arguments are right and whose partner is a rank. */
struct an_request *an_start_send(const struct an_send *send);
struct an_request *an_start_receive(struct an_comm *comm, void *buffer, int count, MPI_Datatype type,
                                    int source, int tag);
