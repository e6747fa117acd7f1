/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Wait and test calls. The owner of a request completes it, whatever model is in force. A call over requests
 * of one owner is one native call; over several, one per owner, and a completion that cannot be returned yet
 * is kept in the request (`done`).
 */
#include <stdlib.h>

#include "middleware/comm/routing.h"
#include "middleware/p2p/request.h"
#include "middleware/p2p/wait_set.h"
#include "base/memory.h"

/* Ends a call whose operations may have failed. */
static int finish(struct pf_wait_set *set, int error)
{
    pf_wait_set_close(set);
    if (PF_UNLIKELY(error != MPI_SUCCESS))
        return pf_call_error(set->rank, set->failed, error);
    return pf_call_return(set->rank, MPI_SUCCESS);
}

int pf_PMPI_Wait(MPI_Request *handle, MPI_Status *status)
{
    struct pf_rank *r = PF_ENTER(Wait);
    struct pf_wait_set set;
    int error = pf_wait_set_open(&set, r, 1, handle);
    if (error != MPI_SUCCESS)
        return pf_call_error(r, MPI_COMM_WORLD, error);
    if (PF_UNLIKELY(set.own)) {
        pf_wait_set_block_own(&set);
    } else if (set.active) {
        struct pf_instance *in = pf_call_native_begin(r, set.owner);
        pf_wait_set_part(&set, in);
        int code = in->fn->Wait(set.natives, set.statuses);
        pf_wait_set_done(&set, in, 0, code);
        pf_call_native_end(r, in);
    }
    return finish(&set, pf_wait_set_deliver(&set, 0, status));
}

int pf_PMPI_Test(MPI_Request *handle, int *flag, MPI_Status *status)
{
    struct pf_rank *r = PF_ENTER(Test);
    struct pf_wait_set set;
    int error = flag ? pf_wait_set_open(&set, r, 1, handle) : MPI_ERR_ARG;
    if (error != MPI_SUCCESS)
        return pf_call_error(r, MPI_COMM_WORLD, error);
    *flag = 1;
    if (PF_UNLIKELY(set.own)) {
        pf_wait_set_try_own(&set);
        *flag = set.active == 0;
    } else if (set.active) {
        struct pf_instance *in = pf_call_native_begin(r, set.owner);
        pf_wait_set_part(&set, in);
        int code = in->fn->Test(set.natives, flag, set.statuses);
        if (*flag || code != MPI_SUCCESS)
            pf_wait_set_done(&set, in, 0, code);
        else
            pf_call_idle(r, in);
        pf_call_native_end(r, in);
    }
    return finish(&set, set.active ? MPI_SUCCESS : pf_wait_set_deliver(&set, 0, status));
}

/* Ends a call over several: the error handler gets the error of the first operation that has failed, the
 * caller finds each one's in the statuses (MPI 3.1 section 3.7.5). */
static int finish_several(struct pf_wait_set *set, int error)
{
    int code = finish(set, error);
    return code == MPI_SUCCESS ? code : MPI_ERR_IN_STATUS;
}

/* Returns all statuses, and the first error. One that has not failed, but is not complete either because
 * another has, is left as it is. */
static int deliver_all(struct pf_wait_set *set, MPI_Status statuses[])
{
    int result = MPI_SUCCESS;
    for (int i = 0; i < set->count; i++) {
        bool pending = pf_request_is_active(set->requests[i]);
        int error = pf_wait_set_deliver(set, i, statuses ? &statuses[i] : NULL);
        if (pending)
            error = MPI_ERR_PENDING;
        if (error != MPI_SUCCESS)
            result = result && result != MPI_ERR_PENDING ? result : error;
        if (statuses)
            statuses[i].MPI_ERROR = error;
    }
    return result;
}

static void waitall_part(struct pf_wait_set *set, struct pf_instance *in)
{
    int n = pf_wait_set_part(set, in);
    if (n == 0)
        return;
    pf_call_native_begin(set->rank, in);
    int code = in->fn->Waitall(n, set->natives, set->statuses);
    for (int i = 0; i < n; i++)
        pf_wait_set_done(set, in, i, code);
    pf_call_native_end(set->rank, in);
}

void pf_wait_set_block(struct pf_wait_set *set)
{
    struct pf_instance *in;
    for (int impl = 0; set->active && impl < PF_IMPL_COUNT; impl++)
        if ((in = pf_wait_set_owner(set, impl)))
            waitall_part(set, in);
    pf_wait_set_block_own(set);
}

