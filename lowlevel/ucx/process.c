/* SPDX-License-Identifier: BSD-3-Clause */
/* Processes: where they wait, what wakes them, and what a runtime asks of them. */
#include "base/memory.h"
#include "lowlevel/platform/platform.h"
#include "lowlevel/trace/trace.h"
#include "lowlevel/ucx/internal.h"

static struct ucx_process **processes; /* by rank */
static int process_capacity;
static void (*pay[PF_UCX_USERS])(pf_self_t *self, double seconds);

struct ucx_process *ucx_process_of(pf_self_t *self, enum pf_ucx_user user)
{
    if (self->ucx[user])
        return self->ucx[user];
    pf_config_load();
    pf_engine_start();
    pf_trace_process(self);
    struct ucx_process *process = pf_calloc(1, sizeof *process);
    process->self = self;
    process->user = user;
    process->nic = pf_nic_get(pf_platform_node(self->host));
    process->service = pf_nic_serves(self->rank);
    process->reacts = UCX_NO_NETWORK;
    pf_waiter_init(&process->waiter);
    int place = self->rank * PF_UCX_USERS + (int)user;
    PF_ARRAY_REACH(processes, process_capacity, place);
    processes[place] = process;
    self->ucx[user] = process;
    return process;
}

struct ucx_process *ucx_process_find(int rank, enum pf_ucx_user user)
{
    int place = rank * PF_UCX_USERS + (int)user;
    return rank >= 0 && place < process_capacity ? processes[place] : NULL;
}

void ucx_process_pay(struct ucx_process *process, double seconds)
{
    if (pay[process->user] && seconds > 0 && !process->free_mode && !process->pretence)
        pay[process->user](process->self, seconds);
}

void ucx_process_copy(struct ucx_process *process, size_t length)
{
    double bw = pf_ucx_settings()->bcopy_bw;
    ucx_process_pay(process, bw > 0 ? (double)length / bw : 0);
}

void ucx_process_wake(struct ucx_process *process)
{
    process->idle = 0;
    if (process->polls)
        pf_waiter_wake(&process->waiter);
    else if (process->notify)
        process->notify(process->notify_arg);
}

/* One of its actors is inside at a time: never two that wait. */
void ucx_process_queue(struct ucx_process *process)
{
    while (process->queued_commands >= pf_config.nic_command_queue) {
        process->queues = true;
        pf_waiter_park(&process->waiter);
        process->queues = false;
    }
}

/* A poll found nothing. Nothing that it can see happens before something comes. */
void ucx_process_idle(struct ucx_process *process)
{
    if (++process->idle < pf_config.idle_passes || process->idle < process->least_idle)
        return;
    process->polls = true;
    pf_waiter_park(&process->waiter);
    process->polls = false;
}

/* runtime.h */

void pf_ucx_free_mode(pf_self_t *self, enum pf_ucx_user user, bool on)
{
    ucx_process_of(self, user)->free_mode = on;
}

void pf_ucx_enter(pf_self_t *self, enum pf_ucx_user user, int network)
{
    self->ucx[user]->idle = 0;
    pf_ucx_network_use(self, user, network);
}

int pf_ucx_network_use(pf_self_t *self, enum pf_ucx_user user, int network)
{
    int before = self->ucx[user]->network;
    self->ucx[user]->network = (uint8_t)network;
    self->ucx[user]->reacts = UCX_NO_NETWORK;
    return before;
}

int pf_ucx_network_now(const pf_self_t *self, enum pf_ucx_user user)
{
    return self->ucx[user]->network;
}

void pf_ucx_idle_reset(pf_self_t *self, enum pf_ucx_user user)
{
    self->ucx[user]->idle = 0;
}

void pf_ucx_idle_at_least(pf_self_t *self, enum pf_ucx_user user, long passes)
{
    self->ucx[user]->least_idle = passes;
}

void pf_ucx_set_notify(pf_self_t *self, enum pf_ucx_user user, void (*fn)(void *arg), void *arg)
{
    self->ucx[user]->notify = fn;
    self->ucx[user]->notify_arg = arg;
}

void pf_ucx_set_pay(enum pf_ucx_user user, void (*fn)(pf_self_t *self, double seconds))
{
    pay[user] = fn;
}

void pf_ucx_pretend(pf_self_t *self, enum pf_ucx_user user, const struct pf_ucx_pretence *pretence)
{
    self->ucx[user]->pretence = pretence;
}

void pf_ucx_counters(const pf_self_t *self, struct pf_ucx_counters *out)
{
    *out = (struct pf_ucx_counters){0};
    for (int user = 0; user < PF_UCX_USERS; user++) {
        if (!self->ucx[user])
            continue;
        const struct pf_ucx_counters *c = &self->ucx[user]->counters;
        out->sends_short += c->sends_short;
        out->sends_bcopy += c->sends_bcopy;
        out->sends_zcopy += c->sends_zcopy;
        out->sends_rndv += c->sends_rndv;
        out->unexpected += c->unexpected;
    }
}
