/* SPDX-License-Identifier: BSD-3-Clause */
/* The upcalls as they are while nobody is above. */
#include "middleware/core/upcalls.h"

static int print_nobody(FILE *out)
{
    (void)out;
    return 0;
}

static bool print_no_layer(FILE *out, const pf_self_t *self)
{
    (void)out, (void)self;
    return false;
}

static void ignore_left(pf_self_t *self, int status)
{
    (void)self, (void)status;
}

static void ignore_entered(struct pf_rank *r)
{
    (void)r;
}

static void ignore_switched(struct pf_rank *r, enum pf_model from)
{
    (void)r, (void)from;
}

static void ignore_phase(struct pf_rank *r, const char *name)
{
    (void)r, (void)name;
}

static void ignore_call(struct pf_rank *r, const struct pf_call_shape *shape)
{
    (void)r, (void)shape;
}

static void ignore_comm(struct pf_comm_shared *shared)
{
    (void)shared;
}

struct pf_upcalls pf_upcalls = {.size = sizeof pf_upcalls,
                                .print_blocked = print_nobody,
                                .print_layer = print_no_layer,
                                .layer_left = ignore_left,
                                .entered = ignore_entered,
                                .switched = ignore_switched,
                                .phase = ignore_phase,
                                .communicates = ignore_call,
                                .entered_phase = ignore_phase,
                                .comm_ends = ignore_comm};
