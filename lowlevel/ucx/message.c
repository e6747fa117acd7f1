/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages: memory for them, and their way through both NICs to a worker's queue. */
#include "lowlevel/ucx/internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/pool.h"
#include "lowlevel/network/traffic.h"

static struct pf_pool messages = PF_POOL(struct ucx_message);

/* What precedes the data on the wire, or is all there is. */
static const size_t header_bytes[] = {[UCX_EAGER] = PF_UCX_EAGER_HEADER,
                                      [UCX_RTS] = PF_UCX_RTS_BYTES,
                                      [UCX_RTR] = PF_UCX_RTR_BYTES,
                                      [UCX_DATA] = PF_UCX_PIECE_HEADER,
                                      [UCX_PIECE] = PF_UCX_PIECE_HEADER,
                                      [UCX_DONE] = PF_UCX_DONE_BYTES,
                                      [UCX_FETCH] = 0,
                                      [UCX_AM] = PF_UCX_EAGER_HEADER,
                                      [UCX_WRITE] = 0,
                                      [UCX_READ] = 0,
                                      [UCX_ATOMIC] = 0};

struct ucx_message *ucx_message_new(enum ucx_kind kind, struct ucp_worker *from, struct ucp_worker *to)
{
    struct ucx_message *m = pf_pool_get(&messages);
    const struct ucx_process *process = from->process;
    memset(m, 0, sizeof *m);
    m->kind = kind;
    m->from = from;
    m->to = m->place = to;
    m->nic.transfer.network = process->reacts != UCX_NO_NETWORK ? process->reacts : process->network;
    return m;
}

void ucx_message_free(struct ucx_message *m)
{
    free(m->bytes);
    pf_chain_drop(&m->path);
    pf_pool_put(&messages, m);
}

struct ucx_message *ucx_message_answer(enum ucx_kind kind, const struct ucx_message *cause)
{
    struct ucx_message *m = ucx_message_new(kind, cause->to, cause->from);
    m->nic.transfer.network = cause->nic.transfer.network;
    m->send = cause->send;
    m->recv = cause->recv;
    m->ep = cause->ep;
    m->length = cause->length;
    return m;
}

static struct ucx_message *of_nic(struct pf_nic_message *nic)
{
    return pf_container_of(nic, struct ucx_message, nic);
}

/* The processor sees it when the NIC's notice has crossed PCIe. */
static void arrived(struct pf_event *event)
{
    struct ucx_message *m = pf_container_of(event, struct ucx_message, arrival);
    struct ucp_worker *worker = m->place;
    if (worker->closed) {
        ucx_message_free(m);
        return;
    }
    if (__builtin_expect(pf_chain_on, 0))
        m->path = pf_chain_copy();
    m->next = NULL;
    if (worker->last)
        worker->last->next = m;
    else
        worker->first = m;
    worker->last = m;
    ucx_process_wake(worker->process);
}

static void arrive_at(struct ucx_message *m, double date)
{
    pf_event_init(&m->arrival, arrived);
    pf_engine_post_in(&m->place->deliveries, &m->arrival, date);
}

static void arrive(struct ucx_message *m, double date)
{
    arrive_at(m, pf_nic_event_date(m->place->process->nic, date));
}

static const struct pf_nic_client_ops nic_client;

static void address(struct ucx_message *m, enum pf_nic_kind kind, enum pf_transfer_kind shown)
{
    struct ucx_process *from = m->from->process, *to = m->to->process;
    m->nic.client = &nic_client;
    m->nic.src = from->nic;
    m->nic.dst = to->nic;
    m->nic.kind = kind;
    m->nic.service = from->service;
    m->nic.transfer.kind = (uint8_t)shown;
    m->nic.transfer.src_process = from->self->rank;
    m->nic.transfer.dst_process = to->self->rank;
}

/* The NIC of the receiver acknowledges what it has written: the sender's buffer is free. */
static void acknowledge(const struct ucx_message *m, double date)
{
    struct ucx_message *ack = ucx_message_answer(UCX_DONE, m);
    address(ack, PF_NIC_ACK, PF_TRANSFER_ACK);
    pf_nic_submit(&ack->nic, date);
}

/* The same structure brings the data of a read. */
static void reply(struct ucx_message *m)
{
    struct ucp_worker *reader = m->from;
    m->from = m->to;
    m->to = m->place = reader;
    address(m, PF_NIC_REPLY, m->kind == UCX_ATOMIC ? PF_TRANSFER_FETCH_REPLY : PF_TRANSFER_REPLY);
    m->nic.in_command = false;
    m->nic.payload = m->length;
    pf_traffic_count(m->nic.transfer.src_process, m->nic.transfer.dst_process, m->length);
    pf_nic_submit(&m->nic, m->nic.done_date);
}

static void buffered(struct pf_nic_message *nic)
{
}

