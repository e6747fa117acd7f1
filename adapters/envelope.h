/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/*
 * The matching engine: queues of sends and of receives whose other side has not been seen, in the order of
 * the calls. The ledger of the middleware and the analytic model share it. Wildcards have the middleware's
 * values.
 */
#define PF_ENVELOPE_ANY_SOURCE (-1)
#define PF_ENVELOPE_ANY_TAG    (-2)

/* One side of a message: a posted receive or a send. Embedded in what its owner knows about it. */
struct pf_envelope {
    struct pf_envelope *next, *prev; /* of the queue, by `order` */
    struct {
        struct pf_envelope *next, *prev;
    } lane[2]; /* by source and by tag, in the same order */
    uint64_t order;
    int source, tag; /* of a receive also wildcards */
};

struct pf_envelope_list {
    struct pf_envelope *first, *last;
};

/*
 * Envelopes in the order of the calls. A long queue also has lanes by source and by tag, as many as it has
 * envelopes, so that looking for one does not walk past all others; wildcards have lanes of their own.
 */
struct pf_envelope_queue {
    struct pf_envelope_list all;
    struct pf_envelope_list *lanes[2];
    int lane_bits; /* 0 while the queue is short */
    int count;
};

/* Puts it where its order belongs: mostly the end. */
void pf_envelope_insert(struct pf_envelope_queue *queue, struct pf_envelope *envelope);
void pf_envelope_remove(struct pf_envelope_queue *queue, struct pf_envelope *envelope);

/* The first one that matches: of sends, for a receive with this source and tag (or wildcards); of receives,
 * for a message. NULL without one. */
struct pf_envelope *pf_envelope_find(const struct pf_envelope_queue *queue, int source, int tag);

/* The last one of this source, NULL without one. */
struct pf_envelope *pf_envelope_last_of(const struct pf_envelope_queue *queue, int source);

/* Hands all envelopes to `release`, which frees them, and frees what the queue itself has. */
void pf_envelope_queue_clear(struct pf_envelope_queue *queue, void (*release)(struct pf_envelope *));
