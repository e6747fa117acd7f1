/* SPDX-License-Identifier: BSD-3-Clause */
/* A layer on the network and on the NIC's client: sees the messages come and go. */
#include <math.h>

#include "base/pool.h"
#include "lowlevel/nic/bus.h"
#include "lowlevel/nic/nic.h"
#include "lowlevel/trace/layers.h"
#include "lowlevel/trace/timeline.h"

/* What is known of a message in flight; pf_transfer.layer points at it. */
struct watch {
    pf_trace_span tx, rx;
    uint64_t number; /* of the message */
    struct pf_trace_payload payload;
    const struct pf_transfer *owner; /* a copy of a message carries the original's pointer */
    bool upcalls_taken;
    /* Whose place this layer has taken */
    void (*first)(struct pf_transfer *t);
    void (*last)(struct pf_transfer *t);
    void (*lost)(struct pf_transfer *t);
    const struct pf_nic_client_ops *client;
};

static struct pf_pool watches = PF_POOL(struct watch);
static const struct pf_network_ops *below[PF_NETWORK_LIMIT];
static uint64_t messages; /* so far */

static const struct pf_nic_client_ops client_layer;

static struct pf_nic_message *message_of(const struct pf_transfer *t)
{
    return pf_container_of(t, struct pf_nic_message, transfer);
}

/* A repeated message that has been delivered already comes to no client; there is no upcall at its end. */
static bool has_client(const struct pf_transfer *t)
{
    return !message_of(t)->ghost;
}

static struct watch *watch_of(struct pf_transfer *t)
{
    struct watch *watch = t->layer;
    if (watch && watch->owner == t)
        return watch;
    watch = pf_pool_get(&watches);
    *watch = (struct watch){.owner = t};
    if (has_client(t)) {
        watch->client = message_of(t)->client;
        message_of(t)->client = &client_layer;
    }
    t->layer = watch;
    return watch;
}

struct pf_trace_payload *pf_trace_payload(const struct pf_transfer *t)
{
    return t ? &watch_of((struct pf_transfer *)(uintptr_t)t)->payload : NULL;
}

static void end(pf_trace_span *span, enum pf_trace_outcome outcome)
{
    pf_timeline_end(*span, pf_engine_now(), outcome);
    *span = 0;
}

static void give_upcalls_back(struct watch *watch, struct pf_transfer *t)
{
    t->first = watch->first;
    t->last = watch->last;
    t->lost = watch->lost;
    watch->upcalls_taken = false;
}

/* The message has another owner from here on. */
static void forget(struct watch *watch, struct pf_transfer *t)
{
    end(&watch->tx, PF_TRACE_UNFINISHED);
    end(&watch->rx, PF_TRACE_UNFINISHED);
    end(&watch->payload.read, PF_TRACE_UNFINISHED);
    end(&watch->payload.write, PF_TRACE_UNFINISHED);
    if (watch->upcalls_taken)
        give_upcalls_back(watch, t);
    if (watch->client)
        message_of(t)->client = watch->client;
    t->layer = NULL;
    watch->owner = NULL;
    pf_pool_put(&watches, watch);
}

static enum pf_trace_type type_of(const struct pf_transfer *t)
{
    switch ((enum pf_transfer_kind)t->kind) {
    case PF_TRANSFER_PUT:
        return PF_TRACE_PUT;
    case PF_TRANSFER_GET:
        return PF_TRACE_GET;
    case PF_TRANSFER_ATOMIC:
        return PF_TRACE_ATOMIC;
    case PF_TRANSFER_FETCH:
        return PF_TRACE_FETCH_ATOMIC;
    case PF_TRANSFER_SWAP:
        return PF_TRACE_SWAP;
    case PF_TRANSFER_REPLY:
        return PF_TRACE_GET_RESPONSE;
    case PF_TRANSFER_FETCH_REPLY:
        return PF_TRACE_FETCH_ATOMIC_RESPONSE;
    case PF_TRANSFER_SWAP_REPLY:
        return PF_TRACE_SWAP_RESPONSE;
    case PF_TRANSFER_ACK:
        return PF_TRACE_PTL_ACK;
    case PF_TRANSFER_E2E_ACK:
        return PF_TRACE_BXI_ACK;
    }
    return PF_TRACE_PUT;
}

static void describe(const struct pf_transfer *t, struct pf_trace_record *out)
{
    *out = (struct pf_trace_record){
        .type = type_of(t),
        .track = PF_TRACE_TX,
        .from = {t->src, t->src_process},
        .to = {t->dst, t->dst_process},
        .start = pf_engine_now(),
        .bytes = message_of(t)->payload,
        .wire_bytes = (uint64_t)t->bytes,
        .attempt = message_of(t)->losses + 1,
        .message = messages,
    };
}

static void first(struct pf_transfer *t)
{
    struct watch *watch = t->layer;
    struct pf_trace_record what;
    describe(t, &what);
    what.track = PF_TRACE_RX;
    what.message = watch->number;
    what.arrived = true;
    pf_timeline_arrived(watch->tx);
    end(&watch->rx, PF_TRACE_UNFINISHED);
    watch->rx = pf_timeline_begin(&what);
    watch->first(t);
}

