/* SPDX-License-Identifier: BSD-3-Clause */
/* Stock MPICH behind the middleware's interface: translates values, handles and statuses. The names of the
 * standard mean MPICH's values here (abi.h). */
#include "adapters/adapter.h"

#include <string.h>

#include "adapters/mpich/abi.h"
#include "adapters/mpich/calls.h"
#include "adapters/mpich/mpich.h"
#include "adapters/predefined.h"
#include "base/config.h"
#include "base/error.h"
#include "base/log.h"
#include "base/memory.h"
#include "loader/copy.h"
#include "lowlevel/portals/runtime.h"
#include "lowlevel/ucx/runtime.h"

struct mpich_instance {
    struct pf_instance base;
    struct pf_mpich_rank *rank;
    union {
        struct pf_native_fn native;
        void *by_number[PF_FN_COUNT];
    } functions;
    struct pf_native_values values;
};
_Static_assert(sizeof(struct pf_native_fn) == PF_FN_COUNT * sizeof(void *), "one pointer for each function");

static struct mpich_instance **instances;
static void (*on_progress)(void *rank, int impl);

static void *handle(int value)
{
    return (void *)(uintptr_t)(unsigned)value;
}

static int integer(const void *native)
{
    return (int)(uintptr_t)native;
}

static struct pf_mpich_rank *of(const struct pf_instance *in)
{
    return ((const struct mpich_instance *)in)->rank;
}

/* The same for all ranks, but for what the middleware puts there (adapter.h). */
static void **new_predefined(void)
{
    static const struct {
        int value, middleware;
    } rows[] = {
#define X(name, value) {(int)(name), value},
        PF_PREDEFINED_LIST(X)
#undef X
            {MPI_COMM_NULL, PF_PREDEFINED_COMM_NULL},
        {MPI_COMM_WORLD, PF_PREDEFINED_COMM_WORLD},
        {MPI_COMM_SELF, PF_PREDEFINED_COMM_SELF},
        {MPI_GROUP_NULL, PF_PREDEFINED_GROUP_NULL},
        {MPI_GROUP_EMPTY, PF_PREDEFINED_GROUP_EMPTY},
        {MPI_WIN_NULL, PF_PREDEFINED_WIN_NULL},
        {MPI_MESSAGE_NULL, PF_PREDEFINED_MESSAGE_NULL},
        {MPI_MESSAGE_NO_PROC, PF_PREDEFINED_MESSAGE_NO_PROC},
        {MPI_INFO_NULL, PF_PREDEFINED_INFO_NULL},
        {MPI_REQUEST_NULL, PF_PREDEFINED_REQUEST_NULL},
    };
    void **predefined = pf_calloc(PF_PREDEFINED_LIMIT, sizeof *predefined);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        predefined[rows[i].middleware] = handle(rows[i].value);
    return predefined;
}

static const struct pf_native_values common_values = {
    PF_NATIVE_NAMED_VALUES,
    .needs_progress = true,
    .short_handles = true,
    .status_size = sizeof(struct mpich_status),
    .request_null = (void *)MPI_REQUEST_NULL,
    .datatype_null = (void *)MPI_DATATYPE_NULL,
    .comm_null = (void *)MPI_COMM_NULL,
    .group_null = (void *)MPI_GROUP_NULL,
    .info_null = (void *)MPI_INFO_NULL,
    .op_null = (void *)MPI_OP_NULL,
};

/* MPICH polls at each: a rank that frees many requests does not wait for anything. */
static int request_free(pf_native_request_t *request)
{
    int (*release)(pf_native_request_t *);
    struct pf_mpich_rank *rank = pf_mpich_caller();
    *(void **)&release = rank->natives[PF_FN_Request_free];
    pf_ucx_idle_reset(rank->self, PF_UCX_MPICH);
    return release(request);
}

/* Those of files are never called: other models do their work. */
static void find_functions(struct mpich_instance *in)
{
    for (int i = 0; i < PF_FN_COUNT; i++)
        in->functions.by_number[i] = pf_mpich_calls[i] ? pf_mpich_calls[i] : in->rank->natives[i];
}

