/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "middleware/p2p/ledger.h"

/*
 * A message that a probe has taken out of matching. It belongs to the implementation that holds it. Open MPI
 * has such messages; SMPI has not: there the middleware receives the bytes at once, into memory of its own,
 * and delivers them later.
 */
struct pf_message {
    struct pf_object object;
    struct pf_instance *owner;
    pf_native_message_t native; /* of Open MPI */
    struct pf_comm *comm;       /* with a reference */
    int source, tag;
    struct pf_ledger_side side;    /* one whose native tag the ledger has given: received by it, later */
    pf_native_request_t receiving; /* in SMPI */
    char *bytes;
    int size;
};

/* A new message that the probe with that native status has found. */
struct pf_message *pf_message_new(struct pf_instance *in, struct pf_comm *comm, const void *native_status);
void pf_message_release(struct pf_message *message);

/* SMPI: starts to receive what was probed. Returns the native code. */
int pf_message_start(struct pf_message *message);

/* SMPI: waits for the bytes and copies them to where they belong. Returns the middleware's error class. */
int pf_message_deliver(struct pf_rank *r, struct pf_message *message, void *buffer, int count,
                       MPI_Datatype datatype, MPI_Status *status);

/* SMPI: the same as a request that the middleware completes. */
struct pf_request *pf_message_deliver_later(struct pf_rank *r, struct pf_message *message, void *buffer,
                                            int count, MPI_Datatype datatype);
