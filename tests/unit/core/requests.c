/* SPDX-License-Identifier: BSD-3-Clause */
/* Handles, the pool of requests, and the wait and test calls over requests of one or two implementations. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fake_impl.h"
#include "middleware/p2p/wait_set.h"

int pf_PMPI_Wait(MPI_Request *handle, MPI_Status *status);
int pf_PMPI_Test(MPI_Request *handle, int *flag, MPI_Status *status);
int pf_PMPI_Waitall(int count, MPI_Request handles[], MPI_Status statuses[]);
int pf_PMPI_Testall(int count, MPI_Request handles[], int *flag, MPI_Status statuses[]);
int pf_PMPI_Waitany(int count, MPI_Request handles[], int *index, MPI_Status *status);
int pf_PMPI_Testany(int count, MPI_Request handles[], int *index, int *flag, MPI_Status *status);
int pf_PMPI_Waitsome(int count, MPI_Request handles[], int *outcount, int indices[], MPI_Status statuses[]);
int pf_PMPI_Testsome(int count, MPI_Request handles[], int *outcount, int indices[], MPI_Status statuses[]);
int pf_PMPI_Request_free(MPI_Request *handle);
int pf_PMPI_Cancel(MPI_Request *handle);
int pf_PMPI_Request_get_status(MPI_Request handle, int *flag, MPI_Status *status);
int pf_PMPI_Send_init(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
                      MPI_Request *request);
int pf_PMPI_Start(MPI_Request *handle);
int pf_PMPI_Get_count(const MPI_Status *status, MPI_Datatype datatype, int *count);

#define A    PF_IMPL_SMPI
#define B    PF_IMPL_OPENMPI
#define MOST 200 /* more than what fits on the stack of a call */

static struct pf_rank *r;
static MPI_Request handles[MOST];
static struct fake_op *ops[MOST];
static MPI_Status statuses[MOST];

static int setup(void **state)
{
    (void)state;
    r = fake_setup(A);
    for (int i = 0; i < MOST; i++)
        handles[i] = MPI_REQUEST_NULL;
    memset(ops, 0, sizeof ops);
    fake_comm_references = fake_operations = 0;
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    for (int i = 0; i < MOST; i++)
        free(ops[i]);
    assert_int_equal(fake_comm_references, 0);
    assert_null(r->call.waits);
    assert_int_equal(fakes[A].inside, 0);
    assert_int_equal(fakes[B].inside, 0);
    return 0;
}

/* One request per letter: a or b incomplete, A or B complete, '-' null. Request i has tag i + 1. */
static int requests(const char *letters)
{
    int n = (int)strlen(letters);
    for (int i = 0; i < n; i++) {
        if (letters[i] == '-')
            continue;
        handles[i] = fake_request(r, strchr("aA", letters[i]) ? A : B, i + 1, &ops[i]);
        ops[i]->complete = strchr("AB", letters[i]) != NULL;
    }
    return n;
}

static void complete_all(void)
{
    for (int i = 0; i < MOST; i++)
        if (ops[i])
            ops[i]->complete = true;
}

static void complete_third(void)
{
    ops[2]->complete = true;
}

static void check_status(const MPI_Status *status, int i)
{
    int bytes;
    assert_int_equal(status->MPI_SOURCE, (i + 1) % 4);
    assert_int_equal(status->MPI_TAG, i + 1);
    assert_int_equal(pf_PMPI_Get_count(status, MPI_CHAR, &bytes), MPI_SUCCESS);
    assert_int_equal(bytes, 10 * (i + 1));
}

static void check_empty(const MPI_Status *status)
{
    int bytes = -1;
    assert_int_equal(status->MPI_SOURCE, MPI_ANY_SOURCE);
    assert_int_equal(status->MPI_TAG, MPI_ANY_TAG);
    assert_int_equal(pf_PMPI_Get_count(status, MPI_CHAR, &bytes), MPI_SUCCESS);
    assert_int_equal(bytes, 0);
}

