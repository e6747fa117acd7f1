/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "middleware/core/job_state.h"

/* The begin and the end of the ranks of the process. */

/* Creates the rank states at the first MPI call of the process, from that rank's actor. */
void pf_job_create_ranks(void);

/* The calling actor is this rank from now on: its account, its communicators, the models that the user asked
 * for. */
void pf_job_start_rank(struct pf_rank *r);

/* The implementation that is there from the start lets no rank go on before all of them, of all jobs, have
 * begun: for a rank that is not to begin now, it does here. From its actor. */
void pf_job_start_early(void);

/* The identity of the calling rank for a program that calls Portals before MPI_Init, or without it; NULL for
 * other actors. */
pf_self_t *pf_job_identify(void);

/* The calling rank's main() is over. Says so when MPI_Finalize is missing: the others may wait for it for
 * ever. */
void pf_job_rank_left(int status);
