/* SPDX-License-Identifier: BSD-3-Clause */
/* The end: objects that have not been freed, and messages that have not been received. */
#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"
#include "middleware/check/internal.h"
#include "check_names.h" /* by surface/check_names.py */
#include "middleware/datatype/datatype.h"
#include "middleware/core/job_state.h"
#include "middleware/rma/win.h"

/* Ranks that have finalized. */
static int finalized;

static void note_name(struct pf_check_record *record)
{
    const void *handle = (const void *)record->key;
    if (record->kind == PF_KIND_COMM)
        record->name = pf_strdup(((const struct pf_comm *)handle)->name);
    else if (record->kind == PF_KIND_DATATYPE)
        record->name = pf_strdup(((const struct pf_datatype *)handle)->name);
    else if (record->kind == PF_KIND_WIN)
        record->name = pf_strdup(((const struct pf_win *)handle)->name);
}

/* Counts the later objects of the same line of the program, which are reported with this one. */
static int others(const struct pf_check_record *first, struct pf_check_record *const *later)
{
    int count = 0;
    for (; *later; later++) {
        struct pf_check_record *e = *later;
        if (e->references == 0 || e->kind != first->kind || e->made.site != first->made.site ||
            e->active != first->active)
            continue;
        e->reported = true;
        count++;
    }
    return count;
}

/* Of a request for a message: its peer and tag. */
static void message_text(const struct pf_request *request, char *text, size_t size)
{
    const struct pf_persistent *again = request->persistent;
    int peer = again ? again->peer : request->peer, tag = again ? again->tag : request->tag;
    char from[16], which[16];
    if (request->kind != PF_REQUEST_SEND && request->kind != PF_REQUEST_RECV && !again)
        return;
    snprintf(from, sizeof from, peer == MPI_ANY_SOURCE ? "any" : "%d", peer);
    snprintf(which, sizeof which, tag == MPI_ANY_TAG ? "any" : "%d", tag);
    snprintf(text, size, " (%s %s, tag %s)", pf_request_receives(request) ? "from" : "to", from, which);
}

static void report_leak(struct pf_rank *r, struct pf_check_record *const *at)
{
    const struct pf_check_record *record = *at;
    char more[60] = "", which[MPI_MAX_OBJECT_NAME + 4] = "", message[60] = "";
    const struct pf_request *request =
        record->kind == PF_KIND_REQUEST ? pf_object_of((void *)record->key, PF_KIND_REQUEST) : NULL;
    bool named = record->kind != PF_KIND_REQUEST && record->name && *record->name;
    int count = others(record, at + 1);
    if (count > 0)
        snprintf(more, sizeof more, ", and %d more made there", count);
    if (named)
        snprintf(which, sizeof which, " '%s'", record->name);
    if (record->kind == PF_KIND_REQUEST && request)
        message_text(request, message, sizeof message);
    pf_check_found(
        PF_CHECK_LEAK, r, "%s%s%s made by %s is never %s%s%s",
        record->kind != PF_KIND_REQUEST ? ""
        : record->persistent            ? "persistent "
        : record->active                ? "active "
                                        : "",
        pf_check_kind_name(record->kind), which, pf_check_place_text(record->made.fn, record->made.site),
        record->kind == PF_KIND_REQUEST && !record->persistent ? "completed" : "freed", message, more);
}

/* Reports what the rank has not freed. `before`: MPI_Finalize begins, names can still be read. */
static void report_leaks(struct pf_rank *r, bool before)
{
    struct pf_check_record **all = pf_check_all_records(r);
    for (struct pf_check_record **at = all; *at; at++) {
        struct pf_check_record *e = *at;
        if (before && e->gone)
            e->references = 0;
        if (e->references == 0 || e->reported)
            continue;
        if (before)
            note_name(e);
        else
            report_leak(r, at);
    }
    free(all);
}

struct unreceived {
    const struct pf_comm_shared *shared;
    const char *where;
};

static void report_unreceived(const struct pf_ledger_entry *send, int destination, void *data)
{
    const struct unreceived *u = data;
    const struct pf_rank *sender = &pf_job_state.ranks[send->sender];
    char communicator[60];
    bool world = u->shared == sender->world->shared, alone = u->shared == sender->alone->shared;
    snprintf(communicator, sizeof communicator,
             world   ? "MPI_COMM_WORLD"
             : alone ? "MPI_COMM_SELF"
                     : "a communicator of %d ranks",
             u->shared->size);
    pf_check_found(PF_CHECK_UNRECEIVED, sender,
                   "%s: the message to rank %d with tag %d on %s is not received %s",
                   pf_check_place_text(send->fn, send->site), u->shared->world_ranks[destination],
                   send->envelope.tag, communicator, u->where);
}

void pf_check_unreceived(const struct pf_comm_shared *shared, const char *where)
{
    struct unreceived u = {shared, where};
    pf_ledger_unreceived(shared->mailboxes, shared->size, report_unreceived, &u);
}

/* Of all communicators that still exist, each once, by its first member. */
static void all_unreceived(void)
{
    for (int i = 0; i < pf_job_state.size; i++) {
        struct pf_rank *r = &pf_job_state.ranks[i];
        if (i == 0)
            pf_check_unreceived(r->world->shared, "when MPI ends");
        pf_check_unreceived(r->alone->shared, "when MPI ends");
        struct pf_check_record **all = pf_check_all_records(r);
        for (struct pf_check_record **at = all; *at; at++) {
            const struct pf_check_record *e = *at;
            const struct pf_comm *comm = (const struct pf_comm *)e->key;
            if (e->kind != PF_KIND_COMM || e->references == 0 || comm->shared->world_ranks[0] != i)
                continue;
            pf_check_unreceived(comm->shared, "when MPI ends");
            pf_check_incomplete(comm->shared);
        }
        free(all);
    }
}

int pf_check_Finalize(void)
{
    struct pf_check_call call;
    if (!pf_check_enter(&call, PF_FN_Finalize, __builtin_return_address(0)))
        return pf_plain_Finalize();
    report_leaks(call.rank, true);
    pf_check_collective(&call, MPI_COMM_WORLD);
    int code = pf_plain_Finalize();
    if (code == MPI_SUCCESS) {
        report_leaks(call.rank, false);
        if (++finalized == pf_job_state.size) {
            all_unreceived();
            pf_check_waits_end();
        }
    }
    return pf_check_leave(&call, code);
}