static void pool(void **state)
{
    (void)state;
    struct pf_request *first = pf_request_new(r, r->active, PF_REQUEST_SEND, MPI_COMM_WORLD);
    struct pf_request *second = pf_request_new(r, r->active, PF_REQUEST_SEND, MPI_COMM_WORLD);
    MPI_Request handle = (MPI_Request)(uintptr_t)first;
    assert_ptr_not_equal(first, second);
    assert_int_equal(fake_comm_references, 2);
    assert_ptr_equal(pf_request_of(handle), first);
    first->done = true;
    first->error = MPI_ERR_OTHER;
    pf_request_release(first);
    assert_int_equal(fake_comm_references, 1);
    assert_null(pf_request_of(handle)); /* a stale handle is recognised */
    assert_null(pf_request_of(MPI_REQUEST_NULL));
    struct pf_request *again = pf_request_new(r, NULL, PF_REQUEST_RECV, MPI_COMM_WORLD);
    assert_ptr_equal(again, first); /* no malloc per message */
    assert_false(again->done);
    assert_int_equal(again->error, MPI_SUCCESS);
    assert_false(pf_request_is_active(again));
    pf_request_release(again);
    pf_request_release(second);
}

static void arguments(void **state)
{
    (void)state;
    int flag, index;
    struct pf_comm *world = r->world;
    requests("aB");
    MPI_Request wrong[2] = {handles[1], (MPI_Request)world}; /* a handle, but of another kind */
    assert_int_equal(pf_PMPI_Wait(NULL, MPI_STATUS_IGNORE), MPI_ERR_REQUEST);
    assert_int_equal(pf_PMPI_Wait(&wrong[1], MPI_STATUS_IGNORE), MPI_ERR_REQUEST);
    assert_int_equal(pf_PMPI_Test(&handles[1], NULL, MPI_STATUS_IGNORE), MPI_ERR_ARG);
    assert_int_equal(pf_PMPI_Waitall(-1, handles, MPI_STATUSES_IGNORE), MPI_ERR_ARG);
    assert_int_equal(pf_PMPI_Waitall(2, NULL, MPI_STATUSES_IGNORE), MPI_ERR_REQUEST);
    assert_int_equal(pf_PMPI_Waitall(2, wrong, MPI_STATUSES_IGNORE), MPI_ERR_REQUEST);
    assert_int_equal(pf_PMPI_Testall(2, wrong, &flag, MPI_STATUSES_IGNORE), MPI_ERR_REQUEST);
    assert_int_equal(pf_PMPI_Waitany(2, wrong, &index, MPI_STATUS_IGNORE), MPI_ERR_REQUEST);
    assert_int_equal(pf_PMPI_Waitany(2, handles, NULL, MPI_STATUS_IGNORE), MPI_ERR_ARG);
    assert_int_equal(pf_PMPI_Testany(2, handles, &index, NULL, MPI_STATUS_IGNORE), MPI_ERR_ARG);
    assert_int_equal(pf_PMPI_Waitsome(2, handles, NULL, &index, MPI_STATUSES_IGNORE), MPI_ERR_ARG);
    assert_int_equal(pf_PMPI_Request_free(&wrong[1]), MPI_ERR_REQUEST);
    assert_int_equal(pf_PMPI_Cancel(&wrong[1]), MPI_ERR_REQUEST);
    assert_ptr_equal(wrong[0], handles[1]); /* the good one has not been touched */
    assert_false(ops[1]->gone);
    complete_all();
    assert_int_equal(pf_PMPI_Waitall(2, handles, MPI_STATUSES_IGNORE), MPI_SUCCESS);
}

