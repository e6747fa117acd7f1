/* SPDX-License-Identifier: BSD-3-Clause */
/* What an access does to memory, and what its end completes. */
#include "adapters/analytic/rma/memory/window.h"

#include <math.h>
#include <string.h>

static struct pf_pool accesses = PF_POOL(struct an_access);

struct an_access *an_access_new(void)
{
    struct an_access *a = pf_pool_get(&accesses);
    memset(a, 0, sizeof *a);
    return a;
}

void an_flow_note(struct an_flow *flow, double safe, double acknowledged)
{
    if (safe > flow->safe)
        flow->safe = safe;
    if (acknowledged > flow->acknowledged)
        flow->acknowledged = acknowledged;
}

/* One pending operation less; wakes the rank when it waits for the last one. */
void an_flow_end(struct an_window *win, struct an_flow *flow)
{
    if (--flow->pending == 0 && win->awaited == flow)
        an_rank_notify(win->rank, pf_engine_now());
}

void an_flow_await_answers(struct an_window *win, const struct an_flow *flow)
{
    struct an_rank *rank = win->rank;
    an_rank_pay_call(rank);
    if (flow->pending > 0) {
        win->awaited = flow;
        an_rank_await(rank, 1, an_now(rank));
        win->awaited = NULL;
    }
}

void an_flow_await(struct an_window *win, struct an_flow *flow, bool safe)
{
    an_flow_await_answers(win, flow);
    an_window_reach(win, safe ? flow->safe : flow->acknowledged);
}

void an_access_discard(struct an_access *a)
{
    an_layout_drop(&a->there);
    an_layout_drop(&a->here);
    if (a->payload)
        an_data_give_back(a->payload, a->payload_class);
    pf_pool_put(&accesses, a);
}

void an_access_work(struct an_access *a)
{
    if (a->answers)
        an_layout_read(&a->there, a->payload + a->sent, a->bytes);
    switch (a->action) {
    case AN_PUT:
        an_layout_write(&a->there, a->payload, a->bytes);
        break;
    case AN_ACCUMULATE:
        if (a->op == MPI_REPLACE)
            an_layout_write(&a->there, a->payload, a->bytes);
        else
            an_layout_combine(&a->there, a->payload, a->bytes, a->op, a->basic);
        break;
    case AN_SWAP: /* the payload: the value to compare with, then the new one */
        if (memcmp(a->there.at, a->payload, a->bytes) == 0)
            memcpy(a->there.at, a->payload + a->bytes, a->bytes);
        break;
    case AN_GET:
        break;
    }
}

void an_access_answer(struct an_access *a)
{
    struct an_window *win = a->win;
    if (a->payload)
        an_layout_write(&a->here, a->payload + a->sent, a->bytes);
    if (a->request)
        an_request_settle(a->request, a->is_long ? fmax(pf_engine_now(), a->data.safe) : pf_engine_now());
    an_flow_end(win, &a->peer->flow);
    an_flow_end(win, &win->all);
}
