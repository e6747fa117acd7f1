/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI_Probe and MPI_Iprobe. The ledger says which message they are about, the first that was sent and not
 * taken; the model in which it travels says whether it is there. In the plain mode, and without the ledger,
 * the implementation answers both.
 */
#include "middleware/p2p/ledger.h"
#include "middleware/comm/routing.h"

/* A rank in a blocking probe for which there is no message yet. */
struct pf_ledger_prober {
    struct pf_waiter waiter;
    int source, tag;
};

void pf_ledger_wake(struct pf_ledger_mailbox *mailbox, const struct pf_ledger_entry *send)
{
    struct pf_ledger_prober *prober = mailbox->prober;
    if (prober && (prober->source == send->envelope.source || prober->source == MPI_ANY_SOURCE) &&
        (prober->tag == send->envelope.tag || prober->tag == MPI_ANY_TAG))
        pf_waiter_wake(&prober->waiter);
}

/* An instance that reports events: while the rank waits for a message, it is as if inside. There is one,
 * because with SMPI alone the ledger is not probed. */
static struct pf_instance *reporting(struct pf_rank *r)
{
    int impl = 0;
    while (!r->instances[impl] || r->instances[impl]->values->no_upcalls)
        impl++;
    return r->instances[impl];
}

/* The rank is in no implementation, so its operations are its helper's, as while it is in SMPI. */
static void park(struct pf_rank *r, struct pf_ledger_mailbox *mailbox, int source, int tag)
{
    struct pf_ledger_prober prober = {.source = source, .tag = tag};
    struct pf_instance *in = reporting(r);
    pf_call_settle(r);
    pf_waiter_init(&prober.waiter);
    pf_compute_charge(r);
    in->ops->enter(in);
    pf_progress_guard(r, PF_IMPL_COUNT);
    r->call.model = PF_MODEL_COUNT;
    if (!pf_ledger_find_send(mailbox, source, tag)) { /* time may have passed */
        mailbox->prober = &prober;
        pf_waiter_park(&prober.waiter);
        mailbox->prober = NULL;
    }
    r->call.model = PF_MODEL_NONE;
    in->ops->leave(in);
    pf_waiter_destroy(&prober.waiter);
}

struct pf_ledger_entry *pf_ledger_await(struct pf_rank *r, struct pf_ledger_mailbox *mailbox, int source,
                                        int tag)
{
    struct pf_ledger_entry *send;
    while (!(send = pf_ledger_find_send(mailbox, source, tag)))
        park(r, mailbox, source, tag);
    return send;
}

struct pf_ledger_mailbox *pf_ledger_probe_mailbox(struct pf_rank *r, MPI_Comm handle, int source, int tag)
{
    struct pf_comm *comm = pf_comm_of(r, handle);
    bool valid = pf_ledger_on && comm &&
                 (source == MPI_ANY_SOURCE || (source >= 0 && source < pf_comm_peers(comm))) &&
                 (tag >= 0 || tag == MPI_ANY_TAG);
    return valid ? pf_ledger_own_mailbox(comm) : NULL;
}

int pf_probe_native(struct pf_rank *r, struct pf_instance *in, int source, int tag, pf_native_comm_t comm,
                    union pf_native_status *status)
{
    for (;;) {
        int code = in->fn->Probe(source, tag, comm, status);
        if (code != PF_PROBE_AGAIN)
            return code;
        pf_call_probe_again(r, in);
    }
}

/* Looks once, or until it is there (flag NULL). */
static int look(struct pf_rank *r, struct pf_instance *in, const struct pf_ledger_route *at, int *flag,
                union pf_native_status *status)
{
    int peer = pf_native_rank(in, at->peer), tag = pf_native_tag(in, at->tag);
    pf_call_native_begin(r, in);
    pf_native_comm_t comm = pf_native(in, at->comm);
    if (flag)
        return in->fn->Iprobe(peer, tag, comm, flag, status);
    return pf_probe_native(r, in, peer, tag, comm, status);
}

/* What a look in vain takes decides how often a waiting program looks: it must be the same as in a run
 * without the ledger. SMPI sleeps before it looks, and longer each time, which would delay what is sent
 * meanwhile. */
int pf_ledger_found_nothing(struct pf_rank *r, struct pf_instance *in, const struct pf_ledger_route *at,
                            int *flag)
{
    union pf_native_status status = {0};
    int code = MPI_SUCCESS;
    if (in->values->charges_tests) {
        pf_call_native_begin(r, in);
        in->ops->idle(in);
    } else {
        code = look(r, in, at, flag, &status);
    }
    *flag = 0;
    pf_call_idle(r, in);
    return pf_call_leave(r, in, at->comm, code);
}

static int probe(struct pf_rank *r, int source, int tag, MPI_Comm handle, int *flag, MPI_Status *status)
{
    if (!pf_comm_of(r, handle)) /* Open MPI would end the job, whatever the error handler is */
        return pf_call_error(r, handle, MPI_ERR_COMM);
    pf_call_schedule(r, false);
    struct pf_instance *in = pf_comm_route(r, handle);
    struct pf_ledger_mailbox *mailbox = pf_ledger_probe_mailbox(r, handle, source, tag), *plain = NULL;
    struct pf_ledger_route at = {source, tag, handle};
    union pf_native_status native = {0};
    bool known = mailbox && mailbox->exact;
    pf_call_peer(r, source, tag, handle);
    if (known) {
        struct pf_ledger_entry *send = NULL;
        if (!flag)
            send = pf_ledger_await(r, mailbox, source, tag);
        else if (!(send = pf_ledger_find_send(mailbox, source, tag)))
            return pf_ledger_found_nothing(r, in, &at, flag);
        at = pf_ledger_place(pf_comm_of(r, handle), send);
        source = send->envelope.source;
        tag = send->envelope.tag;
        in = pf_ledger_follow(r, handle, send->model);
    } else if (mailbox) {
        plain = mailbox;
        in = pf_ledger_plain(r, handle);
        plain->held++;
    }
    int code = look(r, in, &at, flag, status ? &native : NULL);
    if (plain)
        plain->held--;
    if (code == MPI_SUCCESS && flag && !*flag) {
        pf_call_idle(r, in);
    } else if (code == MPI_SUCCESS && status) {
        pf_status_from_probe(in, &native, status);
        if (known) {
            status->MPI_SOURCE = source;
            status->MPI_TAG = tag;
        }
    }
    return pf_call_leave(r, in, handle, code);
}

int pf_PMPI_Probe(int source, int tag, MPI_Comm comm, MPI_Status *status)
{
    return probe(PF_ENTER(Probe), source, tag, comm, NULL, status);
}

int pf_PMPI_Iprobe(int source, int tag, MPI_Comm comm, int *flag, MPI_Status *status)
{
    struct pf_rank *r = PF_ENTER(Iprobe);
    if (!flag)
        return pf_call_error(r, comm, MPI_ERR_ARG);
    return probe(r, source, tag, comm, flag, status);
}