static void nothing_to_wait_for(void **state)
{
    (void)state;
    int flag = 0, index = 5, count = 5;
    MPI_Status status;
    assert_int_equal(pf_PMPI_Wait(&handles[0], &status), MPI_SUCCESS);
    check_empty(&status);
    assert_int_equal(pf_PMPI_Waitall(0, NULL, NULL), MPI_SUCCESS);
    assert_int_equal(pf_PMPI_Waitall(3, handles, statuses), MPI_SUCCESS);
    for (int i = 0; i < 3; i++)
        check_empty(&statuses[i]);
    assert_int_equal(pf_PMPI_Testall(3, handles, &flag, NULL), MPI_SUCCESS);
    assert_int_equal(flag, 1);
    assert_int_equal(pf_PMPI_Waitany(3, handles, &index, &status), MPI_SUCCESS);
    assert_int_equal(index, MPI_UNDEFINED);
    check_empty(&status);
    flag = 0;
    assert_int_equal(pf_PMPI_Testany(3, handles, &index, &flag, NULL), MPI_SUCCESS);
    assert_int_equal(flag, 1);
    assert_int_equal(index, MPI_UNDEFINED);
    assert_int_equal(pf_PMPI_Waitsome(3, handles, &count, &index, NULL), MPI_SUCCESS);
    assert_int_equal(count, MPI_UNDEFINED);
    assert_int_equal(pf_PMPI_Testsome(3, handles, &count, &index, NULL), MPI_SUCCESS);
    assert_int_equal(count, MPI_UNDEFINED);
}

static void wait_and_test(void **state)
{
    (void)state;
    int flag = 1;
    requests("ab");
    assert_int_equal(pf_PMPI_Test(&handles[1], &flag, &statuses[1]), MPI_SUCCESS);
    assert_int_equal(flag, 0);
    assert_int_equal(fake_idles, 1);
    assert_ptr_not_equal(handles[1], MPI_REQUEST_NULL);
    fake_step = complete_all;
    statuses[0].MPI_ERROR = 77; /* a single status keeps it */
    assert_int_equal(pf_PMPI_Wait(&handles[0], &statuses[0]), MPI_SUCCESS);
    assert_int_equal(statuses[0].MPI_ERROR, 77);
    check_status(&statuses[0], 0);
    assert_int_equal(pf_PMPI_Test(&handles[1], &flag, &statuses[1]), MPI_SUCCESS);
    assert_int_equal(flag, 1);
    check_status(&statuses[1], 1);
    assert_ptr_equal(handles[0], MPI_REQUEST_NULL);
    assert_ptr_equal(handles[1], MPI_REQUEST_NULL);
    assert_true(ops[0]->gone && ops[1]->gone);
    assert_int_equal(fake_idles, 1);
    assert_int_equal(fakes[A].calls[PF_FN_Wait], 1);
    assert_int_equal(fakes[B].calls[PF_FN_Wait], 0);
}

/* What an implementation says by values of its own reads as the middleware's. */
static void values_of_statuses(void **state)
{
    (void)state;
    requests("AB");
    for (int i = 0; i < 2; i++) {
        ops[i]->source = fakes[i].instance.values->proc_null;
        ops[i]->tag = fakes[i].instance.values->any_tag;
    }
    assert_int_equal(pf_PMPI_Waitall(2, handles, statuses), MPI_SUCCESS);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(statuses[i].MPI_SOURCE, MPI_PROC_NULL);
        assert_int_equal(statuses[i].MPI_TAG, MPI_ANY_TAG);
    }
}

static void waitall_per_owner(void **state)
{
    (void)state;
    int n = requests("aB-baAb-A");
    fake_step = complete_all;
    assert_int_equal(pf_PMPI_Waitall(n, handles, statuses), MPI_SUCCESS);
    assert_int_equal(fakes[A].calls[PF_FN_Waitall], 1);
    assert_int_equal(fakes[A].largest, 4);
    assert_int_equal(fakes[B].calls[PF_FN_Waitall], 1);
    assert_int_equal(fakes[B].largest, 3);
    assert_int_equal(fake_mixed_waits, 0);
    for (int i = 0; i < n; i++) {
        assert_ptr_equal(handles[i], MPI_REQUEST_NULL);
        assert_int_equal(statuses[i].MPI_ERROR, MPI_SUCCESS);
        ops[i] ? check_status(&statuses[i], i) : check_empty(&statuses[i]);
    }
}

static void waitall_of_many(void **state)
{
    (void)state;
    char letters[MOST + 1] = "";
    for (int i = 0; i < MOST; i++)
        letters[i] = i % 7 == 3 ? '-' : "abAB"[i % 4];
    requests(letters);
    fake_step = complete_all;
    assert_int_equal(pf_PMPI_Waitall(MOST, handles, statuses), MPI_SUCCESS);
    for (int i = 0; i < MOST; i++)
        ops[i] ? check_status(&statuses[i], i) : check_empty(&statuses[i]);
}

