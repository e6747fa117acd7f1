/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fake_impl.h"
#include "middleware/p2p/stranded.h"
#include "middleware/comm/routing.h"
#include "middleware/datatype/op.h"
#include "middleware/p2p/wait_set.h"

/* The two layouts of a status. */
struct status_a {
    int source, tag, error, bytes;
};
struct status_b {
    int64_t bytes;
    int cancelled, error, tag, source;
};

struct fake fakes[PF_IMPL_COUNT];
void (*fake_step)(void);
int fake_mixed_waits, fake_idles, fake_comm_references, fake_operations;
uint64_t pf_call_polls;
int pf_comm_bound_count;

struct pf_instance *pf_comm_choice(struct pf_rank *r, const struct pf_comm_shared *shared)
{
    (void)shared;
    return r->active;
}

static struct fake_op null_of_b;
static void *const null_request[PF_IMPL_COUNT] = {NULL, &null_of_b};
static struct pf_native_fn functions[PF_IMPL_COUNT];
static void *predefined[PF_PREDEFINED_LIMIT];

static struct pf_native_values values[PF_IMPL_COUNT] = {
    {.any_source = -555,
     .proc_null = -666,
     .any_tag = -444,
     .undefined = -333,
     .charges_tests = true,
     .status_size = sizeof(struct status_a),
     .request_null = NULL},
    {.any_source = -1,
     .proc_null = -2,
     .any_tag = -1,
     .undefined = -32766,
     .status_size = sizeof(struct status_b),
     .request_null = &null_of_b},
};

static int code_of(int impl, int error)
{
    return error ? FAKE_CODE_BASE(impl) + error : 0;
}

static void write_status(int impl, void *statuses, int i, const struct fake_op *op)
{
    int code = code_of(impl, op->error);
    if (!statuses)
        return;
    if (impl == PF_IMPL_SMPI)
        ((struct status_a *)statuses)[i] = (struct status_a){op->source, op->tag, code, op->bytes};
    else
        ((struct status_b *)statuses)[i] = (struct status_b){op->bytes, 0, code, op->tag, op->source};
}

static void status_get_a(const void *native, struct pf_native_status_view *out)
{
    const struct status_a *s = native;
    *out = (struct pf_native_status_view){s->source, s->tag, s->error, 0, s->bytes};
}

static void status_get_b(const void *native, struct pf_native_status_view *out)
{
    const struct status_b *s = native;
    *out = (struct pf_native_status_view){s->source, s->tag, s->error, s->cancelled, s->bytes};
}

/* The operation behind a native handle, NULL for the null handle. */
static struct fake_op *op_of(int impl, void *native)
{
    struct fake_op *op = native;
    if (native == null_request[impl])
        return NULL;
    assert_non_null(op);
    assert_int_equal(op->impl, impl); /* a request must never reach another implementation */
    assert_false(op->gone);
    return op;
}

/* Ends an operation; its status becomes number `i`. */
static int take(int impl, pf_native_request_t *native, void *statuses, int i)
{
    struct fake_op *op = op_of(impl, *native);
    write_status(impl, statuses, i, op);
    op->gone = true;
    *native = null_request[impl];
    return code_of(impl, op->error);
}

static void note(int impl, int fn, int count)
{
    assert_int_equal(fakes[impl].inside, 1); /* between enter and leave */
    fakes[impl].calls[fn]++;
    if (count > fakes[impl].largest)
        fakes[impl].largest = count;
}

static void block(void)
{
    assert_non_null(fake_step); /* a wait for something that never happens */
    fake_step();
}

static bool is_complete(int impl, void *native)
{
    const struct fake_op *op = op_of(impl, native);
    return op && op->complete;
}

static int do_all(int impl, int n, pf_native_request_t *natives, void *statuses)
{
    bool failed = false;
    for (int i = 0; i < n; i++)
        if (op_of(impl, natives[i]))
            failed |= take(impl, &natives[i], statuses, i) != 0;
    return failed ? code_of(impl, MPI_ERR_IN_STATUS) : 0;
}

static int do_waitall(int impl, int n, pf_native_request_t *natives, void *statuses)
{
    note(impl, PF_FN_Waitall, n);
    for (int i = 0; i < n; i++)
        while (op_of(impl, natives[i]) && !is_complete(impl, natives[i]))
            block();
    return do_all(impl, n, natives, statuses);
}

static int do_testall(int impl, int n, pf_native_request_t *natives, int *flag, void *statuses)
{
    note(impl, PF_FN_Testall, n);
    *flag = 1;
    for (int i = 0; i < n; i++)
        if (op_of(impl, natives[i]) && !is_complete(impl, natives[i]))
            *flag = 0;
    for (int i = 0; !*flag && fakes[impl].overlooks && i < n; i++)
        if (is_complete(impl, natives[i]))
            take(impl, &natives[i], statuses, i);
    return *flag ? do_all(impl, n, natives, statuses) : 0;
}