/* The data of a reply have left the sender's memory. */
static void sent(struct pf_nic_message *nic)
{
    struct ucx_message *m = of_nic(nic);
    if (nic->kind == PF_NIC_REPLY && !m->place->closed)
        memcpy(m->target, m->source, m->length);
}

static void match(struct pf_nic_message *nic)
{
    nic->accepted = nic->kind == PF_NIC_GET ? 0 : nic->payload;
}

/* A message that the NIC of the target ends by itself, in memory. */
static bool is_access(const struct ucx_message *m, enum pf_nic_kind kind)
{
    return m->kind == UCX_WRITE || (m->kind == UCX_ATOMIC && kind == PF_NIC_PUT);
}

static bool fetches(const struct ucx_message *m)
{
    return m->kind == UCX_ATOMIC && m->target;
}

static void change_memory(struct ucx_message *m)
{
    if (m->kind == UCX_ATOMIC)
        ucx_atomic_apply(m);
    else
        memcpy(m->target, m->bytes ? m->bytes : m->source, m->length);
}

static void memory_changed(struct pf_event *event)
{
    struct ucx_message *notice = pf_container_of(event, struct ucx_message, arrival);
    ucx_process_wake(notice->to->process);
    ucx_message_free(notice);
}

/* Its processor may look at the memory that its NIC has changed by then. */
static void notify_target(const struct ucx_message *m, double date)
{
    if (!m->to->process->looks_at_memory)
        return;
    struct ucx_message *notice = ucx_message_new(m->kind, m->from, m->to);
    pf_event_init(&notice->arrival, memory_changed);
    pf_engine_post_in(&m->to->deliveries, &notice->arrival, date);
}

static void complete(struct pf_nic_message *nic)
{
    struct ucx_message *m = of_nic(nic);
    bool access = is_access(m, nic->kind);
    if (access) {
        change_memory(m);
        notify_target(m, nic->done_date);
    }
    if (nic->kind == PF_NIC_GET || (access && fetches(m))) {
        reply(m);
        return;
    }
    if (m->acked || access)
        acknowledge(m, nic->done_date);
    if (access)
        ucx_message_free(m);
    else
        arrive(m, nic->done_date);
}

static void lost(struct pf_nic_message *nic)
{
    const struct ucx_message *m = of_nic(nic);
    pf_die(
        "rank %d: UCX has lost a message to rank %d: the network has stopped delivering, or loses messages "
        "without PARFOCAL_NIC_E2E, and UCX has no error handler in Open MPI",
        m->from->process->self->rank, m->to->process->self->rank);
}

static const struct pf_nic_client_ops nic_client = {
    .size = sizeof nic_client,
    .buffered = buffered,
    .sent = sent,
    .match = match,
    .complete = complete,
    .lost = lost,
    .vanished = lost,
};

static void queue_moved(struct pf_nic_message *nic)
{
    struct ucx_process *process = of_nic(nic)->from->process;
    if (process->queues && process->queued_commands <= pf_config.nic_command_queue * 3 / 4)
        pf_waiter_wake(&process->waiter);
}

/* While a library starts, which may be in the middle of a run, messages take no time: no NIC sees them. */
static void pass(struct ucx_message *m, bool reads)
{
    double now = pf_engine_now();
    bool access = is_access(m, PF_NIC_PUT);
    if (access) {
        change_memory(m);
        notify_target(m, now);
    }
    if (reads || (access && fetches(m))) {
        memcpy(m->target, m->source, m->length);
        struct ucp_worker *reader = m->from;
        m->from = m->to;
        m->to = m->place = reader;
        access = false;
    } else if (m->acked || access) {
        arrive_at(ucx_message_answer(UCX_DONE, m), now);
    }
    if (access)
        ucx_message_free(m);
    else
        arrive_at(m, now);
}

static enum pf_transfer_kind shown_as(const struct ucx_message *m, bool reads)
{
    if (m->kind == UCX_ATOMIC)
        return fetches(m) ? PF_TRANSFER_FETCH : PF_TRANSFER_ATOMIC;
    return reads ? PF_TRANSFER_GET : PF_TRANSFER_PUT;
}

void ucx_message_post(struct ucx_message *m)
{
    struct ucx_process *process = m->from->process;
    bool reads = m->kind == UCX_FETCH || m->kind == UCX_READ;
    if (process->free_mode) {
        pass(m, reads);
        return;
    }
    ucx_process_queue(process);
    address(m, reads ? PF_NIC_GET : PF_NIC_PUT, shown_as(m, reads));
    m->nic.payload = reads ? 0 : header_bytes[m->kind] + m->part;
    m->nic.in_command = !reads && pf_nic_in_command(m->nic.payload, false, true);
    if (!reads)
        pf_traffic_count(process->self->rank, m->nic.transfer.dst_process, m->nic.payload);
    process->queued_commands++;
    m->nic.queue_count = &process->queued_commands;
    m->nic.queue_moved = queue_moved;
    pf_nic_command(&m->nic, false);
}
