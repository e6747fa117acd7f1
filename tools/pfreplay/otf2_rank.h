/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/log.h"
#include "tools/pfreplay/otf2.h"
#include "tools/pfreplay/text.h"

/* One rank of an archive whose events are being read. */

/* A nonblocking operation that has not been completed. */
struct open_request {
    uint64_t self;
    int number;
    long fields; /* where its end is to be written; -1: nothing */
    int room;    /* of a collective: so many characters; of a message: 0 */
};

struct rank {
    struct otf2_definitions *all;
    struct replay_text *text;
    int number;
    double since; /* ticks at the end of the last MPI call; -1 before MPI_Init */
    const char *function;
    int depth; /* of MPI calls in each other */
    struct open_request *requests;
    int request_count, request_room, next;
    int *completed; /* in the call that is going on */
    int completed_count, completed_room;
    struct {
        bool is;
        uint32_t partner, tag;
        uint64_t bytes;
        OTF2_CommRef comm;
    } sent, received; /* in an MPI_Sendrecv */
    bool begun, ended, messages;
    bool flushed; /* a flush stands in the call that is going on */
};

static inline _Noreturn void otf2_refuse(const struct rank *rank, const char *what)
{
    pf_die("%s: rank %d, in %s: %s", rank->all->path, rank->number,
           rank->function ? rank->function : "no MPI function", what);
}

/* The records of one-sided communication. */
void otf2_set_rma_callbacks(OTF2_EvtReaderCallbacks *callbacks);
