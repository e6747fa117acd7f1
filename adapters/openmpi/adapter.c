/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Open MPI as the middleware sees it: the operations of adapter.h over the functions of openmpi.h. It knows
 * the hub's header and the table of functions, so it is compiled with the middleware.
 */
#include "adapters/adapter.h"

#include <stdio.h>
#include <stdlib.h>

#include <simgrid/actor.h>

#include "adapters/openmpi/native.h"
#include "adapters/openmpi/openmpi.h"
#include "base/config.h"
#include "base/error.h"
#include "middleware/include/mpi.h"
#include "pf_fn.h"

extern const struct pf_adapter pf_adapter_openmpi;

struct rank {
    struct pf_instance in;
    struct pf_ompi_instance *inst;
    bool inside; /* the rank's own actor is in a native call, perhaps blocked in it */
    struct pf_native_values values;
    void *fn[PF_FN_COUNT];
    void *predefined[PF_PREDEFINED_LIMIT];
};

static struct {
    struct rank *ranks;
    int size;
} all;

static const struct {
    uintptr_t hub;
    const char *symbol;
} handles[] = {
#define PF_NATIVE_HANDLE(name, symbol) {(uintptr_t)name, #symbol},
#define PF_NATIVE_ERROR(name)
#include "adapters/openmpi/names.def"
#undef PF_NATIVE_HANDLE
#undef PF_NATIVE_ERROR
};

static const int hub_errors[] = {
#define PF_NATIVE_HANDLE(name, symbol)
#define PF_NATIVE_ERROR(name) name,
#include "adapters/openmpi/names.def"
#undef PF_NATIVE_HANDLE
#undef PF_NATIVE_ERROR
};

static const char *const functions[PF_FN_COUNT] = {
#define X(stem, route, group, smpi) [PF_FN_##stem] = "PMPI_" #stem,
    PF_FN_LIST(X)
#undef X
};

static struct rank *rank_of(struct pf_instance *in)
{
    return in->private_data;
}

static struct pf_ompi_instance *inst_of(struct pf_instance *in)
{
    return rank_of(in)->inst;
}

static int adapter_probe(char *why, size_t n)
{
    return pf_ompi_probe(1, why, n);
}

static void fill_rank(struct rank *rank, int number)
{
    rank->inst = pf_ompi_instance(number);
    pf_native_values_fill(rank->inst, &rank->values);
    for (int i = 0; i < PF_FN_COUNT; i++)
        rank->fn[i] = pf_ompi_symbol(rank->inst, functions[i]);
    for (size_t i = 0; i < sizeof handles / sizeof handles[0]; i++)
        rank->predefined[handles[i].hub] = pf_ompi_symbol(rank->inst, handles[i].symbol);
    rank->in = (struct pf_instance){
        .adapter = &pf_adapter_openmpi,
        .ops = pf_adapter_openmpi.ops,
        .values = &rank->values,
        .fn = rank->fn,
        .predefined = rank->predefined,
        .impl = PF_IMPL_OPENMPI,
        .rank = number,
        .private_data = rank,
    };
}

static int adapter_open(const struct pf_job *job, char *why, size_t n)
{
    struct pf_ompi_job given = {job->size, job->ranks, job->on_abort};
    int error = pf_ompi_open(&given, why, n);
    if (error == PF_SUCCESS)
        error = pf_ompi_instances_create(why, n);
    if (error != PF_SUCCESS || all.ranks)
        return error;
    struct rank *ranks = calloc((size_t)job->size, sizeof *ranks);
    if (!ranks) {
        snprintf(why, n, "no memory for the tables of %d instances of Open MPI", job->size);
        return PF_ERR_NO_MEMORY;
    }
    for (int i = 0; i < job->size; i++)
        fill_rank(&ranks[i], i);
    all.size = job->size;
    all.ranks = ranks;
    return PF_SUCCESS;
}

static struct pf_instance *adapter_instance(int rank)
{
    return all.ranks && rank >= 0 && rank < all.size ? &all.ranks[rank].in : NULL;
}

