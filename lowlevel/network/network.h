/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "lowlevel/engine/engine.h"

/*
 * What lies between two NICs. Nodes are numbered as in platform/platform.h. Every function runs in engine
 * context (an event function) or in an actor that may not block; the upcalls of a transfer run in engine
 * context.
 */

/* What a message is, for observers; the network does not care. */
enum pf_transfer_kind {
    PF_TRANSFER_PUT,
    PF_TRANSFER_GET,
    PF_TRANSFER_ATOMIC,
    PF_TRANSFER_FETCH,       /* fetch-atomic */
    PF_TRANSFER_SWAP,        /* swaps of all kinds */
    PF_TRANSFER_REPLY,       /* data of a get */
    PF_TRANSFER_FETCH_REPLY, /* data of a fetch-atomic */
    PF_TRANSFER_SWAP_REPLY,  /* data of a swap */
    PF_TRANSFER_ACK,         /* Portals acknowledgement */
    PF_TRANSFER_E2E_ACK,     /* BXI acknowledgement, between two NICs */
};

/* One message on its way. The NIC embeds it, fills the first part and keeps it until `last` or `lost`. */
struct pf_transfer {
    int src, dst;                 /* nodes; equal: through the NIC's loopback */
    double bytes;                 /* on the wire, headers included */
    bool streams;                 /* a DMA: bytes move at the pace of both host buses too */
    uint8_t vn;                   /* virtual network, PF_VN_... */
    uint8_t kind;                 /* enum pf_transfer_kind */
    uint8_t network;              /* by which it goes: number, see pf_network_find() */
    int src_process, dst_process; /* ranks, for observers; -1: none */

    void (*first)(struct pf_transfer *t); /* the header is at the destination; of a transfer that does not
                                             stream: all of it */
    void (*sent)(struct pf_transfer *t);  /* the payload is out of the source, or will leave it without fail;
                                             may come in inject() */
    void (*last)(struct pf_transfer *t);  /* the last byte is at the destination */
    void (*lost)(struct pf_transfer *t);  /* it will not arrive, though it may have been sent */

    double start; /* when it entered the network, set by pf_network_inject() */
    /* For a layer stacked on the network: its record of this transfer. In inject() it may put upcalls of its
     * own into the slots above; they call the ones that were there. */
    void *layer;
    struct pf_chain *path; /* why it entered the network, NULL unless paths are followed; then also: */
    int waited_at;         /* struct pf_chain_message.link, */
    uint8_t routes;        /* and from where that is known; both set by the network before `last` */

    /* The network's own. */
    struct pf_event event;
    void *route;
    void *state;
    double last_date;
    bool failed;
};

/* Virtual networks: messages of one keep their order from a node to a node, and do not wait for another's. */
enum { PF_VN_RESPONSE = 1, PF_VN_SERVICE = 2, PF_VN_COUNT = 4 };

struct pf_route_info {
    double latency;   /* s, of the first byte */
    double bandwidth; /* B/s, of one transfer alone */
    int hops;
};

struct pf_network_ops {
    size_t size; /* of this structure, for versions to come */
    const char *name;

    /* Whether `bytes` for dst can enter the network at src now, in this virtual network: each has its own
     * buffers, so that requests that wait never hold up responses. When not, `credit(arg)` is called once,
     * in engine context, when it is worth asking again. */
    bool (*can_inject)(int src, int dst, int vn, double bytes, void (*credit)(void *arg), void *arg);
    /* Starts the transfer at the present date. */
    void (*inject)(struct pf_transfer *t);
    /* Forgets a transfer; no upcall follows. */
    void (*cancel)(struct pf_transfer *t);
    /* Whether the transfer has failed. */
    bool (*failed)(const struct pf_transfer *t);
    void (*route_info)(int src, int dst, struct pf_route_info *info);
    /* For a network with a clock of its own: the date of its next event (negative: none), and the order to
     * run up to a date. Networks that use the engine's events return -1 and do nothing. */
    double (*next_event)(void);
    void (*advance_to)(double date);
    /* The destination's NIC acknowledges t, whose last byte has come: `bytes` go back to t's source in the
     * response network. There is no upcall at the arrival: returns its date, or a negative number when the
     * acknowledgement is lost. */
    double (*acknowledge)(const struct pf_transfer *t, double bytes);
};

/* Fillers for slots that an instance, also one outside the library, does not need. */
PF_EXPORT bool pf_network_no_limit(int src, int dst, int vn, double bytes, void (*credit)(void *arg),
                                   void *arg);
PF_EXPORT double pf_network_no_event(void);
/* Takes the time of an empty way back, and loads nothing. */
PF_EXPORT double pf_network_plain_acknowledge(const struct pf_transfer *t, double bytes);
PF_EXPORT void pf_network_no_advance(double date);

extern const struct pf_network_ops pf_network_flow;
extern const struct pf_network_ops pf_network_ideal;
extern const struct pf_network_ops pf_network_packet;
extern const struct pf_network_ops pf_network_external;
extern const struct pf_network_ops pf_network_ends; /* for model analytic, where something needs a NIC */

/*
 * Several networks live in one process, each with links and a state of its own; a transfer names the one that
 * it takes. What keeps the order of two transfers that take different ones is the NIC (nic/order.h).
 */
enum { PF_NETWORK_DEFAULT, PF_NETWORK_LIMIT = 5 };

/* The number of a network by its name, -1 for an unknown one. The configured one is PF_NETWORK_DEFAULT. */
PF_EXPORT int pf_network_find(const char *name);

/* The default network: the configured one, or what pf_network_use() has set before the first transfer (tests,
 * external simulators). */
PF_EXPORT const struct pf_network_ops *pf_network(void);
PF_EXPORT void pf_network_use(const struct pf_network_ops *ops);

/* A network by its number, NULL beyond the last one; and what takes its place, such as a layer on it. */
const struct pf_network_ops *pf_network_get(int number);
void pf_network_replace(int number, const struct pf_network_ops *ops);

/* That of a transfer. */
const struct pf_network_ops *pf_network_of(const struct pf_transfer *t);

/* Injects the transfer into its network and keeps one with its own clock running. */
void pf_network_inject(struct pf_transfer *t);

/* What follows in the running event happens because the transfer has come so far (engine/chain.h). */
void pf_network_travelled(const struct pf_transfer *t);
