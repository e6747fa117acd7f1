/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "lowlevel/engine/engine.h"
#include "middleware/core/rank.h"

/*
 * A rank that is blocked in one implementation progresses its operations in the others. SMPI's progress by
 * itself, on SimGrid's activities. Open MPI, over each of its stacks, needs calls (values->needs_progress):
 * for each such implementation a helper actor of the rank makes them, woken by the NIC, while the rank is
 * inside another one. It costs no simulated time of its own.
 */
struct pf_helper {
    struct pf_waiter wake; /* it waits for work here */
    struct pf_waiter idle; /* the rank waits here until the helper has left the implementation */
    bool busy;             /* it is inside the implementation */
    bool rank_waits;
    bool work; /* the implementation was called, or the NIC has changed, since its last pass */
};

struct pf_progress {
    struct pf_helper *of[PF_IMPL_COUNT]; /* NULL: not served */
    bool changed;                        /* the NIC has changed since the rank looked, see wait_mixed.c */
    struct pf_waiter *mixed; /* the rank itself waits for requests of several owners, see wait_mixed.c */
};

/* Called by the adapter's notification (on_progress): the NIC of the rank has changed for this
 * implementation. In engine context. */
void pf_progress_notify(void *rank, int impl);

/* The slow path of pf_progress_guard. */
void pf_progress_enter(struct pf_rank *r, int impl);

/* Before the rank enters an implementation: never while the helper runs, and never leaving an implementation
 * that needs progress alone with work. */
static inline void pf_progress_guard(struct pf_rank *r, int impl)
{
    if (__builtin_expect(r->progress != NULL, 0))
        pf_progress_enter(r, impl);
}

/* From now on a helper of the rank looks after this implementation, before the rank calls it first. */
void pf_progress_serve(struct pf_rank *r, int impl);

/* The structure of a rank, made at first use. */
struct pf_progress *pf_progress_of(struct pf_rank *r);
