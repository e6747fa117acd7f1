/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Stock Open MPI behind the middleware's interface: translates values, names symbols and keeps accounts;
 * openmpi.h does the work. Compiled with Open MPI's own mpi.h: here MPI_ANY_SOURCE is Open MPI's.
 */
#include "adapters/adapter.h"

#include <mpi.h>

#include <simgrid/actor.h>

#include "adapters/openmpi/glue/glue.h"
#include "adapters/openmpi/openmpi.h"
#include "adapters/openmpi/private/private.h"
#include "adapters/openmpi/stack.h"
#include "adapters/openmpi/waits.h"
#include "adapters/predefined.h"
#include "base/config.h"
#include "base/error.h"
#include "base/log.h"
#include "base/memory.h"
#include "lowlevel/portals/runtime.h"
#include "pf_own.h"

struct openmpi_instance {
    struct pf_instance base;
    struct pf_ompi_instance *ompi;
    const struct pf_glue *glue;
    const struct pf_ompi_stack_ops *nic;
    pf_self_t *self;
    union pf_own_table functions;
    void *predefined[PF_PREDEFINED_LIMIT];
    struct pf_native_values values;
};

/* Stock Open MPI over one of its stacks. */
struct kind {
    struct pf_ompi_stack *stack;
    const struct pf_adapter *adapter;
    enum pf_impl impl;
    struct openmpi_instance **instances;
    void (*on_progress)(void *rank, int impl);
};

static struct kind over_portals = {&pf_ompi_portals, &pf_openmpi_adapter, PF_IMPL_OPENMPI, NULL, NULL};
static struct kind over_ucx = {&pf_ompi_ucx, &pf_openmpi_ucx_adapter, PF_IMPL_UCX, NULL, NULL};

/* A predefined handle of Open MPI is the address of an object in libmpi, which each instance has of its
 * own. */
#undef OMPI_PREDEFINED_GLOBAL
#define OMPI_PREDEFINED_GLOBAL(type, global) #global

/* Names of MPI-1 that the library still has although its header hides them. */
#undef MPI_LB
#undef MPI_UB
#define MPI_LB PF_OMPI_LB
#define MPI_UB PF_OMPI_UB

/* Built without it: messages carry it as something as long, which no arithmetic operation takes. */
#undef MPI_INTEGER16
#define MPI_INTEGER16 PF_OMPI_INTEGER16

static const struct {
    const char *symbol;
    int value;
} predefined_symbols[] = {
#define X(name, value) {name, value},
    PF_PREDEFINED_LIST(X)
#undef X
        {MPI_COMM_NULL, PF_PREDEFINED_COMM_NULL},
    {MPI_COMM_WORLD, PF_PREDEFINED_COMM_WORLD},
    {MPI_COMM_SELF, PF_PREDEFINED_COMM_SELF},
    {MPI_GROUP_NULL, PF_PREDEFINED_GROUP_NULL},
    {MPI_GROUP_EMPTY, PF_PREDEFINED_GROUP_EMPTY},
    {MPI_WIN_NULL, PF_PREDEFINED_WIN_NULL},
    {MPI_FILE_NULL, PF_PREDEFINED_FILE_NULL},
    {MPI_MESSAGE_NULL, PF_PREDEFINED_MESSAGE_NULL},
    {MPI_MESSAGE_NO_PROC, PF_PREDEFINED_MESSAGE_NO_PROC},
    {MPI_INFO_NULL, PF_PREDEFINED_INFO_NULL},
    {MPI_REQUEST_NULL, PF_PREDEFINED_REQUEST_NULL},
};

