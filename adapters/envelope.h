/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PF_ADAPTERS_ENVELOPE_H
#define PF_ADAPTERS_ENVELOPE_H

#include <stdbool.h>
#include <stdint.h>

/*
 * The matching engine: queues of sends and of receives whose other side has not been seen, in the order of
 * the calls. The ledger of the middleware and the analytic model share it. Wildcards have the hub's values.
 */
#define PF_ENVELOPE_ANY_SOURCE (-1)
#define PF_ENVELOPE_ANY_TAG    (-2)

/* One side of a message: a posted receive or a send. Embedded in what its owner knows about it. */
struct pf_envelope {
    struct pf_envelope *next, *prev;           /* of the queue, by `order` */
    struct pf_envelope *list_next, *list_prev; /* of the same list, in the same order */
    uint64_t order;
    int source, tag; /* of a receive also wildcards */
};

struct pf_envelope_list {
    struct pf_envelope *first, *last;
};

/*
 * Envelopes in the order of the calls. A long queue also has lists by source, so that looking for one source
 * does not walk past all others; receives from any source have a list of their own.
 */
struct pf_envelope_queue {
    struct pf_envelope_list all;
    struct pf_envelope_list *lists; /* NULL while the queue is short */
    int mask;
    int count;
};

/* Puts it where its order belongs: mostly the end. `sources`: how many there can be. */
void pf_envelope_insert(struct pf_envelope_queue *queue, struct pf_envelope *envelope, int sources);
void pf_envelope_remove(struct pf_envelope_queue *queue, struct pf_envelope *envelope);

/* The first send that a receive with this source and tag (or wildcards) matches, NULL without one. */
struct pf_envelope *pf_envelope_find_send(const struct pf_envelope_queue *queue, int source, int tag);

/* The last one of this source, NULL without one. */
struct pf_envelope *pf_envelope_last_of(const struct pf_envelope_queue *queue, int source);

/* The first receive that matches a message from `source` with `tag`. */
struct pf_envelope *pf_envelope_find_receive(const struct pf_envelope_queue *queue, int source, int tag);

/* Hands all envelopes to `release`, which frees them, and frees what the queue itself has. */
void pf_envelope_queue_clear(struct pf_envelope_queue *queue, void (*release)(struct pf_envelope *));

#endif
