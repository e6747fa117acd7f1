/* SPDX-License-Identifier: BSD-3-Clause */
/* The default upcalls, without upper layers. */
#include "middleware/core/upcalls.h"

#include <stdint.h>

static bool print_no_layer(FILE *out, const pf_self_t *self)
{
    return false;
}

static void ignore_left(pf_self_t *self, int status)
{
}

static void ignore_entered(struct pf_rank *r)
{
}

static bool ignore_computed(struct pf_rank *r, const void *site, bool asks)
{
    return false;
}

static void ignore_switched(struct pf_rank *r, enum pf_model from)
{
}

static void ignore_phase(struct pf_rank *r, const char *name)
{
}

static void ignore_call(struct pf_rank *r, const struct pf_call_shape *shape)
{
}

static void ignore_comm(struct pf_comm_shared *shared)
{
}

static char *same_name(const char *name)
{
    return (char *)(uintptr_t)name;
}

static struct pf_check_note *ignore_side(struct pf_rank *r, const struct pf_ledger_side *side, int source)
{
    return NULL;
}

static void ignore_notes(struct pf_check_note *send, struct pf_check_note *receive)
{
}

static void ignore_note(struct pf_check_note *note)
{
}

static void ignore_end(void)
{
}

static MPI_Errhandler fatal_errhandler(struct pf_rank *r, MPI_Comm *comm)
{
    return MPI_ERRORS_ARE_FATAL;
}

static int no_rank(void)
{
    return -1;
}

struct pf_upcalls pf_upcalls = {.size = sizeof pf_upcalls,
                                .print_layer = print_no_layer,
                                .layer_left = ignore_left,
                                .entered = ignore_entered,
                                .rank_of_thread = no_rank,
                                .looks_at_signals = ignore_end,
                                .computed = ignore_computed,
                                .switched = ignore_switched,
                                .phase = ignore_phase,
                                .communicates = ignore_call,
                                .entered_phase = ignore_phase,
                                .file_name = same_name,
                                .comm_ends = ignore_comm,
                                .posted = ignore_side,
                                .met = ignore_notes,
                                .note_released = ignore_note,
                                .stuck = ignore_end,
                                .fatal = ignore_phase,
                                .errhandler_of = fatal_errhandler};