int pf_PMPI_Waitall(int count, MPI_Request handles[], MPI_Status statuses[])
{
    struct pf_rank *r = PF_ENTER(Waitall);
    struct pf_wait_set set;
    int error = pf_wait_set_open(&set, r, count, handles);
    if (error != MPI_SUCCESS)
        return pf_call_error(r, MPI_COMM_WORLD, error);
    pf_wait_set_block(&set);
    return finish_several(&set, deliver_all(&set, statuses));
}

static void testall_part(struct pf_wait_set *set, struct pf_instance *in)
{
    int flag = 0, n = pf_wait_set_part(set, in);
    if (n == 0)
        return;
    pf_call_native_begin(set->rank, in);
    int code = in->fn->Testall(n, set->natives, &flag, set->statuses);
    bool over = flag || code != MPI_SUCCESS;
    for (int i = 0; i < n; i++) /* SMPI takes away requests that are complete although the others are not */
        if (over || set->natives[i] == in->values->request_null)
            pf_wait_set_done(set, in, i, code);
    if (!over)
        pf_call_idle(set->rank, in);
    pf_call_native_end(set->rank, in);
}

int pf_PMPI_Testall(int count, MPI_Request handles[], int *flag, MPI_Status statuses[])
{
    struct pf_rank *r = PF_ENTER(Testall);
    struct pf_wait_set set;
    struct pf_instance *in;
    int error = flag ? pf_wait_set_open(&set, r, count, handles) : MPI_ERR_ARG;
    if (error != MPI_SUCCESS)
        return pf_call_error(r, MPI_COMM_WORLD, error);
    for (int impl = 0; set.active && impl < PF_IMPL_COUNT; impl++)
        if ((in = pf_wait_set_owner(&set, impl)))
            testall_part(&set, in);
    pf_wait_set_try_own(&set);
    *flag = set.active == 0;
    return finish_several(&set, *flag ? deliver_all(&set, statuses) : MPI_SUCCESS);
}

/* The lowest request that is done already, MPI_UNDEFINED when there is none. */
static int first_done(const struct pf_wait_set *set)
{
    for (int i = 0; set->done && i < set->count; i++)
        if (set->requests[i] && set->requests[i]->done)
            return i;
    return MPI_UNDEFINED;
}

/* Looks at the requests of the part one by one: SMPI's tests of several overlook some that are complete. */
static bool try_each(struct pf_wait_set *set, struct pf_instance *in, int n)
{
    for (int i = 0; i < n; i++) {
        if (!in->ops->request_done(in, set->natives[i]))
            continue;
        int code = in->fn->Wait(&set->natives[i], pf_native_status_at(in, set->statuses, i));
        pf_wait_set_done(set, in, i, code);
        return true;
    }
    return false;
}

/* A test found nothing. When SMPI has overlooked all requests (it says so), it has not charged the test
 * either. */
static void idle_after_overlooking(struct pf_wait_set *set, struct pf_instance *in, bool overlooked)
{
    if (overlooked && in->values->charges_tests)
        in->ops->idle(in);
    pf_call_idle(set->rank, in);
}

/* Natively waits for or tests any of one owner's requests. */
static void any_part(struct pf_wait_set *set, struct pf_instance *in, bool block)
{
    int which = in->values->undefined, flag = 1, code, n = pf_wait_set_part(set, in);
    if (n == 0)
        return;
    pf_call_native_begin(set->rank, in);
    if (block)
        code = in->fn->Waitany(n, set->natives, &which, set->statuses);
    else
        code = in->fn->Testany(n, set->natives, &which, &flag, set->statuses);
    if (flag && which >= 0 && which < n) {
        /* When one has failed, Open MPI also frees all others that have. */
        for (int i = 0; code != MPI_SUCCESS && i < n; i++)
            if (i != which && set->natives[i] == in->values->request_null)
                pf_wait_set_done(set, in, i, code);
        /* The status stands first whatever the index is. */
        set->natives[0] = set->natives[which];
        set->index[0] = set->index[which];
        pf_wait_set_done(set, in, 0, code);
    } else if (!block && !try_each(set, in, n)) {
        idle_after_overlooking(set, in, flag);
    }
    pf_call_native_end(set->rank, in);
}

int pf_PMPI_Waitany(int count, MPI_Request handles[], int *index, MPI_Status *status)
{
    struct pf_rank *r = PF_ENTER(Waitany);
    struct pf_wait_set set;
    int error = index ? pf_wait_set_open(&set, r, count, handles) : MPI_ERR_ARG;
    if (error != MPI_SUCCESS)
        return pf_call_error(r, MPI_COMM_WORLD, error);
    while (set.active && !set.done) {
        if (set.owner)
            any_part(&set, set.owner, true);
        if (!set.done) /* several owners; or SMPI, which can return without a result */
            pf_wait_mixed(&set);
    }
    *index = first_done(&set);
    if (*index != MPI_UNDEFINED)
        error = pf_wait_set_deliver(&set, *index, status);
    else if (status)
        pf_status_set_empty(status);
    return finish(&set, error);
}