static void errors(void **state)
{
    (void)state;
    int count, indices[4];
    requests("AB");
    ops[0]->error = MPI_ERR_TRUNCATE;
    ops[1]->error = MPI_ERR_RANK;
    assert_int_equal(pf_PMPI_Wait(&handles[0], MPI_STATUS_IGNORE), MPI_ERR_TRUNCATE);
    assert_int_equal(pf_PMPI_Wait(&handles[1], MPI_STATUS_IGNORE), MPI_ERR_RANK);
    assert_ptr_equal(handles[0], MPI_REQUEST_NULL); /* a failed operation is over, too */
    for (int i = 0; i < 2; i++)
        free(ops[i]);
    requests("ABAB");
    ops[2]->error = MPI_ERR_TRUNCATE;
    assert_int_equal(pf_PMPI_Waitall(4, handles, statuses), MPI_ERR_IN_STATUS);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(statuses[i].MPI_ERROR, i == 2 ? MPI_ERR_TRUNCATE : MPI_SUCCESS);
        free(ops[i]);
    }
    requests("ABAB");
    ops[1]->error = MPI_ERR_TRUNCATE;
    assert_int_equal(pf_PMPI_Waitsome(4, handles, &count, indices, statuses), MPI_ERR_IN_STATUS);
    for (int i = 0; i < count; i++)
        assert_int_equal(statuses[i].MPI_ERROR, indices[i] == 1 ? MPI_ERR_TRUNCATE : MPI_SUCCESS);
    while (count != MPI_UNDEFINED)
        pf_PMPI_Waitsome(4, handles, &count, indices, statuses);
    assert_true(ops[0]->gone && ops[1]->gone && ops[2]->gone && ops[3]->gone);
}

/* What one owner has completed is kept until the call can return it. */
static void testall_keeps_what_is_done(void **state)
{
    (void)state;
    int flag = 1, n = requests("AbA-");
    assert_int_equal(pf_PMPI_Testall(n, handles, &flag, statuses), MPI_SUCCESS);
    assert_int_equal(flag, 0);
    assert_true(ops[0]->gone && ops[2]->gone && !ops[1]->gone);
    assert_ptr_not_equal(handles[0], MPI_REQUEST_NULL);
    assert_int_equal(fake_idles, 1);
    assert_int_equal(pf_PMPI_Testall(n, handles, &flag, statuses), MPI_SUCCESS);
    assert_int_equal(flag, 0);
    assert_int_equal(fakes[A].calls[PF_FN_Testall], 1); /* nothing is left there */
    complete_all();
    assert_int_equal(pf_PMPI_Testall(n, handles, &flag, statuses), MPI_SUCCESS);
    assert_int_equal(flag, 1);
    for (int i = 0; i < 3; i++) {
        assert_ptr_equal(handles[i], MPI_REQUEST_NULL);
        check_status(&statuses[i], i);
    }
}

/* Any other call returns what an unsuccessful test of all has found. */
static void what_is_done_is_returned_anywhere(void **state)
{
    (void)state;
    int flag, index, count, indices[3], n = requests("bAA");
    assert_int_equal(pf_PMPI_Testall(n, handles, &flag, NULL), MPI_SUCCESS);
    assert_int_equal(flag, 0);
    assert_int_equal(pf_PMPI_Request_get_status(handles[1], &flag, &statuses[0]), MPI_SUCCESS);
    assert_int_equal(flag, 1);
    check_status(&statuses[0], 1);
    assert_int_equal(pf_PMPI_Waitany(n, handles, &index, &statuses[1]), MPI_SUCCESS);
    assert_int_equal(index, 1);
    check_status(&statuses[1], 1);
    assert_ptr_equal(handles[1], MPI_REQUEST_NULL);
    assert_int_equal(pf_PMPI_Testsome(n, handles, &count, indices, statuses), MPI_SUCCESS);
    assert_int_equal(count, 1);
    assert_int_equal(indices[0], 2);
    check_status(&statuses[0], 2);
    complete_all();
    assert_int_equal(pf_PMPI_Waitall(n, handles, statuses), MPI_SUCCESS);
    check_status(&statuses[0], 0);
}

