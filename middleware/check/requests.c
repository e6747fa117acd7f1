/* SPDX-License-Identifier: BSD-3-Clause */
/* The life of requests: which calls complete them, and which start persistent ones again. */
#include <stdlib.h>
#include <string.h>

#include "middleware/check/internal.h"
#include "check_names.h" /* by surface/check_names.py */
#include "base/memory.h"

void pf_check_made_request(struct pf_check_call *call, MPI_Request request, bool persistent)
{
    struct pf_check_record *record = pf_check_made(call, PF_KIND_REQUEST, request);
    if (!record)
        return;
    record->persistent = persistent;
    for (int i = 0; i < 2; i++) { /* a call that makes a request posts one side */
        record->note = record->note ? record->note : call->notes[i];
        call->notes[i] = NULL;
    }
    record->meeting = call->meeting;
    call->meeting = NULL;
    memcpy(record->ranges, call->ranges, sizeof record->ranges);
    if (!persistent)
        pf_check_use(call->rank, record);
}

/* What is known about the handles of a wait or test call before it. */
struct before {
    struct pf_check_record *few[64], **records;
    int count;
};

static void take(struct pf_check_call *call, struct before *before, int count, const MPI_Request handles[])
{
    uint64_t number = call->rank->check->calls;
    before->count = handles && count > 0 ? count : 0;
    before->records = before->few;
    if (before->count > 64)
        before->records = pf_malloc((size_t)count * sizeof(struct pf_check_record *));
    for (int i = 0; i < before->count; i++) {
        struct pf_check_record *record = pf_check_handle(call, PF_KIND_REQUEST, handles[i]);
        before->records[i] = record;
        if (!record)
            continue;
        if (record->seen == number && !call->refused)
            pf_check_found(PF_CHECK_TWICE, call->rank, "%s has the request made by %s twice in its array",
                           pf_check_place_text(call->fn, call->site),
                           pf_check_place_text(record->made.fn, record->made.site));
        record->seen = number;
    }
}

/* The request is complete. A call that takes what is ready first could have taken another one. */
static void complete(struct pf_check_call *call, struct pf_check_record *record)
{
    if (call->fn == PF_FN_Wait || call->fn == PF_FN_Waitall) {
        pf_check_await(call, &record->note, &record->meeting);
        return;
    }
    pf_check_note_release(record->note);
    pf_check_meeting_release(record->meeting);
    record->note = NULL;
    record->meeting = NULL;
}

/* What the call has done to them. */
static int give(struct pf_check_call *call, struct before *before, const MPI_Request handles[], int code)
{
    for (int i = 0; i < before->count && !call->refused; i++) {
        struct pf_check_record *record = before->records[i];
        if (!record)
            continue;
        bool null = handles[i] == MPI_REQUEST_NULL;
        if (null || (record->persistent && record->active && !pf_request_of(handles[i])->owner))
            complete(call, record);
        if (null)
            pf_check_record_freed(call, record);
        else if (record->persistent && record->active && !pf_request_of(handles[i])->owner)
            pf_check_unuse(call->rank, record);
    }
    if (before->records != before->few)
        free(before->records);
    return call->refused ? pf_check_refuse(call) : pf_check_leave(call, code);
}