int pf_PMPI_Testany(int count, MPI_Request handles[], int *index, int *flag, MPI_Status *status)
{
    struct pf_rank *r = PF_ENTER(Testany);
    struct pf_wait_set set;
    struct pf_instance *in;
    int error = index && flag ? pf_wait_set_open(&set, r, count, handles) : MPI_ERR_ARG;
    if (error != MPI_SUCCESS)
        return pf_call_error(r, MPI_COMM_WORLD, error);
    for (int impl = 0; set.active && !set.done && impl < PF_IMPL_COUNT; impl++)
        if ((in = pf_wait_set_owner(&set, impl)))
            any_part(&set, in, false);
    if (!set.done)
        pf_wait_set_try_own(&set);
    *index = first_done(&set);
    *flag = *index != MPI_UNDEFINED || set.active == 0;
    if (*index != MPI_UNDEFINED)
        error = pf_wait_set_deliver(&set, *index, status);
    else if (*flag && status)
        pf_status_set_empty(status);
    return finish(&set, error);
}

/* Natively waits for or tests some of one owner's requests. */
static void some_part(struct pf_wait_set *set, struct pf_instance *in, bool block)
{
    int found = 0, n = pf_wait_set_part(set, in);
    if (n == 0)
        return;
    int *which = pf_malloc((size_t)n * sizeof *which);
    pf_call_native_begin(set->rank, in);
    int code = (block ? in->fn->Waitsome : in->fn->Testsome)(n, set->natives, &found, which, set->statuses);
    bool overlooked = found == in->values->undefined; /* SMPI: "nothing to test" */
    if (overlooked)
        found = 0;
    for (int i = 0; i < found; i++) {
        struct pf_request *request = set->requests[set->index[which[i]]];
        request->native = set->natives[which[i]];
        pf_wait_set_complete(set, in, request, i, code);
    }
    if (found == 0 && !block && !try_each(set, in, n))
        idle_after_overlooking(set, in, overlooked);
    pf_call_native_end(set->rank, in);
    free(which);
}

static int deliver_some(struct pf_wait_set *set, int *outcount, int indices[], MPI_Status statuses[])
{
    int result = MPI_SUCCESS, n = 0;
    bool nothing = set->active == 0 && set->done == 0;
    for (int i = 0; set->done && i < set->count; i++) {
        if (!set->requests[i] || !set->requests[i]->done)
            continue;
        int error = pf_wait_set_deliver(set, i, statuses ? &statuses[n] : NULL);
        if (error != MPI_SUCCESS)
            result = result && result != MPI_ERR_PENDING ? result : error;
        if (statuses)
            statuses[n].MPI_ERROR = error;
        indices[n++] = i;
    }
    *outcount = nothing ? MPI_UNDEFINED : n;
    return result;
}

int pf_PMPI_Waitsome(int incount, MPI_Request handles[], int *outcount, int indices[], MPI_Status statuses[])
{
    struct pf_rank *r = PF_ENTER(Waitsome);
    struct pf_wait_set set;
    int error =
        outcount && (indices || incount <= 0) ? pf_wait_set_open(&set, r, incount, handles) : MPI_ERR_ARG;
    if (error != MPI_SUCCESS)
        return pf_call_error(r, MPI_COMM_WORLD, error);
    while (set.active && !set.done) {
        if (set.owner)
            some_part(&set, set.owner, true);
        if (!set.done)
            pf_wait_mixed(&set);
    }
    return finish_several(&set, deliver_some(&set, outcount, indices, statuses));
}

int pf_PMPI_Testsome(int incount, MPI_Request handles[], int *outcount, int indices[], MPI_Status statuses[])
{
    struct pf_rank *r = PF_ENTER(Testsome);
    struct pf_wait_set set;
    struct pf_instance *in;
    int error =
        outcount && (indices || incount <= 0) ? pf_wait_set_open(&set, r, incount, handles) : MPI_ERR_ARG;
    if (error != MPI_SUCCESS)
        return pf_call_error(r, MPI_COMM_WORLD, error);
    for (int impl = 0; set.active && impl < PF_IMPL_COUNT; impl++)
        if ((in = pf_wait_set_owner(&set, impl)))
            some_part(&set, in, false);
    pf_wait_set_try_own(&set);
    return finish_several(&set, deliver_some(&set, outcount, indices, statuses));
}