static void waitany(void **state)
{
    (void)state;
    int index = -5, n = requests("-aab");
    fake_step = complete_third;
    assert_int_equal(pf_PMPI_Waitany(n, handles, &index, &statuses[0]), MPI_SUCCESS);
    assert_int_equal(index, 2);
    check_status(&statuses[0], 2);
    assert_int_equal(fake_mixed_waits, 1); /* two owners: no native wait */
    assert_int_equal(fakes[A].calls[PF_FN_Waitany], 0);
    fake_step = NULL;
    ops[3]->complete = true;
    assert_int_equal(pf_PMPI_Waitany(n, handles, &index, &statuses[0]), MPI_SUCCESS);
    assert_int_equal(index, 3);
    fake_step = complete_all;
    assert_int_equal(pf_PMPI_Waitany(n, handles, &index, &statuses[0]), MPI_SUCCESS);
    assert_int_equal(index, 1);
    assert_int_equal(fakes[A].calls[PF_FN_Waitany], 1); /* one owner: the native wait */
    assert_int_equal(pf_PMPI_Waitany(n, handles, &index, &statuses[0]), MPI_SUCCESS);
    assert_int_equal(index, MPI_UNDEFINED);
}

static void testany(void **state)
{
    (void)state;
    int index, flag, n = requests("abab");
    assert_int_equal(pf_PMPI_Testany(n, handles, &index, &flag, NULL), MPI_SUCCESS);
    assert_int_equal(flag, 0);
    assert_int_equal(index, MPI_UNDEFINED);
    assert_int_equal(fakes[A].idles, 0); /* the native test has charged itself */
    ops[3]->complete = true;
    assert_int_equal(pf_PMPI_Testany(n, handles, &index, &flag, &statuses[3]), MPI_SUCCESS);
    assert_int_equal(flag, 1);
    assert_int_equal(index, 3);
    check_status(&statuses[3], 3);
    complete_all();
    assert_int_equal(pf_PMPI_Waitall(n, handles, NULL), MPI_SUCCESS);
}

/* SMPI's tests of several overlook requests that are complete, and then do not charge the test either. */
static void overlooked(void **state)
{
    (void)state;
    int index, flag, count, indices[2], n = requests("aa");
    fakes[A].overlooks = true;
    assert_int_equal(pf_PMPI_Testany(n, handles, &index, &flag, NULL), MPI_SUCCESS);
    assert_int_equal(flag, 0);
    assert_int_equal(fakes[A].idles, 1);
    ops[1]->complete = true;
    assert_int_equal(pf_PMPI_Testany(n, handles, &index, &flag, &statuses[1]), MPI_SUCCESS);
    assert_int_equal(flag, 1);
    assert_int_equal(index, 1);
    check_status(&statuses[1], 1);
    assert_int_equal(pf_PMPI_Testsome(n, handles, &count, indices, NULL), MPI_SUCCESS);
    assert_int_equal(count, 0);
    assert_int_equal(fakes[A].idles, 2);
    ops[0]->complete = true;
    assert_int_equal(pf_PMPI_Testsome(n, handles, &count, indices, statuses), MPI_SUCCESS);
    assert_int_equal(count, 1);
    assert_int_equal(indices[0], 0);
    check_status(&statuses[0], 0);
    assert_int_equal(fakes[A].idles, 2);
}

/* SMPI's test of all takes away what is complete although the rest is not. */
static void taken_early(void **state)
{
    (void)state;
    int flag, n = requests("aAa");
    fakes[A].overlooks = true;
    assert_int_equal(pf_PMPI_Testall(n, handles, &flag, statuses), MPI_SUCCESS);
    assert_int_equal(flag, 0);
    assert_true(ops[1]->gone && !ops[0]->gone);
    complete_all();
    assert_int_equal(pf_PMPI_Testall(n, handles, &flag, statuses), MPI_SUCCESS);
    assert_int_equal(flag, 1);
    for (int i = 0; i < n; i++)
        check_status(&statuses[i], i);
}