static const struct pf_native_values common_values = {
    PF_NATIVE_NAMED_VALUES,
    .needs_progress = true,
    .file_modes = {MPI_MODE_APPEND, MPI_MODE_CREATE, MPI_MODE_DELETE_ON_CLOSE, MPI_MODE_EXCL, MPI_MODE_RDONLY,
                   MPI_MODE_RDWR, MPI_MODE_SEQUENTIAL, MPI_MODE_UNIQUE_OPEN, MPI_MODE_WRONLY},
    .seek_set = MPI_SEEK_SET,
    .seek_cur = MPI_SEEK_CUR,
    .seek_end = MPI_SEEK_END,
    .displacement_current = MPI_DISPLACEMENT_CURRENT,
    .tag_upper_bound =
        (1 << 23) - 1, /* mtl/portals4 has 24 bits and takes the highest for the tags of collectives */
    .status_size = sizeof(MPI_Status),
    .unweighted = MPI_UNWEIGHTED,
};

static const struct openmpi_instance *own(const struct pf_instance *in)
{
    return (const struct openmpi_instance *)in;
}

static int portals_probe(char *why, size_t why_size)
{
    return pf_ompi_probe(&pf_ompi_portals, 1, why, why_size);
}

static int ucx_probe(char *why, size_t why_size)
{
    return pf_ompi_probe(&pf_ompi_ucx, 1, why, why_size);
}

static void fill_instance(struct openmpi_instance *in)
{
    static const char *const names[] = {
#define X(stem, route, group, smpi) "PMPI_" #stem,
        PF_FN_LIST(X)
#undef X
    };
    for (int i = 0; i < PF_FN_COUNT; i++)
        in->functions.by_number[i] = pf_ompi_symbol(in->ompi, names[i]);
    for (size_t i = 0; i < sizeof predefined_symbols / sizeof predefined_symbols[0]; i++)
        in->predefined[predefined_symbols[i].value] = pf_ompi_symbol(in->ompi, predefined_symbols[i].symbol);
    /* A middleware value that names nothing is passed on as a null handle, so that the native call reports
     * the error. */
    in->values = common_values;
    in->values.request_null = in->predefined[PF_PREDEFINED_REQUEST_NULL];
    in->values.datatype_null = pf_ompi_symbol(in->ompi, MPI_DATATYPE_NULL);
    in->values.comm_null = in->predefined[PF_PREDEFINED_COMM_NULL];
    in->values.group_null = in->predefined[PF_PREDEFINED_GROUP_NULL];
    in->values.info_null = in->predefined[PF_PREDEFINED_INFO_NULL];
    in->values.op_null = pf_ompi_symbol(in->ompi, MPI_OP_NULL);
}

static struct openmpi_instance *make_instance(const struct kind *kind, const struct pf_job *job, int rank)
{
    struct openmpi_instance *in = pf_calloc(1, sizeof *in);
    in->ompi = pf_ompi_instance(kind->stack, rank);
    in->nic = kind->stack->ops;
    in->glue = pf_ompi_glue(in->ompi);
    in->self = job->ranks[rank];
    in->base = (struct pf_instance){.adapter = kind->adapter,
                                    .ops = kind->adapter->ops,
                                    .values = &in->values,
                                    .fn = &in->functions.native,
                                    .predefined = in->predefined,
                                    .impl = kind->impl,
                                    .rank = rank,
                                    .job_size = job->size,
                                    .message_cost = pf_config.openmpi_message_cost};
    fill_instance(in);
    if (kind->impl != PF_IMPL_OPENMPI) /* of two implementations, sides that call it would not meet */
        in->functions.native.Intercomm_create = NULL;
    return in;
}

/* The NIC of a rank has something for its instance. */
static void portals_changed(void *rank)
{
    over_portals.on_progress(rank, PF_IMPL_OPENMPI);
}

static void ucx_changed(void *rank)
{
    over_ucx.on_progress(rank, PF_IMPL_UCX);
}

static int make_instances(struct kind *kind, void (*changed)(void *rank), const struct pf_job *job, char *why,
                          size_t why_size)
{
    struct pf_ompi_job ompi_job = {.size = job->size, .ranks = job->ranks, .on_abort = job->on_abort};
    int error = pf_ompi_open(kind->stack, &ompi_job, why, why_size);
    if (!error)
        error = pf_ompi_instances_create(kind->stack, why, why_size);
    if (error)
        return error;
    if (kind->instances)
        return PF_SUCCESS; /* another rank has waited for the same */
    kind->on_progress = job->on_progress;
    kind->instances = pf_calloc((size_t)job->size, sizeof(struct openmpi_instance *));
    for (int i = 0; i < job->size; i++) {
        kind->instances[i] = make_instance(kind, job, i);
        kind->stack->ops->set_notify(job->ranks[i], changed, job->ranks[i]->mpi);
    }
    return PF_SUCCESS;
}

