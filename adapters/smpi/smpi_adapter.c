/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * SMPI, as the distribution ships it. All ranks share one implementation, so the tables are shared too; only
 * MPI_COMM_SELF differs. Compiled with SMPI's own mpi.h: here MPI_INT is SMPI's.
 */
#include "adapters/smpi/smpi_adapter.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <simgrid/actor.h>
#include <simgrid/version.h>
#include <smpi/smpi.h>
#include <xbt/config.h>

#include "adapters/predefined.h"
#include "adapters/smpi/smpi_accumulate.h"
#include "adapters/smpi/smpi_ended.h"
#include "adapters/smpi/smpi_partial.h"
#include "adapters/smpi/smpi_reduce.h"
#include "adapters/smpi/smpi_twin.h"
#include "adapters/smpi/smpi_win.h"
#include "base/config.h"
#include "base/error.h"
#include "base/log.h"
#include "pf_own.h"

/* Types of Fortran that SMPI has not got, or has with another size than the hub's. */
#define MPI_2COMPLEX        MPI_DATATYPE_NULL
#define MPI_2DOUBLE_COMPLEX MPI_DATATYPE_NULL
#undef MPI_INTEGER1
#undef MPI_INTEGER16 /* SMPI's ends the run in a reduction; this one is refused there, and as long */
#undef MPI_COMPLEX32
#define MPI_INTEGER1  MPI_INT8_T
#define MPI_INTEGER16 MPI_2LONG
#define MPI_COMPLEX32 MPI_C_LONG_DOUBLE_COMPLEX

/* SMPI defines C++'s types for C++ only. */
#undef MPI_CXX_BOOL
#undef MPI_CXX_FLOAT_COMPLEX
#undef MPI_CXX_DOUBLE_COMPLEX
#undef MPI_CXX_LONG_DOUBLE_COMPLEX
#define MPI_CXX_BOOL                MPI_C_BOOL
#define MPI_CXX_FLOAT_COMPLEX       MPI_C_FLOAT_COMPLEX
#define MPI_CXX_DOUBLE_COMPLEX      MPI_C_DOUBLE_COMPLEX
#define MPI_CXX_LONG_DOUBLE_COMPLEX MPI_C_LONG_DOUBLE_COMPLEX

static union pf_own_table functions;

struct smpi_instance {
    struct pf_instance base;
    void *predefined[PF_PREDEFINED_LIMIT];
    void *communications; /* see smpi_ended.h */
    size_t communications_limit;
};

static struct smpi_instance **instances;
static int instance_count;

static const struct pf_native_values values = {
    .any_source = MPI_ANY_SOURCE,
    .proc_null = MPI_PROC_NULL,
    .root = MPI_ROOT,
    .any_tag = MPI_ANY_TAG,
    .undefined = MPI_UNDEFINED,
    .order_c = MPI_ORDER_C,
    .mode_nocheck = MPI_MODE_NOCHECK,
    .mode_nostore = MPI_MODE_NOSTORE,
    .mode_noput = MPI_MODE_NOPUT,
    .mode_noprecede = MPI_MODE_NOPRECEDE,
    .mode_nosucceed = MPI_MODE_NOSUCCEED,
    .order_fortran = MPI_ORDER_FORTRAN,
    .distribute_block = MPI_DISTRIBUTE_BLOCK,
    .distribute_cyclic = MPI_DISTRIBUTE_CYCLIC,
    .distribute_none = MPI_DISTRIBUTE_NONE,
    .distribute_default = MPI_DISTRIBUTE_DFLT_DARG,
    .tag_upper_bound = 0x7fffffff,
    .most_item = INT_MAX, /* it counts bytes in an int */
    .most_bytes = INT_MAX,
    .charges_tests = true, /* smpi/test and smpi/iprobe */
    .status_size = sizeof(MPI_Status),
    .in_place = MPI_IN_PLACE,
    .bottom = MPI_BOTTOM,
    .bottom_lost = true,
    .request_null = MPI_REQUEST_NULL,
};

static int smpi_probe(char *why, size_t why_size)
{
    int major, minor, patch;
    sg_version_get(&major, &minor, &patch);
    if (major == 3 && minor == 32)
        return PF_SUCCESS;
    snprintf(why, why_size, "SimGrid %d.%d.%d is installed, but 3.32 is needed (package libsimgrid-dev)",
             major, minor, patch);
    return PF_ERR_VERSION;
}