static void some(void **state)
{
    (void)state;
    int count, indices[6], n = requests("aBab-A");
    assert_int_equal(pf_PMPI_Testsome(n, handles, &count, indices, statuses), MPI_SUCCESS);
    assert_int_equal(count, 2);
    for (int k = 0; k < count; k++) {
        assert_true(indices[k] == 1 || indices[k] == 5);
        check_status(&statuses[k], indices[k]);
        assert_ptr_equal(handles[indices[k]], MPI_REQUEST_NULL);
    }
    assert_int_equal(pf_PMPI_Testsome(n, handles, &count, indices, statuses), MPI_SUCCESS);
    assert_int_equal(count, 0);
    fake_step = complete_third;
    assert_int_equal(pf_PMPI_Waitsome(n, handles, &count, indices, statuses), MPI_SUCCESS);
    assert_int_equal(count, 1);
    check_status(&statuses[0], 2);
    complete_all();
    assert_int_equal(pf_PMPI_Waitall(n, handles, NULL), MPI_SUCCESS);
}

static void free_and_cancel(void **state)
{
    (void)state;
    int flag, count = 0;
    requests("abA");
    assert_int_equal(pf_PMPI_Cancel(&handles[1]), MPI_SUCCESS);
    assert_int_equal(fakes[B].calls[PF_FN_Cancel], 1);
    assert_int_equal(pf_PMPI_Wait(&handles[1], NULL), MPI_SUCCESS);
    assert_int_equal(pf_PMPI_Request_free(&handles[0]), MPI_SUCCESS); /* an active one, of A */
    assert_ptr_equal(handles[0], MPI_REQUEST_NULL);
    assert_int_equal(fakes[A].calls[PF_FN_Request_free], 1);
    assert_true(ops[0]->gone);
    assert_int_equal(pf_PMPI_Request_get_status(handles[2], &flag, &statuses[2]), MPI_SUCCESS);
    assert_int_equal(flag, 1);
    check_status(&statuses[2], 2);
    assert_int_equal(pf_PMPI_Cancel(&handles[2]), MPI_SUCCESS); /* too late, and no error */
    assert_int_equal(fakes[A].calls[PF_FN_Cancel], 0);
    assert_int_equal(pf_PMPI_Request_free(&handles[2]), MPI_SUCCESS); /* done, and not needed any more */
    assert_int_equal(fakes[A].calls[PF_FN_Request_free], 1);
    for (struct pf_request *request = r->free_requests; request; request = request->next_free)
        count++;
    assert_true(count >= 3);
}

/* What a nonblocking operation needs stays until it is complete. */
static void operands(void **state)
{
    (void)state;
    static int op;
    requests("a");
    struct pf_request *request = pf_request_of(handles[0]);
    pf_request_keep_op(request, (MPI_Op)(uintptr_t)&op);
    void *memory[] = {malloc(10), malloc(10)};
    pf_request_keep_memory(request, memory[0]);
    pf_request_keep_memory(request, memory[1]);
    assert_memory_equal(request->operands.memory, memory, sizeof memory); /* which frees it in the end */
    assert_int_equal(fake_operations, 1);
    MPI_Request copy = handles[0];
    assert_int_equal(pf_PMPI_Request_free(&handles[0]), MPI_SUCCESS);
    assert_ptr_equal(handles[0], MPI_REQUEST_NULL);
    assert_int_equal(fake_operations, 1); /* kept: the operation goes on */
    assert_false(ops[0]->gone);
    complete_all();
    assert_int_equal(pf_PMPI_Wait(&copy, NULL), MPI_SUCCESS); /* what MPI_Finalize does */
    assert_int_equal(fake_operations, 0);
}