/* The last one that is complete, to see whether the middleware relies on an order that is not promised. */
static int find_any(int impl, int n, pf_native_request_t *natives)
{
    for (int i = n - 1; i >= 0; i--)
        if (is_complete(impl, natives[i]))
            return i;
    return values[impl].undefined;
}

static int do_any(int impl, int fn, int n, pf_native_request_t *natives, int *index, int *flag,
                  void *statuses)
{
    note(impl, fn, n);
    while (find_any(impl, n, natives) < 0 && !flag)
        block();
    *index = find_any(impl, n, natives);
    if (flag && fakes[impl].overlooks)
        *index = values[impl].undefined;
    if (flag)
        *flag = *index >= 0 || fakes[impl].overlooks;
    return *index >= 0 ? take(impl, &natives[*index], statuses, 0) : 0;
}

static int do_some(int impl, int fn, int n, pf_native_request_t *natives, int *found, int *indices,
                   void *statuses)
{
    bool failed = false;
    note(impl, fn, n);
    while (find_any(impl, n, natives) < 0 && fn == PF_FN_Waitsome)
        block();
    *found = 0;
    if (fn == PF_FN_Testsome && fakes[impl].overlooks) {
        *found = values[impl].undefined;
        return 0;
    }
    for (int i = n - 1; i >= 0; i--) {
        if (!is_complete(impl, natives[i]))
            continue;
        indices[*found] = i;
        failed |= take(impl, &natives[i], statuses, *found) != 0;
        ++*found;
    }
    return failed ? code_of(impl, MPI_ERR_IN_STATUS) : 0;
}

static int do_start(int impl, const void *buffer, int tag, pf_native_request_t *request)
{
    struct fake_op *op = calloc(1, sizeof *op);
    *op = (struct fake_op){.impl = impl, .tag = tag, .bytes = 8};
    *(struct fake_op **)(uintptr_t)buffer = op; /* the test's buffer receives the operation */
    *request = (pf_native_request_t)op;
    return 0;
}

/* What the functions of both implementations have in common, once per implementation. */
#define FAKE(X)                                                                                              \
    static int wait_##X(pf_native_request_t *request, union pf_native_status *status)                        \
    {                                                                                                        \
        note(X, PF_FN_Wait, 1);                                                                              \
        while (!is_complete(X, *request))                                                                    \
            block();                                                                                         \
        return take(X, request, status, 0);                                                                  \
    }                                                                                                        \
    static int test_##X(pf_native_request_t *request, int *flag, union pf_native_status *status)             \
    {                                                                                                        \
        note(X, PF_FN_Test, 1);                                                                              \
        *flag = is_complete(X, *request);                                                                    \
        return *flag ? take(X, request, status, 0) : 0;                                                      \
    }                                                                                                        \
    static int waitall_##X(int n, pf_native_request_t *requests, union pf_native_status *statuses)           \
    {                                                                                                        \
        return do_waitall(X, n, requests, statuses);                                                         \
    }                                                                                                        \
    static int testall_##X(int n, pf_native_request_t *requests, int *flag,                                  \
                           union pf_native_status *statuses)                                                 \
    {                                                                                                        \
        return do_testall(X, n, requests, flag, statuses);                                                   \
    }                                                                                                        \
    static int waitany_##X(int n, pf_native_request_t *requests, int *index, union pf_native_status *status) \
    {                                                                                                        \
        return do_any(X, PF_FN_Waitany, n, requests, index, NULL, status);                                   \
    }                                                                                                        \
    static int testany_##X(int n, pf_native_request_t *requests, int *index, int *flag,                      \
                           union pf_native_status *status)                                                   \
    {                                                                                                        \
        return do_any(X, PF_FN_Testany, n, requests, index, flag, status);                                   \
    }                                                                                                        \
    static int waitsome_##X(int n, pf_native_request_t *requests, int *found, int *indices,                  \
                            union pf_native_status *statuses)                                                \
    {                                                                                                        \
        return do_some(X, PF_FN_Waitsome, n, requests, found, indices, statuses);                            \
    }                                                                                                        \
    static int testsome_##X(int n, pf_native_request_t *requests, int *found, int *indices,                  \
                            union pf_native_status *statuses)                                                \
    {                                                                                                        \
        return do_some(X, PF_FN_Testsome, n, requests, found, indices, statuses);                            \
    }                                                                                                        \
    static int request_free_##X(pf_native_request_t *request)                                                \
    {                                                                                                        \
        note(X, PF_FN_Request_free, 1);                                                                      \
        op_of(X, *request)->gone = true;                                                                     \
        *request = null_request[X];                                                                          \
        return 0;                                                                                            \
    }                                                                                                        \
    static int cancel_##X(pf_native_request_t *request)                                                      \
    {                                                                                                        \
        note(X, PF_FN_Cancel, 1);                                                                            \
        op_of(X, *request)->complete = true;                                                                 \
        return 0;                                                                                            \
    }                                                                                                        \
    static int init_##X(const void *buffer, int count, pf_native_datatype_t type, int peer, int tag,         \
                        pf_native_comm_t comm, pf_native_request_t *request)                                 \
    {                                                                                                        \
        (void)count, (void)type, (void)peer, (void)comm;                                                     \
        return do_start(X, buffer, tag, request);                                                            \
    }                                                                                                        \
    static int receive_init_##X(void *buffer, int count, pf_native_datatype_t type, int peer, int tag,       \
                                pf_native_comm_t comm, pf_native_request_t *request)                         \
    {                                                                                                        \
        return init_##X(buffer, count, type, peer, tag, comm, request);                                      \
    }                                                                                                        \
    static int start_##X(pf_native_request_t *request)                                                       \
    {                                                                                                        \
        note(X, PF_FN_Start, 1);                                                                             \
        return op_of(X, *request) ? 0 : 1;                                                                   \
    }                                                                                                        \
    static void install_##X(void)                                                                            \
    {                                                                                                        \
        struct pf_native_fn *fn = &functions[X];                                                             \
        fn->Wait = wait_##X;                                                                                 \
        fn->Test = test_##X;                                                                                 \
        fn->Waitall = waitall_##X;                                                                           \
        fn->Testall = testall_##X;                                                                           \
        fn->Waitany = waitany_##X;                                                                           \
        fn->Testany = testany_##X;                                                                           \
        fn->Waitsome = waitsome_##X;                                                                         \
        fn->Testsome = testsome_##X;                                                                         \
        fn->Request_free = request_free_##X;                                                                 \
        fn->Cancel = cancel_##X;                                                                             \
        fn->Send_init = init_##X;                                                                            \
        fn->Recv_init = receive_init_##X;                                                                    \
        fn->Start = start_##X;                                                                               \
    }

