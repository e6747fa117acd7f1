/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stddef.h>
#include <stdio.h>

#include "middleware/core/rank.h"

struct pf_call_shape;
struct pf_check_note;
struct pf_comm_shared;
struct pf_ledger_side;

/*
 * Rare calls of lower layers into upper ones. An upper layer fills in its slot when the process starts; until
 * then a slot does nothing, and none is NULL.
 */
struct pf_upcalls {
    size_t size;
    /* One line for a rank that is in a call of an interface next to MPI; whether it was (process/layer.h). */
    bool (*print_layer)(FILE *out, const pf_self_t *self);
    /* The rank has left main(): what the interface next to MPI does then. */
    void (*layer_left)(pf_self_t *self, int status);
    /* An observed call is in the middleware now, its computation before it charged (observing/tracing.c). */
    void (*entered)(struct pf_rank *r);
    /* The rank that has made the calling thread, -1: of none (process/libc_process.c). */
    int (*rank_of_thread)(void);
    /* A call of a rank that waits for a signal begins (process/libc_alarm.c). */
    void (*looks_at_signals)(void);
    /* The rank's computation before a call ends; `asks`: the call looks whether something is there, or what
     * time it is (compute/compute.c). */
    bool (*computed)(struct pf_rank *r, const void *site, bool asks);
    /* The rank has left the model `from` for another one (observing/tracing.c). */
    void (*switched)(struct pf_rank *r, enum pf_model from);
    /* The rank begins a phase (observing/recording.c). */
    void (*phase)(struct pf_rank *r, const char *name);
    /* A rank whose cursor watches is about to communicate, before the schedule is asked
     * (sampling/sampling.c). */
    void (*communicates)(struct pf_rank *r, const struct pf_call_shape *shape);
    /* The rank is in a phase now; MPI_Pcontrol(7) begins "pcontrol:7" (sampling/sampling.c). */
    void (*entered_phase)(struct pf_rank *r, const char *name);
    /* A file's name as the process must open it for the calling rank: `name`, or one to be freed
     * (process/libc_folder.c). */
    char *(*file_name)(const char *name);
    /* The last member of a watched communicator has released it (check/collectives.c). */
    void (*comm_ends)(struct pf_comm_shared *shared);
    /* A watched rank posts one side of a message; two sides are one message (receive NULL: of a matched
     * probe; one of both NULL: it is not known which); a side is not needed any more (check/waits.c). */
    struct pf_check_note *(*posted)(struct pf_rank *r, const struct pf_ledger_side *side, int source);
    void (*met)(struct pf_check_note *send, struct pf_check_note *receive);
    void (*note_released)(struct pf_check_note *note);
    /* No rank can go on (check/report.c). */
    void (*stuck)(void);
    /* An error of the call that the rank is in is about to end the job (check/report.c). */
    void (*fatal)(struct pf_rank *r, const char *error);
    /* The error handler of a communicator; of what is none, that of MPI_COMM_WORLD, and *comm becomes that
     * (comm/comm_errhandler.c). */
    MPI_Errhandler (*errhandler_of)(struct pf_rank *r, MPI_Comm *comm);
};

extern struct pf_upcalls pf_upcalls;
