/* SPDX-License-Identifier: BSD-3-Clause */
/* Holds messages back while too many are on their way. */
#include "lowlevel/nic/window.h"

#include <string.h>

#include "base/config.h"
#include "base/memory.h"
#include "base/pool.h"

struct pf_window {
    int in_flight;
    struct pf_nic_message *first, *last; /* those that wait */
    void (*go)(struct pf_nic_message *m);
};

/* One way back of permission to send. */
struct credit {
    struct pf_event event;
    struct pf_window *window;
};
static struct pf_pool credits = PF_POOL(struct credit);

struct row {
    struct pf_window **windows; /* by destination */
    int count;
};
static struct row *rows; /* by source */
static int row_count;

enum scope { SCOPE_NODE, SCOPE_PROCESS, SCOPE_PAIR };

static enum scope read_scope(void)
{
    return strcmp(pf_config.nic_flow_control, "node") == 0   ? SCOPE_NODE
           : strcmp(pf_config.nic_flow_control, "pair") == 0 ? SCOPE_PAIR
                                                             : SCOPE_PROCESS;
}

static struct pf_window *window_of(const struct pf_transfer *t)
{
    static int scope = -1;
    if (scope < 0)
        scope = (int)read_scope();
    /* A message to a process that does not exist has destination -1. */
    int src = scope == SCOPE_PAIR ? t->src_process + 1 : t->src;
    int dst = scope == SCOPE_NODE ? t->dst : t->dst_process + 1;
    PF_ARRAY_REACH(rows, row_count, src);
    struct row *row = &rows[src];
    PF_ARRAY_REACH(row->windows, row->count, dst);
    if (!row->windows[dst]) {
        row->windows[dst] = pf_calloc(1, sizeof(struct pf_window));
    }
    return row->windows[dst];
}

static void go_on(struct pf_window *window, struct pf_nic_message *m)
{
    window->in_flight++;
    m->window = window;
}

bool pf_window_enter(struct pf_nic_message *m, void (*go)(struct pf_nic_message *m))
{
    struct pf_window *window = window_of(&m->transfer);
    if (!window->first && window->in_flight < pf_config.nic_max_in_flight) {
        go_on(window, m);
        return true;
    }
    window->go = go;
    m->next = NULL;
    if (window->first)
        window->last->next = m;
    else
        window->first = m;
    window->last = m;
    return false;
}

static void credit_is_back(struct pf_event *event)
{
    struct credit *credit = pf_container_of(event, struct credit, event);
    struct pf_window *window = credit->window;
    pf_pool_put(&credits, credit);
    window->in_flight--;
    while (window->first && window->in_flight < pf_config.nic_max_in_flight) {
        struct pf_nic_message *m = window->first;
        window->first = m->next;
        go_on(window, m);
        window->go(m);
    }
}

void pf_window_leave(struct pf_nic_message *m, double date)
{
    struct credit *credit = pf_pool_get(&credits);
    credit->window = m->window;
    m->window = NULL;
    pf_event_init(&credit->event, credit_is_back);
    pf_engine_post(&credit->event, date);
}
