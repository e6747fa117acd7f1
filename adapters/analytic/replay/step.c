/* SPDX-License-Identifier: BSD-3-Clause */
/* The operations of a recorded job as steps between the stops of a rank: the native functions of MPI, taken
 * apart where these block. */
#include "adapters/analytic/replay/replay.h"

#include <string.h>

#include "adapters/analytic/collective/collective.h"
#include "adapters/analytic/p2p/p2p.h"
#include "base/memory.h"

static const struct an_op *op_of(const struct an_player *p)
{
    return &p->program->ops[p->at];
}

static void next(struct an_player *p)
{
    p->at++;
    p->stage = AN_BEGIN;
}

static struct an_send send_of(struct an_player *p, const struct an_op *op)
{
    p->program->messages++;
    p->program->bytes += op->bytes;
    return (struct an_send){p->rank->world, NULL, (int)op->bytes, MPI_BYTE, op->peer, op->tag, op->mode};
}

static struct an_request *receive(struct an_player *p, const struct an_op *op)
{
    int source = op->peer == PF_ENVELOPE_ANY_SOURCE ? MPI_ANY_SOURCE : op->peer;
    int tag = op->tag == PF_ENVELOPE_ANY_TAG ? MPI_ANY_TAG : op->tag;
    return an_start_receive(p->rank->world, NULL, (int)op->bytes, MPI_BYTE, source, tag);
}

static bool await(struct an_player *p, struct an_request *request, enum an_stage then)
{
    p->request = request;
    p->stage = then;
    return an_request_must_await(request);
}

static int finish(struct an_request *request)
{
    MPI_Request handle = (MPI_Request)request;
    return an_request_finish(&handle, NULL);
}

/* MPI_Send and its like. */
static bool begin_send(struct an_player *p, const struct an_op *op)
{
    struct an_send send = send_of(p, op);
    struct an_request *request = NULL;
    p->date = an_message_send(&send, &request);
    if (request)
        return await(p, request, AN_SENT);
    p->stage = AN_OUTLAST;
    return an_rank_must_reach(p->rank, p->date);
}

static void sent(struct an_player *p)
{
    an_request_awaited(p->request);
    p->date = p->request->done_at;
    pf_cost_inflow_set(&p->rank->inflow, &p->request->inflow);
    finish(p->request);
    p->stage = AN_OUTLAST;
}

static void wait_for(struct an_player *p, struct an_request *request)
{
    if (p->waited_count == p->waited_room) {
        MPI_Request *own = p->waited == p->few ? NULL : p->waited;
        p->waited_room *= 2;
        own = pf_reallocarray(own, (size_t)p->waited_room, sizeof *own);
        if (p->waited == p->few)
            memcpy(own, p->few, sizeof p->few);
        p->waited = own;
    }
    if (request)
        p->waited[p->waited_count++] = (MPI_Request)request;
}

static bool begin_wait_all(struct an_player *p)
{
    if (p->waited_count == 0) {
        next(p);
        return false;
    }
    p->stage = AN_WAITED_ALL;
    return an_must_wait_all(p->rank, p->waited_count, p->waited);
}

struct an_request an_slot_sent;

static struct an_request *take(struct an_player *p, unsigned slot)
{
    struct an_request *request = p->slots[slot].request;
    p->slots[slot].request = NULL;
    if (request != &an_slot_sent)
        return request;
    request = an_request_new(p->rank, AN_SEND);
    request->done_at = p->slots[slot].done_at;
    return request;
}

static bool begin_isend(struct an_player *p, const struct an_op *op)
{
    struct an_send send = send_of(p, op);
    struct an_request *request = NULL;
    double done_at = an_message_send(&send, &request);
    bool moves = request || p->rank->inflow.node;
    if (moves && !request)
        request = an_send_request(&send);
    if (moves) {
        request->done_at = done_at;
        pf_cost_inflow_set(&request->inflow, &p->rank->inflow);
    }
    p->slots[op->slot] = (struct an_slot){moves ? request : &an_slot_sent, done_at};
    next(p);
    return an_rank_must_pace(p->rank);
}

/* The second operation of an exchange is the send; a side without a partner is not there. */
static bool begin_exchange(struct an_player *p, const struct an_op *op)
{
    p->waited_count = 0;
    struct an_request *in = op->peer == PF_NO_PEER ? NULL : receive(p, op);
    p->at++;
    op++;
    if (op->peer != PF_NO_PEER) {
        struct an_send send = send_of(p, op);
        wait_for(p, an_start_send(&send));
    }
    wait_for(p, in);
    return begin_wait_all(p);
}