static int cancel(MPI_Request *request)
{
    if (pf_smpi_request_matched(*request))
        return MPI_SUCCESS; /* too late: it completes */
    int code = PMPI_Cancel(request);
    if (code == MPI_SUCCESS)
        pf_smpi_request_cancelled(*request);
    return code;
}

/* SMPI deletes a request that still waits for its other side, which then finds a dangling one. It is kept. */
static int request_free(MPI_Request *request)
{
    if (!pf_smpi_request_waits(*request))
        return PMPI_Request_free(request);
    *request = MPI_REQUEST_NULL;
    return MPI_SUCCESS;
}

/* Calls the table marks as stubs would abort the process; they stay NULL and are never called. */
static void find_functions(void)
{
    static const char *const names[] = {
#define X(stem, route, group, smpi) "PMPI_" #stem,
        PF_FN_LIST(X)
#undef X
    };
    static const char *const have[] = {
#define X(stem, route, group, smpi) #smpi,
        PF_FN_LIST(X)
#undef X
    };
    for (int i = 0; i < PF_FN_COUNT; i++)
        if (strcmp(have[i], "yes") == 0)
            functions.by_number[i] = dlsym(RTLD_DEFAULT, names[i]);
    struct pf_own_fn *fn = &functions.own;
    pf_smpi_accumulate_install(fn);
    pf_smpi_reduce_install(fn);
    fn->Cancel = cancel;
    fn->Request_free = request_free;
}

static void fill_predefined(void **table)
{
    for (int i = 0; i < PF_PREDEFINED_LIMIT; i++)
        table[i] = NULL; /* every null handle of SMPI is NULL; a value that names nothing is not valid there
                            either */
#define X(name, value) table[value] = (void *)name;
    PF_PREDEFINED_LIST(X)
#undef X
    table[PF_PREDEFINED_COMM_WORLD] = MPI_COMM_WORLD;
    table[PF_PREDEFINED_GROUP_EMPTY] = MPI_GROUP_EMPTY;
}

static int smpi_open(const struct pf_job *job, char *why, size_t why_size)
{
    int error = smpi_probe(why, why_size);
    if (error)
        return error;
    find_functions();
    pf_smpi_partial_install();
    instance_count = job->size;
    if (instance_count == 0) { /* under stock smpirun nobody has told the size */
        int size = 0;
        MPI_Group group;
        PMPI_Comm_group(MPI_COMM_WORLD, &group);
        PMPI_Group_size(group, &size);
        PMPI_Group_free(&group);
        instance_count = size;
    }
    instances = calloc((size_t)instance_count, sizeof(struct smpi_instance *));
    return PF_SUCCESS;
}

static struct pf_instance *smpi_instance(int rank)
{
    if (!instances[rank]) {
        struct smpi_instance *in = malloc(sizeof *in);
        in->base = (struct pf_instance){.adapter = &pf_smpi_adapter,
                                        .ops = pf_smpi_adapter.ops,
                                        .values = &values,
                                        .fn = &functions.native,
                                        .predefined = in->predefined,
                                        .impl = PF_IMPL_SMPI,
                                        .rank = rank,
                                        .job_size = instance_count};
        in->communications = NULL;
        in->communications_limit = 0;
        fill_predefined(in->predefined);
        instances[rank] = in;
    }
    return &instances[rank]->base;
}

static int smpi_start(struct pf_instance *in)
{
    struct smpi_instance *self = (struct smpi_instance *)in;
    self->communications = pf_config.smpi_forget ? pf_smpi_communications() : NULL;
    int code = PMPI_Init(NULL, NULL);
    if (code != MPI_SUCCESS)
        return code;
    self->predefined[PF_PREDEFINED_COMM_SELF] = MPI_COMM_SELF;
    PMPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    PMPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    return MPI_SUCCESS;
}

static int smpi_finish(struct pf_instance *in)
{
    (void)in;
    return PMPI_Finalize();
}

static void smpi_leave(struct pf_instance *in)
{
    struct smpi_instance *self = (struct smpi_instance *)in;
    pf_smpi_forget_ended(self->communications, &self->communications_limit);
}

