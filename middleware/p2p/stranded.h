/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdio.h>

#include "middleware/core/job_state.h"

struct pf_request;

/*
 * With -agree strict, messages whose two sides are in different models never meet. In runs that can switch
 * the middleware notes what each rank was sent and what it received, so that a run that stops can say which
 * message is stranded and where.
 */
void pf_stranded_note_sent(struct pf_rank *r, struct pf_instance *in, MPI_Comm comm, int peer, int tag);
void pf_stranded_note_received(struct pf_rank *r, struct pf_instance *in, struct pf_comm *comm, int source,
                               int tag);

static inline void pf_stranded_sent(struct pf_rank *r, struct pf_instance *in, MPI_Comm comm, int peer,
                                    int tag)
{
    if (__builtin_expect(pf_job_state.strict, 0) && peer >= 0)
        pf_stranded_note_sent(r, in, comm, peer, tag);
}

/* A receive request has completed. */
void pf_stranded_received(struct pf_rank *r, struct pf_instance *in, const struct pf_request *request);

/* Prints one line per message that waits in another model than its receiver. Returns their number. */
int pf_stranded_print(FILE *out);

/* A blocking receive from `source` (or a wildcard) has completed. */
void pf_call_received(struct pf_rank *r, struct pf_instance *in, MPI_Comm comm, int source,
                      const void *native, MPI_Status *status);