static int tag_upper_bound(const struct pf_mpich_rank *rank)
{
    int *bound, set = 0, (*attribute)(int, int, void *, int *);
    *(void **)&attribute = rank->natives[PF_FN_Comm_get_attr];
    return attribute(MPI_COMM_WORLD, MPI_TAG_UB, &bound, &set) == MPI_SUCCESS && set ? *bound : 32767;
}

static struct mpich_instance *make_instance(const struct pf_job *job, int rank)
{
    struct mpich_instance *in = pf_calloc(1, sizeof *in);
    in->rank = pf_mpich_rank(rank);
    in->base = (struct pf_instance){.adapter = &pf_mpich_adapter,
                                    .ops = pf_mpich_adapter.ops,
                                    .values = &in->values,
                                    .fn = &in->functions.native,
                                    .predefined = new_predefined(),
                                    .impl = PF_IMPL_MPICH,
                                    .rank = rank,
                                    .job_size = job->size,
                                    .message_cost = pf_config.openmpi_message_cost};
    int *const *unweighted = pf_copy_symbol(in->rank->library, "MPI_UNWEIGHTED");
    in->values = common_values;
    in->values.tag_upper_bound = tag_upper_bound(in->rank);
    in->values.unweighted = unweighted ? *unweighted : NULL;
    find_functions(in);
    in->functions.native.Request_free = request_free;
    in->functions.native.Intercomm_create = NULL; /* sides that call another model's would not meet */
    return in;
}

/* The NIC of a rank has something for its copy. */
static void changed(void *rank)
{
    on_progress(rank, PF_IMPL_MPICH);
}

static int mpich_open(const struct pf_job *job, char *why, size_t n)
{
    int error = pf_mpich_open(job, why, n);
    if (error || instances)
        return error;
    on_progress = job->on_progress;
    instances = pf_calloc((size_t)job->size, sizeof(struct mpich_instance *));
    for (int i = 0; i < job->size; i++) {
        instances[i] = make_instance(job, i);
        pf_ucx_set_notify(job->ranks[i], PF_UCX_MPICH, changed, job->ranks[i]->mpi);
    }
    return PF_SUCCESS;
}

/* Further ones differ in nothing but the network. */
static struct pf_instance *mpich_instance(int rank, const char *network)
{
    struct mpich_instance *in = pf_malloc(sizeof *in);
    *in = *instances[rank];
    in->base.network = pf_portals_network(network);
    if (in->base.network < 0)
        pf_die("the simulated NIC has no network '%s'", network);
    return &in->base;
}

/* MPICH's own computation is not charged, but for a cost that the user configures. */
static void mpich_enter(struct pf_instance *in)
{
    if (pf_config.openmpi_call_cost > 0)
        sg_actor_sleep_for(pf_config.openmpi_call_cost);
    pf_ucx_enter(of(in)->self, PF_UCX_MPICH, in->network);
}

static void mpich_idle(struct pf_instance *in)
{
    sg_actor_sleep_for(pf_config.openmpi_idle_time);
}

static void status_get(const void *native, struct pf_native_status_view *out)
{
    struct mpich_status status;
    memcpy(&status, native, sizeof status);
    uint64_t high = (uint32_t)status.count_hi_and_cancelled;
    out->source = status.source;
    out->tag = status.tag;
    out->error = status.error;
    out->cancelled = (int)(high & 1);
    out->bytes = (int64_t)((high >> 1) << 32 | (uint32_t)status.count_lo);
}

static int error_class(struct pf_instance *in, int code)
{
    int class = code;
    in->fn->Error_class(code, &class);
    PF_RETURN_ERROR_CLASS(class);
}

static void check_id(const struct pf_instance *in, int id)
{
    if (id >= PF_MPICH_SHADOWS)
        pf_die("rank %d: more than %d communicators at once in model mpich", in->rank, PF_MPICH_SHADOWS);
}

static int comm_shadow(struct pf_instance *in, const int *world_ranks, int n, int me, int id, bool node_local,
                       void **native)
{
    int comm = MPI_COMM_NULL;
    check_id(in, id);
    int code = pf_mpich_comm_shadow(of(in), world_ranks, n, id, &comm);
    *native = handle(comm);
    return code == MPI_SUCCESS ? PF_SUCCESS : PF_ERR_NATIVE;
}