/* The instances are initialised when they are opened. */
static int adapter_start(struct pf_instance *in)
{
    (void)in;
    return PF_SUCCESS;
}

static int adapter_finish(struct pf_instance *in)
{
    return pf_ompi_finalize(inst_of(in), true) == 0 ? PF_SUCCESS : PF_ERR_NATIVE;
}

static void adapter_enter(struct pf_instance *in)
{
    rank_of(in)->inside = true;
    pf_ompi_enter(inst_of(in));
}

static void adapter_leave(struct pf_instance *in)
{
    rank_of(in)->inside = false;
}

static void adapter_idle(struct pf_instance *in)
{
    (void)in;
    sg_actor_sleep_for(pf_config.openmpi_idle_time);
}

static int hub_rank(int native)
{
    return native == pf_native_special.any_source  ? MPI_ANY_SOURCE
           : native == pf_native_special.proc_null ? MPI_PROC_NULL
                                                   : native;
}

static void adapter_status_get(const void *native, struct pf_native_status_view *out)
{
    pf_native_status_get(native, out);
    out->source = hub_rank(out->source);
    out->tag = out->tag == pf_native_special.any_tag ? MPI_ANY_TAG : out->tag;
}

static void adapter_status_set(void *native, const struct pf_native_status_view *in)
{
    struct pf_native_status_view view = *in;
    if (view.source == MPI_ANY_SOURCE)
        view.source = pf_native_special.any_source;
    else if (view.source == MPI_PROC_NULL)
        view.source = pf_native_special.proc_null;
    view.tag = view.tag == MPI_ANY_TAG ? pf_native_special.any_tag : view.tag;
    pf_native_status_set(native, &view);
}

static int hub_error(int native_class)
{
    int row = pf_native_error_row(native_class);
    return row >= 0 ? hub_errors[row] : MPI_ERR_UNKNOWN;
}

static int adapter_error_class(struct pf_instance *in, int code)
{
    int native_class = code;
    int (*error_class)(int, int *);
    if (code == 0)
        return MPI_SUCCESS;
    *(void **)&error_class = in->fn[PF_FN_Error_class];
    return error_class && error_class(code, &native_class) == 0 ? hub_error(native_class) : MPI_ERR_UNKNOWN;
}

static int adapter_comm_twin(struct pf_instance *in, const int *world_ranks, int n, int me, int id,
                             bool node_local, void **native)
{
    (void)node_local;
    if (id >= pf_ompi_twin_limit())
        return PF_ERR_LIMIT;
    return pf_ompi_comm_twin(inst_of(in), world_ranks, n, me, id, native) == 0 ? PF_SUCCESS : PF_ERR_NATIVE;
}

static void adapter_comm_free(struct pf_instance *in, void *native)
{
    pf_ompi_comm_release(inst_of(in), native);
}

static void adapter_comm_errors_return(struct pf_instance *in, void *native)
{
    pf_ompi_comm_errors_return(inst_of(in), native);
}

static bool adapter_request_done(struct pf_instance *in, void *request)
{
    return pf_ompi_request_done(inst_of(in), request);
}

/* Open MPI without threads cannot be entered twice; a rank that is inside makes its own progress. */
static void adapter_progress(struct pf_instance *in)
{
    if (!rank_of(in)->inside)
        pf_ompi_progress(inst_of(in));
}

static const struct pf_adapter_ops ops = {
    .size = sizeof ops,
    .probe = adapter_probe,
    .open = adapter_open,
    .instance = adapter_instance,
    .start = adapter_start,
    .finish = adapter_finish,
    .enter = adapter_enter,
    .leave = adapter_leave,
    .idle = adapter_idle,
    .status_get = adapter_status_get,
    .status_set = adapter_status_set,
    .error_class = adapter_error_class,
    .comm_twin = adapter_comm_twin,
    .comm_free = adapter_comm_free,
    .comm_errors_return = adapter_comm_errors_return,
    .request_done = adapter_request_done,
    .progress = adapter_progress,
};

const struct pf_adapter pf_adapter_openmpi = {
    .abi = PF_ADAPTER_ABI,
    .name = "openmpi",
    .ops = &ops,
};