FAKE(PF_IMPL_SMPI)
FAKE(PF_IMPL_OPENMPI)

static void enter(struct pf_instance *in)
{
    fakes[in->impl].inside++;
}

static void leave(struct pf_instance *in)
{
    fakes[in->impl].inside--;
}

static void idle(struct pf_instance *in)
{
    fakes[in->impl].idles++;
}

static int error_class(struct pf_instance *in, int code)
{
    int class = code - FAKE_CODE_BASE(in->impl);
    assert_in_range(class, 1, 100); /* another implementation's code otherwise */
    return class;
}

static bool request_done(struct pf_instance *in, void *request)
{
    return is_complete(in->impl, request);
}

static const struct pf_adapter_ops ops[PF_IMPL_COUNT] = {
    {.size = sizeof ops[0],
     .enter = enter,
     .leave = leave,
     .idle = idle,
     .status_get = status_get_a,
     .error_class = error_class,
     .request_done = request_done,
     .progress = pf_adapter_no_hook,
     .settle = pf_adapter_no_hook},
    {.size = sizeof ops[0],
     .enter = enter,
     .leave = leave,
     .idle = idle,
     .status_get = status_get_b,
     .error_class = error_class,
     .request_done = request_done,
     .progress = pf_adapter_no_hook,
     .settle = pf_adapter_no_hook},
};

struct pf_rank *fake_setup(enum pf_impl active)
{
    static struct pf_rank *r;
    r = r ? r : fake_rank(0, 4);
    install_PF_IMPL_SMPI();
    install_PF_IMPL_OPENMPI();
    for (int impl = 0; impl < PF_IMPL_ANALYTIC; impl++) {
        fakes[impl] =
            (struct fake){.instance = {.ops = &ops[impl],
                                       .values = &values[impl],
                                       .fn = &functions[impl],
                                       .predefined = predefined,
                                       .impl = impl,
                                       .model = impl == PF_IMPL_SMPI ? PF_MODEL_SMPI : PF_MODEL_PORTALS,
                                       .job_size = 4}};
        r->instances[impl] = &fakes[impl].instance;
    }
    r->active = r->instances[active];
    fake_step = NULL;
    fake_mixed_waits = fake_idles = 0;
    return r;
}

