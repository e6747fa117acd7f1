/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PF_MIDDLEWARE_UPCALLS_H
#define PF_MIDDLEWARE_UPCALLS_H

#include <stddef.h>
#include <stdio.h>

#include "middleware/core/rank.h"

struct pf_call_shape;
struct pf_comm_shared;

/*
 * What lower rooms ask of rooms above them, all of it rarely. Who stands above fills in its slot when the
 * process starts; until then a slot does nothing, and none is NULL.
 */
struct pf_upcalls {
    size_t size;
    /* One line per rank that is blocked, for a livelock; returns their number (process/diagnosis.c). */
    int (*print_blocked)(FILE *out);
    /* The same for a rank that is in a call of an interface beside MPI; whether it was (process/layer.h). */
    bool (*print_layer)(FILE *out, const pf_self_t *self);
    /* The rank has left main(): what the interface beside MPI does then. */
    void (*layer_left)(pf_self_t *self, int status);
    /* An observed call is in the middleware now, its computation before it charged (observing/tracing.c). */
    void (*entered)(struct pf_rank *r);
    /* The rank has left the model `from` for another one (observing/tracing.c). */
    void (*switched)(struct pf_rank *r, enum pf_model from);
    /* The rank begins a phase (observing/recording.c). */
    void (*phase)(struct pf_rank *r, const char *name);
    /* A rank whose cursor watches is about to communicate, before the schedule is asked
     * (sampling/sampling.c). */
    void (*communicates)(struct pf_rank *r, const struct pf_call_shape *shape);
    /* The rank is in a phase now; MPI_Pcontrol(7) begins "pcontrol:7" (sampling/sampling.c). */
    void (*entered_phase)(struct pf_rank *r, const char *name);
    /* The last member of a watched communicator has released it (check/collectives.c). */
    void (*comm_ends)(struct pf_comm_shared *shared);
};

extern struct pf_upcalls pf_upcalls;

#endif