static void last(struct pf_transfer *t)
{
    struct watch *watch = t->layer;
    void (*up)(struct pf_transfer *) = watch->last;
    give_upcalls_back(watch, t);
    end(&watch->tx, PF_TRACE_DONE);
    if (!has_client(t) || !message_of(t)->taken)
        end(&watch->rx, PF_TRACE_DONE); /* the NIC has refused it: nothing more happens to it there */
    if (!has_client(t))
        forget(watch, t);
    up(t);
}

static void lost(struct pf_transfer *t)
{
    struct watch *watch = t->layer;
    void (*up)(struct pf_transfer *) = watch->lost;
    give_upcalls_back(watch, t);
    end(&watch->tx, PF_TRACE_LOST);
    end(&watch->rx, PF_TRACE_LOST);
    end(&watch->payload.read, PF_TRACE_LOST);
    end(&watch->payload.write, PF_TRACE_LOST);
    if (!has_client(t))
        forget(watch, t);
    up(t);
}

static void inject(struct pf_transfer *t)
{
    struct watch *watch = watch_of(t);
    struct pf_trace_record what;
    watch->number = ++messages;
    describe(t, &what);
    watch->tx = pf_timeline_begin(&what);
    watch->first = t->first;
    watch->last = t->last;
    watch->lost = t->lost;
    watch->upcalls_taken = true;
    t->first = first;
    t->last = last;
    t->lost = lost;
    below[t->network]->inject(t);
}

/* The acknowledgement between the NICs: the network computes its arrival at once. */
static double acknowledge(const struct pf_transfer *t, double bytes)
{
    double now = pf_engine_now(), date = below[t->network]->acknowledge(t, bytes);
    struct pf_trace_record what = {
        .type = PF_TRACE_BXI_ACK,
        .track = PF_TRACE_TX,
        .outcome = date < 0.0 ? PF_TRACE_LOST : PF_TRACE_DONE,
        .from = {t->dst, t->dst_process},
        .to = {t->src, t->src_process},
        .start = now,
        .end = date < 0.0 ? now : date,
        .wire_bytes = (uint64_t)bytes,
        .attempt = 1,
        .message = ++messages,
        .arrived = date >= 0.0,
    };
    pf_timeline_add(&what);
    if (!what.arrived)
        return date;
    what.track = PF_TRACE_RX;
    what.start = date;
    pf_timeline_add(&what);
    return date;
}

static void cancel(struct pf_transfer *t)
{
    below[t->network]->cancel(t);
    struct watch *watch = t->layer;
    if (watch && watch->owner == t)
        forget(watch, t);
}

static void client_buffered(struct pf_nic_message *m)
{
    struct watch *watch = m->transfer.layer;
    watch->client->buffered(m);
}

static void client_sent(struct pf_nic_message *m)
{
    struct watch *watch = m->transfer.layer;
    watch->client->sent(m);
}

/* Writing a stream takes time where the bus gives streams a rate at all. */
static bool bus_limits_streams(void)
{
    return isfinite(pf_bus()->stream_rate());
}

/* From here on a stream writes to memory as it comes. */
static void client_match(struct pf_nic_message *m)
{
    struct watch *watch = m->transfer.layer;
    watch->client->match(m);
    if (!m->transfer.streams || m->accepted == 0 || !bus_limits_streams())
        return;
    int node = m->transfer.dst;
    struct pf_trace_party place = {node, m->transfer.dst_process};
    struct pf_trace_record what = {.type = PF_TRACE_PAYLOAD_WRITE,
                                   .track = PF_TRACE_PCIE,
                                   .from = place,
                                   .to = place,
                                   .to_memory = true,
                                   .start = pf_engine_now(),
                                   .bytes = m->accepted};
    watch->payload.write = pf_timeline_begin(&what);
}

static void client_complete(struct pf_nic_message *m)
{
    struct watch *watch = m->transfer.layer;
    end(&watch->rx, PF_TRACE_DONE);
    forget(watch, &m->transfer);
    m->client->complete(m);
}

static void client_lost(struct pf_nic_message *m)
{
    forget(m->transfer.layer, &m->transfer);
    m->client->lost(m);
}

static void client_vanished(struct pf_nic_message *m)
{
    forget(m->transfer.layer, &m->transfer);
    m->client->vanished(m);
}

static const struct pf_nic_client_ops client_layer = {
    .size = sizeof(struct pf_nic_client_ops),
    .buffered = client_buffered,
    .sent = client_sent,
    .match = client_match,
    .complete = client_complete,
    .lost = client_lost,
    .vanished = client_vanished,
};

void pf_trace_stack_network(void)
{
    static struct pf_network_ops layers[PF_NETWORK_LIMIT];
    for (int i = 0; pf_network_get(i); i++) {
        below[i] = pf_network_get(i);
        layers[i] = *below[i]; /* what this layer has no interest in goes straight on */
        layers[i].inject = inject;
        layers[i].cancel = cancel;
        layers[i].acknowledge = acknowledge;
        pf_network_replace(i, &layers[i]);
    }
}