/* A call over requests: `count` of them at `handles`; `plain` is the call itself. */
#define COMPLETES(fn, count, handles, plain)                                                                 \
    struct pf_check_call call;                                                                               \
    struct before before;                                                                                    \
    if (!pf_check_enter(&call, PF_FN_##fn, __builtin_return_address(0)))                                     \
        return plain;                                                                                        \
    take(&call, &before, count, handles);                                                                    \
    return give(&call, &before, handles, call.refused ? MPI_SUCCESS : (plain))

int pf_check_Wait(MPI_Request *request, MPI_Status *status)
{
    COMPLETES(Wait, 1, request, pf_plain_Wait(request, status));
}

int pf_check_Test(MPI_Request *request, int *flag, MPI_Status *status)
{
    COMPLETES(Test, 1, request, pf_plain_Test(request, flag, status));
}

int pf_check_Waitall(int count, MPI_Request requests[], MPI_Status statuses[])
{
    COMPLETES(Waitall, count, requests, pf_plain_Waitall(count, requests, statuses));
}

int pf_check_Testall(int count, MPI_Request requests[], int *flag, MPI_Status statuses[])
{
    COMPLETES(Testall, count, requests, pf_plain_Testall(count, requests, flag, statuses));
}

int pf_check_Waitany(int count, MPI_Request requests[], int *index, MPI_Status *status)
{
    COMPLETES(Waitany, count, requests, pf_plain_Waitany(count, requests, index, status));
}

int pf_check_Testany(int count, MPI_Request requests[], int *index, int *flag, MPI_Status *status)
{
    COMPLETES(Testany, count, requests, pf_plain_Testany(count, requests, index, flag, status));
}

int pf_check_Waitsome(int count, MPI_Request requests[], int *done, int indices[], MPI_Status statuses[])
{
    COMPLETES(Waitsome, count, requests, pf_plain_Waitsome(count, requests, done, indices, statuses));
}

int pf_check_Testsome(int count, MPI_Request requests[], int *done, int indices[], MPI_Status statuses[])
{
    COMPLETES(Testsome, count, requests, pf_plain_Testsome(count, requests, done, indices, statuses));
}

/* A send or receive may go on without its request (MPI 3.1 section 3.7.3); a collective may not (5.12),
 * and a program that frees an active persistent request has forgotten to wait, unless no wait is needed. */
static void check_free(struct pf_check_call *call, const MPI_Request *handle)
{
    const struct pf_check_record *record = handle ? pf_check_find(call->rank, *handle) : NULL;
    const struct pf_request *request = handle ? pf_request_of(*handle) : NULL;
    if (call->refused || !record || !record->active || !request)
        return;
    if (request->kind == PF_REQUEST_COLLECTIVE ||
        (request->persistent && request->persistent->fn != PF_FN_Bsend_init))
        pf_check_found(PF_CHECK_ARGUMENT, call->rank, "%s: the request made by %s is active",
                       pf_check_place_text(call->fn, call->site),
                       pf_check_place_text(record->made.fn, record->made.site));
}

int pf_check_Request_free(MPI_Request *request)
{
    struct pf_check_call call;
    struct before before;
    if (!pf_check_enter(&call, PF_FN_Request_free, __builtin_return_address(0)))
        return pf_plain_Request_free(request);
    take(&call, &before, 1, request);
    check_free(&call, request);
    return give(&call, &before, request, call.refused ? MPI_SUCCESS : pf_plain_Request_free(request));
}

/* Of a request that starts: it must not be active. */
static void check_start(struct pf_check_call *call, MPI_Request request)
{
    pf_check_handle(call, PF_KIND_REQUEST, request);
    const struct pf_check_record *record = call->refused ? NULL : pf_check_find(call->rank, request);
    if (!record)
        return;
    if (!record->persistent || record->active)
        pf_check_found(PF_CHECK_ARGUMENT, call->rank, "%s: the request made by %s is %s",
                       pf_check_place_text(call->fn, call->site),
                       pf_check_place_text(record->made.fn, record->made.site),
                       record->persistent ? "active already" : "not persistent");
    else
        pf_check_restart(call, record);
}

static void note_start(struct pf_check_call *call, MPI_Request request)
{
    struct pf_check_record *record = pf_check_find(call->rank, request);
    if (record && !record->active)
        pf_check_use(call->rank, record);
}

int pf_check_Start(MPI_Request *request)
{
    struct pf_check_call call;
    if (!request || !pf_check_enter(&call, PF_FN_Start, __builtin_return_address(0)))
        return pf_plain_Start(request);
    check_start(&call, *request);
    if (call.refused)
        return pf_check_refuse(&call);
    int code = pf_plain_Start(request);
    if (code == MPI_SUCCESS)
        note_start(&call, *request);
    return pf_check_leave(&call, code);
}

int pf_check_Startall(int count, MPI_Request requests[])
{
    struct pf_check_call call;
    if (!requests || !pf_check_enter(&call, PF_FN_Startall, __builtin_return_address(0)))
        return pf_plain_Startall(count, requests);
    for (int i = 0; i < count; i++)
        check_start(&call, requests[i]);
    if (call.refused)
        return pf_check_refuse(&call);
    int code = pf_plain_Startall(count, requests);
    for (int i = 0; code == MPI_SUCCESS && i < count; i++)
        note_start(&call, requests[i]);
    return pf_check_leave(&call, code);
}
