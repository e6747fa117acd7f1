/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PF_MIDDLEWARE_ENVELOPE_H
#define PF_MIDDLEWARE_ENVELOPE_H

#include <stdbool.h>
#include <stdint.h>

struct pf_ledger_side;

/* The native tag of a message that has the application's own. */
#define PF_LEDGER_PLAIN (-1)

/* One side of a message whose other side has not been seen yet: a posted receive or a send. */
struct pf_envelope {
    struct pf_envelope *next, *prev;           /* of the queue, in the order of the calls */
    struct pf_envelope *lane_next, *lane_prev; /* of the same lane, in the same order */
    struct pf_ledger_side *side;               /* whom to tell when it is taken; NULL: nobody asks any more */
    uint64_t order;
    int source, tag;             /* the application's; of a receive also wildcards */
    int found_source, found_tag; /* of a receive that has completed before it could be settled */
    int native_tag;              /* or PF_LEDGER_PLAIN */
    int sender;                  /* of a send: rank in the world */
    int fn;
    int8_t impl;
    bool resolved; /* found_... are known */
    bool held;     /* MPI_Cancel was called for it, and what became of it is not known yet */
    const void *site;
};

struct pf_envelope_lane {
    struct pf_envelope *first, *last;
};

/*
 * Envelopes in the order of the calls. A long queue also has lanes by source, so that looking for one source
 * does not walk past all others; receives from any source have a lane of their own.
 */
struct pf_envelope_queue {
    struct pf_envelope_lane all;
    struct pf_envelope_lane *lanes; /* NULL while the queue is short */
    int mask;
    int count;
};

/* From the pool and back: no malloc on the way of a message. */
struct pf_envelope *pf_envelope_new(void);
void pf_envelope_free(struct pf_envelope *envelope);

/* Puts it where its order belongs: mostly the end. `sources`: how many there can be. */
void pf_envelope_insert(struct pf_envelope_queue *queue, struct pf_envelope *envelope, int sources);
void pf_envelope_remove(struct pf_envelope_queue *queue, struct pf_envelope *envelope);

/* The first send that a receive with this source and tag (or wildcards) matches, NULL without one. */
struct pf_envelope *pf_envelope_find_send(const struct pf_envelope_queue *queue, int source, int tag);

/* The first receive that matches a message from `source` with `tag`. */
struct pf_envelope *pf_envelope_find_receive(const struct pf_envelope_queue *queue, int source, int tag);

/* Frees all, and tells nobody. */
void pf_envelope_queue_clear(struct pf_envelope_queue *queue);

#endif