static int intercomm_shadow(struct pf_instance *in, const struct pf_intercomm_recipe *recipe, void **native)
{
    int comm = MPI_COMM_NULL;
    check_id(in, recipe->id);
    check_id(in, recipe->local_id);
    int code = pf_mpich_intercomm_shadow(of(in), recipe, &comm);
    *native = handle(comm);
    return code == MPI_SUCCESS ? PF_SUCCESS : PF_ERR_NATIVE;
}

/* Local in MPICH; operations in progress keep it alive. */
static void comm_free(struct pf_instance *in, void *native)
{
    int comm = integer(native), (*release)(int *);
    *(void **)&release = of(in)->natives[PF_FN_Comm_free];
    release(&comm);
}

static bool comm_kept(struct pf_instance *in, int id)
{
    return pf_mpich_comm_kept(of(in), id);
}

static void comm_errors_return(struct pf_instance *in, void *native)
{
    int (*set)(int, int);
    *(void **)&set = of(in)->natives[PF_FN_Comm_set_errhandler];
    set(integer(native), MPI_ERRORS_RETURN);
}

static void win_made(struct pf_instance *in, void *native)
{
    int (*set)(int, int);
    *(void **)&set = of(in)->natives[PF_FN_Win_set_errhandler];
    set(integer(native), MPI_ERRORS_RETURN);
}

static void win_gone(struct pf_instance *in, void *native)
{
}

static int win_shadow(struct pf_instance *in, const struct pf_win_recipe *recipe, void **native)
{
    int win = MPI_WIN_NULL;
    check_id(in, recipe->id);
    int code = pf_mpich_win_shadow(of(in), recipe, &win);
    *native = handle(win);
    if (code != MPI_SUCCESS)
        return PF_ERR_NATIVE;
    win_made(in, *native);
    return PF_SUCCESS;
}

static int win_open(struct pf_instance *in, void *native)
{
    return pf_mpich_win_open(of(in), integer(native));
}

static void win_free(struct pf_instance *in, void *native)
{
    pf_mpich_win_free(of(in), integer(native));
}

/* What members of a node tell each other. */
static int win_share(struct pf_instance *in, void *comm, const void *mine, void *all_sizes, int bytes)
{
    return in->fn->Allgather(mine, bytes, handle(MPI_BYTE), all_sizes, bytes, handle(MPI_BYTE), comm);
}

static bool request_done(struct pf_instance *in, void *request)
{
    return pf_mpich_request_done(of(in), integer(request));
}

/* A rank that waits has seen what is complete; outside of actors MPICH cannot be called. */
static bool request_will_be_done(struct pf_instance *in, void *request)
{
    return pf_self() && request_done(in, request);
}

static void mpich_progress(struct pf_instance *in)
{
    pf_mpich_progress(of(in));
}

static const struct pf_adapter_ops ops = {
    .size = sizeof ops,
    .probe = pf_mpich_probe,
    .open = mpich_open,
    .instance = mpich_instance,
    .start = pf_adapter_no_start,
    .finish = pf_adapter_no_start,
    .enter = mpich_enter,
    .leave = pf_adapter_no_hook,
    .idle = mpich_idle,
    .settle = pf_adapter_no_hook,
    .ahead = pf_adapter_no_debt,
    .status_get = status_get,
    .error_class = error_class,
    .comm_shadow = comm_shadow,
    .intercomm_shadow = intercomm_shadow,
    .comm_free = comm_free,
    .comm_kept = comm_kept,
    .comm_errors_return = comm_errors_return,
    .win_made = win_made,
    .win_gone = win_gone,
    .win_shadow = win_shadow,
    .win_open = win_open,
    .win_free = win_free,
    .win_share = win_share,
    .request_done = request_done,
    .request_will_be_done = request_will_be_done,
    .progress = mpich_progress,
};

const struct pf_adapter pf_mpich_adapter = {
    .abi = PF_ADAPTER_ABI, .name = "mpich", .version = NULL, .ops = &ops};