/* An operation that has failed leaves no request; one that the implementation has none for is complete. */
static void started(void **state)
{
    (void)state;
    struct pf_instance *in = r->active;
    for (int peer = MPI_PROC_NULL;; peer = 3) {
        MPI_Status status;
        pf_call_peer(r, peer, 1, MPI_COMM_WORLD);
        pf_call_native_begin(r, in);
        struct pf_request *request = pf_request_new(r, in, PF_REQUEST_RECV, MPI_COMM_WORLD);
        request->native = in->values->request_null;
        assert_int_equal(pf_request_started(r, in, request, MPI_COMM_WORLD, MPI_SUCCESS, &handles[0]), 0);
        assert_ptr_equal(pf_request_of(handles[0]), request);
        assert_int_equal(pf_PMPI_Wait(&handles[0], &status), MPI_SUCCESS);
        if (peer != MPI_PROC_NULL) {
            check_empty(&status);
            break;
        }
        assert_int_equal(status.MPI_SOURCE, MPI_PROC_NULL);
    }
    pf_call_native_begin(r, in);
    struct pf_request *request = pf_request_new(r, in, PF_REQUEST_RECV, MPI_COMM_WORLD);
    MPI_Request handle = (MPI_Request)(uintptr_t)request;
    int code = pf_request_started(r, in, request, MPI_COMM_WORLD, FAKE_CODE_BASE(A) + MPI_ERR_RANK, &handle);
    assert_int_equal(code, MPI_ERR_RANK);
    assert_ptr_equal(handle, MPI_REQUEST_NULL);
}

static MPI_Request persistent(struct fake_op **op, int tag)
{
    MPI_Request request;
    assert_int_equal(pf_PMPI_Send_init(op, 1, MPI_INT, 1, tag, MPI_COMM_WORLD, &request), MPI_SUCCESS);
    return request;
}

/* An inactive request has no owner; each start makes a native one in the model in force. */
static void persistent_requests(void **state)
{
    (void)state;
    int flag = 0;
    MPI_Request request = persistent(&ops[0], 1), kept = request;
    assert_int_equal(pf_PMPI_Wait(&request, &statuses[0]), MPI_SUCCESS); /* inactive: at once */
    check_empty(&statuses[0]);
    for (int round = 0; round < 2; round++) {
        int impl = round == 0 ? A : B;
        r->active = r->instances[impl];
        assert_int_equal(pf_PMPI_Start(&request), MPI_SUCCESS);
        assert_int_equal(ops[0]->impl, impl);
        assert_int_equal(pf_PMPI_Start(&request), MPI_ERR_REQUEST); /* it is active */
        r->active = r->instances[B - impl];
        assert_int_equal(pf_PMPI_Test(&request, &flag, NULL), MPI_SUCCESS);
        assert_int_equal(flag, 0);
        ops[0]->complete = true;
        assert_int_equal(pf_PMPI_Wait(&request, NULL), MPI_SUCCESS);
        assert_true(ops[0]->gone);
        assert_ptr_equal(request, kept);
        assert_false(pf_request_is_active(pf_request_of(request)));
        assert_int_equal(fakes[impl].calls[PF_FN_Request_free], 0); /* nothing was left to free */
        free(ops[0]);
        ops[0] = NULL;
    }
    assert_int_equal(pf_PMPI_Request_free(&request), MPI_SUCCESS);
    assert_null(pf_request_of(kept));
}

/* Freed while it is active, it goes on until it completes, and only then is it gone. */
static void persistent_freed_while_active(void **state)
{
    (void)state;
    MPI_Request request = persistent(&ops[0], 1), kept = request;
    assert_int_equal(pf_PMPI_Start(&request), MPI_SUCCESS);
    assert_int_equal(pf_PMPI_Request_free(&request), MPI_SUCCESS);
    assert_ptr_equal(request, MPI_REQUEST_NULL);
    assert_false(ops[0]->gone);
    ops[0]->complete = true;
    assert_int_equal(pf_PMPI_Wait(&kept, NULL), MPI_SUCCESS); /* what MPI_Finalize does */
    assert_true(ops[0]->gone);
    assert_null(pf_request_of(kept));
}

/* Against a simple model of MPI: everything is returned once, by its own status, whatever is called and
 * whenever operations complete. */
static unsigned int random_state;

static int below(int n)
{
    random_state = random_state * 1103515245u + 12345u;
    return (int)(random_state >> 16) % n;
}

static void complete_one(void)
{
    for (int i = below(MOST), k = 0; k < MOST; k++, i = (i + 1) % MOST)
        if (ops[i] && !ops[i]->complete) {
            ops[i]->complete = true;
            return;
        }
    fail_msg("a wait although everything is complete");
}

