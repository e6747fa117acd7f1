/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "middleware/core/rank.h"

/* Only one implementation has the user's buffer at a time. A buffered send in another one first takes it away
 * from the holder, which blocks until the holder's messages have left, as MPI_Buffer_detach does (MPI 3.1
 * section 3.6). */
void pf_bsend_prepare(struct pf_rank *r, struct pf_instance *in);

/* With the ledger in force (ledger.h) the model of each message may be another one, and the buffer cannot
 * move for each: the holder's messages may have to wait for a receiver that waits for this one. So the
 * middleware copies the message and sends the copy; `r->buffered` has those under way. */
bool pf_bsend_must_copy(struct pf_rank *r, MPI_Comm comm, int dest, int tag);

/* The rest of a buffered send, whose request (NULL for a blocking call) is complete at once. */
int pf_bsend_copied(struct pf_rank *r, const void *buffer, int count, MPI_Datatype datatype, int dest,
                    int tag, MPI_Comm comm, MPI_Request *request);

/* Only the sending. Returns the middleware's error class. */
int pf_bsend_copy(struct pf_rank *r, const void *buffer, int count, MPI_Datatype datatype, int dest, int tag,
                  MPI_Comm comm);

/* Waits until all copies have left. */
void pf_bsend_drain(struct pf_rank *r);