static int portals_open(const struct pf_job *job, char *why, size_t why_size)
{
    return make_instances(&over_portals, portals_changed, job, why, why_size);
}

static int ucx_open(const struct pf_job *job, char *why, size_t why_size)
{
    return make_instances(&over_ucx, ucx_changed, job, why, why_size);
}

/* Further ones differ in nothing but the network. */
static struct pf_instance *further_instance(const struct kind *kind, int rank, const char *network)
{
    struct openmpi_instance *in = pf_malloc(sizeof *in);
    *in = *kind->instances[rank];
    in->base.network = pf_portals_network(network);
    if (in->base.network < 0)
        pf_die("the simulated NIC has no network '%s'", network);
    return &in->base;
}

static struct pf_instance *portals_instance(int rank, const char *network)
{
    return further_instance(&over_portals, rank, network);
}

static struct pf_instance *ucx_instance(int rank, const char *network)
{
    return further_instance(&over_ucx, rank, network);
}

/* The rank's instance was initialised on its behalf when Open MPI was loaded. */
static int openmpi_finish(struct pf_instance *in)
{
    return PF_SUCCESS;
}

/* Open MPI's own computation is not charged, but for a cost that the user configures. */
static void openmpi_enter(struct pf_instance *in)
{
    if (pf_config.openmpi_call_cost > 0)
        sg_actor_sleep_for(pf_config.openmpi_call_cost);
    pf_ompi_enter(own(in)->ompi, in->network);
}

static void openmpi_idle(struct pf_instance *in)
{
    sg_actor_sleep_for(pf_config.openmpi_idle_time);
}

static void status_get(const void *native, struct pf_native_status_view *out)
{
    const MPI_Status *status = native;
    out->source = status->MPI_SOURCE;
    out->tag = status->MPI_TAG;
    out->error = status->MPI_ERROR;
    out->cancelled = status->_cancelled;
    out->bytes = (int64_t)status->_ucount;
}

static int error_class(struct pf_instance *in, int code)
{
    int class = code;
    in->fn->Error_class(code, &class);
    PF_RETURN_ERROR_CLASS(class);
}

static void check_id(const struct pf_instance *in, int id)
{
    int limit = own(in)->glue->shadow_limit;
    if (id >= limit)
        pf_die("rank %d: more than %d communicators at once in the portals model", in->rank, limit);
}

static int intercomm_shadow(struct pf_instance *in, const struct pf_intercomm_recipe *recipe, void **native)
{
    check_id(in, recipe->id);
    check_id(in, recipe->local_id);
    int code = own(in)->glue->intercomm_shadow(recipe, native);
    return code == MPI_SUCCESS ? PF_SUCCESS : PF_ERR_NATIVE;
}

static int comm_shadow(struct pf_instance *in, const int *world_ranks, int n, int me, int id, bool node_local,
                       void **native)
{
    check_id(in, id);
    int code = own(in)->glue->comm_shadow(world_ranks, n, me, id, native);
    return code == MPI_SUCCESS ? PF_SUCCESS : PF_ERR_NATIVE;
}

static void comm_free(struct pf_instance *in, void *native)
{
    own(in)->glue->comm_free(native);
}

static bool comm_kept(struct pf_instance *in, int id)
{
    return own(in)->glue->comm_kept(id);
}

static void comm_errors_return(struct pf_instance *in, void *native)
{
    own(in)->glue->comm_errors_return(native);
}

static void win_made(struct pf_instance *in, void *native)
{
    own(in)->glue->window_made(native);
}

static void win_gone(struct pf_instance *in, void *native)
{
    own(in)->glue->window_gone(native);
}