MPI_Request fake_request(struct pf_rank *r, enum pf_impl impl, int tag, struct fake_op **op)
{
    struct pf_request *request = pf_request_new(r, &fakes[impl].instance, PF_REQUEST_RECV, MPI_COMM_WORLD);
    *op = calloc(1, sizeof **op);
    **op = (struct fake_op){.impl = impl, .tag = tag, .source = tag % 4, .bytes = 10 * tag};
    request->native = (pf_native_request_t)*op;
    return (MPI_Request)(uintptr_t)request;
}

/* Doubles of what stands around requests in the middleware. */

void sg_actor_sleep_for(double seconds)
{
    fail_msg("%g seconds that were not configured", seconds);
}

void pf_adapter_no_hook(struct pf_instance *in)
{
    (void)in;
}

struct pf_comm *pf_comm_retain(struct pf_comm *comm)
{
    fake_comm_references += comm != NULL;
    return comm;
}

void pf_comm_release(struct pf_comm *comm)
{
    assert_non_null(comm);
    fake_comm_references--;
}

void pf_op_retain(MPI_Op handle)
{
    fake_operations += !pf_is_predefined(handle);
}

void pf_op_release(MPI_Op handle)
{
    fake_operations -= !pf_is_predefined(handle);
}

void pf_bsend_prepare(struct pf_rank *r, struct pf_instance *in)
{
    (void)r, (void)in;
}

void pf_progress_enter(struct pf_rank *r, int impl)
{
    (void)r, (void)impl;
}

void pf_switch_by_schedule(struct pf_rank *r, const struct pf_call_shape *shape)
{
    (void)r, (void)shape;
}

void pf_comm_schedule_message(struct pf_rank *r, int peer, int count, MPI_Datatype datatype, MPI_Comm comm)
{
    (void)r, (void)peer, (void)count, (void)datatype, (void)comm;
}

struct pf_traffic *pf_traffic; /* it is not wanted */

void pf_comm_traffic(struct pf_rank *r, const struct pf_instance *in, int peer, int count,
                     MPI_Datatype datatype, MPI_Comm comm)
{
    (void)r, (void)in, (void)peer, (void)count, (void)datatype, (void)comm;
}

void pf_stranded_note_sent(struct pf_rank *r, struct pf_instance *in, MPI_Comm comm, int peer, int tag)
{
    (void)r, (void)in, (void)comm, (void)peer, (void)tag;
}

void pf_stranded_received(struct pf_rank *r, struct pf_instance *in, const struct pf_request *request)
{
    (void)r, (void)in, (void)request;
}

void pf_call_idle_uncharged(struct pf_rank *r, struct pf_instance *in)
{
    pf_call_idle(r, in);
}

void pf_call_idle(struct pf_rank *r, struct pf_instance *in)
{
    (void)r, (void)in;
    fake_idles++;
}

/* The real one sleeps until something happens; here the test makes it happen. */
void pf_wait_mixed(struct pf_wait_set *set)
{
    fake_mixed_waits++;
    for (;;) {
        for (int i = 0; i < set->count; i++) {
            struct pf_request *request = set->requests[i];
            if (!pf_request_is_active(request))
                continue;
            pf_request_try(request);
            set->active -= request->done;
            set->done += request->done;
        }
        if (set->done)
            return;
        block();
    }
}

/* There is no ledger here. */
bool pf_ledger_on;

struct pf_instance *pf_ledger_send(struct pf_rank *r, struct pf_ledger_side *side, struct pf_ledger_route *to)
{
    (void)side, (void)to;
    return r->active;
}

struct pf_instance *pf_ledger_receive(struct pf_rank *r, struct pf_ledger_side *side,
                                      struct pf_ledger_route *from)
{
    (void)side, (void)from;
    return r->active;
}

void pf_ledger_started(struct pf_ledger_side *side, bool accepted)
{
    (void)side, (void)accepted;
}

void pf_ledger_completed(struct pf_ledger_side *side, MPI_Status *status)
{
    (void)side, (void)status;
}

void pf_ledger_forget(struct pf_ledger_side *side)
{
    (void)side;
}

bool pf_ledger_cancel(struct pf_ledger_side *side)
{
    (void)side;
    return true;
}

bool pf_bsend_must_copy(struct pf_rank *r, MPI_Comm comm, int dest, int tag)
{
    (void)r, (void)comm, (void)dest, (void)tag;
    return false;
}

int pf_bsend_copy(struct pf_rank *r, const void *buffer, int count, MPI_Datatype datatype, int dest, int tag,
                  MPI_Comm comm)
{
    (void)r, (void)buffer, (void)count, (void)datatype, (void)dest, (void)tag, (void)comm;
    return MPI_ERR_OTHER;
}