static int returned[MOST];

static void was_returned(const MPI_Status *status, int i)
{
    assert_non_null(ops[i]);
    assert_true(ops[i]->complete);
    assert_ptr_equal(handles[i], MPI_REQUEST_NULL);
    assert_int_equal(returned[i]++, 0);
    check_status(status, i);
}

static void was_returned_all(int n)
{
    for (int i = 0; i < n; i++)
        if (ops[i] && !returned[i])
            was_returned(&statuses[i], i);
}

static void random_call(int n)
{
    int flag = 0, index, count, indices[MOST];
    int kind = below(9), i = below(n);
    bool live = ops[i] && !returned[i];
    switch (kind) {
    case 0:
        assert_int_equal(pf_PMPI_Wait(&handles[i], &statuses[0]), MPI_SUCCESS);
        live ? was_returned(&statuses[0], i) : check_empty(&statuses[0]);
        break;
    case 1:
        assert_int_equal(pf_PMPI_Test(&handles[i], &flag, &statuses[0]), MPI_SUCCESS);
        assert_int_equal(flag, !live || ops[i]->complete);
        if (live && flag)
            was_returned(&statuses[0], i);
        break;
    case 2:
    case 3:
        flag = 1;
        assert_int_equal(kind == 2 ? pf_PMPI_Waitany(n, handles, &index, &statuses[0])
                                   : pf_PMPI_Testany(n, handles, &index, &flag, &statuses[0]),
                         MPI_SUCCESS);
        if (flag && index != MPI_UNDEFINED)
            was_returned(&statuses[0], index);
        break;
    case 4:
    case 5:
        assert_int_equal(kind == 4 ? pf_PMPI_Waitsome(n, handles, &count, indices, statuses)
                                   : pf_PMPI_Testsome(n, handles, &count, indices, statuses),
                         MPI_SUCCESS);
        for (int k = 0; count != MPI_UNDEFINED && k < count; k++)
            was_returned(&statuses[k], indices[k]);
        assert_true(kind == 5 || count != 0);
        break;
    case 6:
    case 7:
        assert_int_equal(pf_PMPI_Testall(n, handles, &flag, statuses), MPI_SUCCESS);
        if (flag)
            was_returned_all(n);
        break;
    default:
        if (below(10) == 0) {
            assert_int_equal(pf_PMPI_Waitall(n, handles, statuses), MPI_SUCCESS);
            was_returned_all(n);
        }
    }
}

static void against_a_model(void **state)
{
    for (unsigned int seed = 1; seed <= 300; seed++) {
        setup(state);
        random_state = seed;
        memset(returned, 0, sizeof returned);
        int n = 1 + below(seed % 10 == 0 ? MOST : 12);
        for (int i = 0; i < n; i++)
            if (below(8) > 0)
                handles[i] = fake_request(r, below(2) ? A : B, i + 1, &ops[i]);
        fake_step = complete_one;
        fakes[A].overlooks = seed % 3 == 0;
        for (int call = 0; call < 30; call++) {
            for (int i = 0; i < n; i++)
                if (ops[i] && below(12) == 0)
                    ops[i]->complete = true;
            random_call(n);
        }
        fake_step = complete_all;
        assert_int_equal(pf_PMPI_Waitall(n, handles, statuses), MPI_SUCCESS);
        was_returned_all(n);
        for (int i = 0; i < n; i++)
            assert_int_equal(returned[i], ops[i] != NULL);
        teardown(state);
        memset(ops, 0, sizeof ops);
    }
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(pool),
        TEST(arguments),
        TEST(nothing_to_wait_for),
        TEST(wait_and_test),
        TEST(values_of_statuses),
        TEST(waitall_per_owner),
        TEST(waitall_of_many),
        TEST(errors),
        TEST(testall_keeps_what_is_done),
        TEST(what_is_done_is_returned_anywhere),
        TEST(waitany),
        TEST(testany),
        TEST(overlooked),
        TEST(taken_early),
        TEST(some),
        TEST(free_and_cancel),
        TEST(operands),
        TEST(started),
        TEST(persistent_requests),
        TEST(persistent_freed_while_active),
        TEST(against_a_model),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