static int win_shadow(struct pf_instance *in, const struct pf_win_recipe *recipe, void **native)
{
    void *comm = NULL;
    pf_ompi_enter(own(in)->ompi, in->network);
    int error = comm_shadow(in, recipe->world_ranks, recipe->members, recipe->me, recipe->id, false, &comm);
    if (error)
        return error;
    /* The NIC writes what the component asks for (receives, list entries) without any time of its own. */
    own(in)->nic->free_mode(own(in)->self, true);
    int code = own(in)->glue->window_shadow(recipe, comm, native);
    own(in)->nic->free_mode(own(in)->self, false);
    return code == MPI_SUCCESS ? PF_SUCCESS : PF_ERR_NATIVE;
}

static int win_open(struct pf_instance *in, void *native)
{
    pf_ompi_enter(own(in)->ompi, in->network);
    int code = own(in)->glue->window_open(native);
    return code == MPI_SUCCESS ? PF_SUCCESS : PF_ERR_NATIVE;
}

static void win_free(struct pf_instance *in, void *native)
{
    pf_ompi_enter(own(in)->ompi, in->network);
    own(in)->nic->free_mode(own(in)->self, true);
    own(in)->glue->window_free(native);
    own(in)->nic->free_mode(own(in)->self, false);
}

/* As in Open MPI's component for shared memory: the sizes, and then the place. */
static int win_share(struct pf_instance *in, void *comm, const void *mine, void *all_sizes, int bytes)
{
    void *byte = pf_ompi_symbol(own(in)->ompi, MPI_BYTE), *place = NULL;
    int code = in->fn->Allgather(mine, bytes, byte, all_sizes, bytes, byte, comm);
    if (code == MPI_SUCCESS)
        code = in->fn->Bcast(&place, sizeof place, byte, 0, comm);
    return code;
}

static bool request_done(struct pf_instance *in, void *request)
{
    return own(in)->glue->request_done(request);
}

/* The event that completes it may lie in the queue of a rank that waits for others, too. */
static bool request_will_be_done(struct pf_instance *in, void *request)
{
    return request_done(in, request) || pf_portals_any_event(own(in)->self, pf_ompi_event_completes, request);
}

static void openmpi_progress(struct pf_instance *in)
{
    pf_ompi_progress(own(in)->ompi);
}

/* What both stacks have. */
#define COMMON_OPS                                                                                           \
    .start = pf_adapter_no_start, .finish = openmpi_finish, .enter = openmpi_enter,                          \
    .leave = pf_adapter_no_hook, .idle = openmpi_idle, .settle = pf_adapter_no_hook,                         \
    .ahead = pf_adapter_no_debt, .status_get = status_get, .error_class = error_class,                       \
    .comm_shadow = comm_shadow, .intercomm_shadow = intercomm_shadow, .comm_free = comm_free,                \
    .comm_kept = comm_kept, .comm_errors_return = comm_errors_return, .win_made = win_made,                  \
    .win_gone = win_gone, .win_shadow = win_shadow, .win_open = win_open, .win_free = win_free,              \
    .win_share = win_share, .request_done = request_done, .progress = openmpi_progress

static const struct pf_adapter_ops portals_ops = {
    .size = sizeof portals_ops,
    .probe = portals_probe,
    .open = portals_open,
    .instance = portals_instance,
    .request_will_be_done = request_will_be_done,
    COMMON_OPS,
};

/* Nothing that comes is left lying where it comes: its rank is woken, or a helper. */
static const struct pf_adapter_ops ucx_ops = {
    .size = sizeof ucx_ops,
    .probe = ucx_probe,
    .open = ucx_open,
    .instance = ucx_instance,
    .request_will_be_done = request_done,
    COMMON_OPS,
};

const struct pf_adapter pf_openmpi_adapter = {
    .abi = PF_ADAPTER_ABI, .name = "openmpi", .version = PF_OMPI_VERSION, .ops = &portals_ops};

const struct pf_adapter pf_openmpi_ucx_adapter = {
    .abi = PF_ADAPTER_ABI, .name = "openmpi", .version = PF_OMPI_VERSION, .ops = &ucx_ops};
