/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PF_ADAPTERS_ANALYTIC_P2P_H
#define PF_ADAPTERS_ANALYTIC_P2P_H

#include "adapters/analytic/engine/engine.h"

/* Fill the table of native functions. */
void an_p2p_install(struct pf_own_fn *fn);
void an_wait_install(struct pf_own_fn *fn);
void an_probe_install(struct pf_own_fn *fn);

/* The error code of SMPI for such arguments of a call. */
int an_check_peer(MPI_Comm comm, int peer, int tag, bool receives);

/* Blocks until all of several requests are done; for none, does nothing. */
void an_wait_all(int n, MPI_Request handles[]);

#endif