static bool begin(struct an_player *p, const struct an_op *op, double *flops)
{
    struct an_request *request;
    switch ((enum an_op_kind)op->kind) {
    case AN_OP_COMPUTE:
        next(p);
        if (!p->computes && !op->mode)
            return false;
        *flops = op->flops;
        return true;
    case AN_OP_SEND:
        return begin_send(p, op);
    case AN_OP_ISEND:
        return begin_isend(p, op);
    case AN_OP_RECEIVE:
        return await(p, receive(p, op), AN_AWAITED);
    case AN_OP_IRECEIVE:
        p->slots[op->slot] = (struct an_slot){receive(p, op), 0};
        an_rank_pay_call(p->rank);
        next(p);
        return an_rank_must_pace(p->rank);
    case AN_OP_EXCHANGE:
        return begin_exchange(p, op);
    case AN_OP_WAIT:
        request = take(p, op->slot);
        p->waited_count = 0;
        if (request && !op->mode && !an_job_reads())
            return await(p, request, AN_AWAITED);
        wait_for(p, request);
        return begin_wait_all(p);
    case AN_OP_WAIT_ALL:
        p->waited_count = 0;
        for (uint32_t i = 0; i < op->count; i++)
            wait_for(p, take(p, (unsigned)p->program->numbers[op->at + i]));
        return begin_wait_all(p);
    case AN_OP_COLLECTIVE:
        p->stage = AN_ENTER;
        return an_rank_must_settle(p->rank);
    }
    return false;
}

static MPI_Datatype type_of(int size)
{
    return size == 1 ? MPI_BYTE : size == 2 ? MPI_SHORT : size == 4 ? MPI_INT : MPI_DOUBLE;
}

/* The arguments of a native call, see collective/calls.c. */
static bool enter(struct an_player *p, const struct an_op *op)
{
    const int *numbers = &p->program->numbers[op->at], *counts = numbers + AN_COLL_COUNTS;
    enum pf_coll_kind kind = (enum pf_coll_kind)numbers[AN_COLL_KIND];
    struct an_part part = {.root = numbers[AN_COLL_ROOT],
                           .send_count = numbers[AN_COLL_SENT],
                           .receive_count = numbers[AN_COLL_RECEIVED],
                           .send_type = type_of(numbers[AN_COLL_SENT_SIZE]),
                           .receive_type = type_of(numbers[AN_COLL_RECEIVED_SIZE])};
    if (kind == PF_COLL_SCATTERV || kind == PF_COLL_ALLTOALLV)
        part.send_counts = part.send_displs = counts;
    if (kind == PF_COLL_ALLTOALLV)
        counts += an_job.size;
    if (kind == PF_COLL_GATHERV || kind == PF_COLL_ALLGATHERV || kind == PF_COLL_REDUCE_SCATTER ||
        kind == PF_COLL_ALLTOALLV)
        part.receive_counts = part.receive_displs = counts;
    return await(p, an_collective_enter(p->rank->world, &part, kind, false), AN_AWAITED);
}

static int finish_all(struct an_player *p)
{
    int result = MPI_SUCCESS;
    for (int i = 0; i < p->waited_count; i++) {
        int error = an_request_finish(&p->waited[i], NULL);
        result = error ? error : result;
    }
    return result;
}

bool an_player_step(struct an_player *p, double *flops)
{
    int error = MPI_SUCCESS;
    switch (p->stage) {
    case AN_BEGIN:
        if (p->at == p->program->op_count) {
            p->stage = AN_OVER;
            return an_rank_must_settle(p->rank);
        }
        p->program->calls += op_of(p)->kind != AN_OP_COMPUTE;
        return begin(p, op_of(p), flops);
    case AN_ENTER:
        return enter(p, op_of(p));
    case AN_AWAITED:
        an_request_awaited(p->request);
        if (p->request->kind == AN_COLLECTIVE &&
            an_rank_must_outlast(p->rank, p->request->done_at, &p->request->inflow))
            return true;
        error = finish(p->request);
        break;
    case AN_SENT:
        sent(p);
        return false;
    case AN_OUTLAST:
        if (an_rank_must_outlast(p->rank, p->date, &p->rank->inflow))
            return true;
        break;
    case AN_WAITED_ALL:
        if (an_must_wait_on(p->rank, p->waited_count, p->waited))
            return true;
        error = finish_all(p);
        break;
    case AN_OVER:
    case AN_FAILED:
        return true;
    }
    if (error)
        p->stage = AN_FAILED;
    else
        next(p);
    return error;
}