static void smpi_idle(struct pf_instance *in)
{
    (void)in;
    sg_actor_sleep_for(sg_cfg_get_double("smpi/test"));
}

static void status_get(const void *native, struct pf_native_status_view *out)
{
    const MPI_Status *status = native;
    out->source = status->MPI_SOURCE;
    out->tag = status->MPI_TAG;
    out->error = status->MPI_ERROR;
    out->cancelled = status->cancelled;
    out->bytes = status->count;
}

static void status_set(void *native, const struct pf_native_status_view *in)
{
    MPI_Status *status = native;
    status->MPI_SOURCE = in->source;
    status->MPI_TAG = in->tag;
    status->MPI_ERROR = in->error;
    status->cancelled = in->cancelled;
    status->count = (int)in->bytes;
}

/* SMPI's codes are its classes. */
static int error_class(struct pf_instance *in, int code)
{
    (void)in;
    switch (code) {
#define X(name, value)                                                                                       \
    case name:                                                                                               \
        return value;
        PF_ERROR_CLASS_LIST(X)
#undef X
    default:
        return 16; /* MPI_ERR_OTHER of the hub */
    }
}

static int comm_twin(struct pf_instance *in, const int *world_ranks, int n, int me, int id, bool node_local,
                     void **native)
{
    (void)in;
    (void)me;
    MPI_Group world, group;
    int code = PMPI_Comm_group(MPI_COMM_WORLD, &world);
    if (code == MPI_SUCCESS)
        code = PMPI_Group_incl(world, n, world_ranks, &group);
    if (code != MPI_SUCCESS)
        return PF_ERR_NATIVE;
    PMPI_Group_free(&world);
    *native = pf_smpi_comm_new(group, id, node_local);
    return PF_SUCCESS;
}

static void comm_free(struct pf_instance *in, void *native)
{
    (void)in;
    MPI_Comm comm = native;
    PMPI_Comm_free(&comm);
}

static void comm_errors_return(struct pf_instance *in, void *native)
{
    (void)in;
    PMPI_Comm_set_errhandler(native, MPI_ERRORS_RETURN);
}

static void win_made(struct pf_instance *in, void *native)
{
    (void)in;
    PMPI_Win_set_errhandler(native, MPI_ERRORS_RETURN);
}

static void win_gone(struct pf_instance *in, void *native)
{
    (void)in;
    (void)native;
}

static int win_twin(struct pf_instance *in, const struct pf_win_recipe *recipe, void **native)
{
    *native = pf_smpi_win_new(recipe);
    win_made(in, *native);
    return PF_SUCCESS;
}

static int win_open(struct pf_instance *in, void *native)
{
    (void)in;
    pf_smpi_win_open(native);
    return PF_SUCCESS;
}

static void win_free(struct pf_instance *in, void *native)
{
    (void)in;
    pf_smpi_win_free(native);
}

static int win_share(struct pf_instance *in, void *comm, const void *mine, void *all_sizes, int bytes)
{
    (void)in;
    (void)mine;
    (void)all_sizes;
    (void)bytes;
    return pf_smpi_win_share(comm);
}

static bool request_done(struct pf_instance *in, void *request)
{
    (void)in;
    return pf_smpi_request_done(request);
}

static const struct pf_adapter_ops ops = {
    .size = sizeof ops,
    .probe = smpi_probe,
    .open = smpi_open,
    .instance = smpi_instance,
    .start = smpi_start,
    .finish = smpi_finish,
    .enter = pf_adapter_no_hook,
    .leave = smpi_leave,
    .idle = smpi_idle,
    .settle = pf_adapter_no_hook,
    .ahead = pf_adapter_no_debt,
    .status_get = status_get,
    .status_set = status_set,
    .error_class = error_class,
    .comm_twin = comm_twin,
    .intercomm_twin = pf_adapter_no_intercomm,
    .comm_free = comm_free,
    .comm_errors_return = comm_errors_return,
    .win_made = win_made,
    .win_gone = win_gone,
    .win_twin = win_twin,
    .win_open = win_open,
    .win_free = win_free,
    .win_share = win_share,
    .request_done = request_done,
    .progress = pf_adapter_no_hook, /* SimGrid's activities need nobody to call them */
};

const struct pf_adapter pf_smpi_adapter = {.abi = PF_ADAPTER_ABI, .name = "smpi", .ops = &ops};
