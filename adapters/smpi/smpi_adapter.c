/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * SMPI, as the distribution ships it. All ranks share one implementation, so the tables are shared too; only
 * MPI_COMM_SELF differs. Compiled with SMPI's own mpi.h: here MPI_INT is SMPI's.
 */
#include "adapters/adapter.h"

#include <dlfcn.h>
#include <limits.h>
#include <string.h>

#include <simgrid/actor.h>
#include <smpi/smpi.h>
#include <xbt/config.h>

#include "adapters/local/local.h"
#include "adapters/predefined.h"
#include "adapters/smpi/smpi_functions.h"
#include "adapters/smpi/smpi_ended.h"
#include "adapters/smpi/smpi_packed.h"
#include "adapters/smpi/smpi_receive.h"
#include "adapters/smpi/smpi_shadow.h"
#include "adapters/smpi/smpi_win.h"
#include "base/config.h"
#include "base/error.h"
#include "base/memory.h"
#include "lowlevel/simgrid/check.h"
#include "pf_own.h"

static union pf_own_table functions;

struct smpi_instance {
    struct pf_instance base;
    void *predefined[PF_PREDEFINED_LIMIT];
    void *communications; /* see smpi_ended.h */
    size_t communications_limit;
};

static struct smpi_instance **instances;
static int instance_count;
static struct pf_native_values values;

static struct pf_instance *instance_of(int rank)
{
    return &instances[rank]->base;
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
    pf_smpi_packed_install(fn);
    pf_smpi_reduce_install(fn);
    pf_local_install(fn);
    pf_smpi_calls_install(fn);
    pf_smpi_polls_install(fn);
}

static int smpi_open(const struct pf_job *job, char *why, size_t why_size)
{
    int error = pf_local_probe(why, why_size);
    if (error)
        return error;
    if (!pf_simgrid_check(why, why_size))
        return PF_ERR_VERSION;
    values = pf_local_values;
    values.most_bytes = INT_MAX; /* it counts bytes in an int */
    values.charges_tests = true; /* smpi/test and smpi/iprobe */
    values.charges_computation = true;
    values.no_upcalls = true;
    values.status_has_error = true;
    values.bottom_lost = true;
    values.in_place_lost = true;
    values.rma_unordered = true;
    values.splits_alone = true;
    find_functions();
    pf_smpi_receive_install(instance_of);
    if (pf_config.smpi_forget && !instances)
        pf_smpi_forget_detached();
    instance_count = job->size;
    if (instance_count == 0) { /* under stock smpirun the size is not set */
        int size = 0;
        MPI_Group group;
        PMPI_Comm_group(MPI_COMM_WORLD, &group);
        PMPI_Group_size(group, &size);
        PMPI_Group_free(&group);
        instance_count = size;
    }
    instances = pf_calloc((size_t)instance_count, sizeof(struct smpi_instance *));
    return PF_SUCCESS;
}

static struct pf_instance *smpi_instance(int rank, const char *network)
{
    if (!instances[rank]) {
        struct smpi_instance *in = pf_malloc(sizeof *in);
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
        pf_local_predefined(in->predefined);
        in->predefined[PF_PREDEFINED_COMM_WORLD] = MPI_COMM_WORLD;
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
    pf_smpi_polls_begin();
    self->predefined[PF_PREDEFINED_COMM_SELF] = MPI_COMM_SELF;
    PMPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    PMPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    return MPI_SUCCESS;
}

static int smpi_finish(struct pf_instance *in)
{
    pf_smpi_polls_end();
    pf_smpi_receive_end(in->rank, sg_actor_self_get_pid());
    return PMPI_Finalize();
}

static void smpi_enter(struct pf_instance *in)
{
    in->unreported = MPI_SUCCESS;
}

static void smpi_leave(struct pf_instance *in)
{
    struct smpi_instance *self = (struct smpi_instance *)in;
    pf_smpi_forget_ended(self->communications, &self->communications_limit);
}

static void smpi_idle(struct pf_instance *in)
{
    double seconds = sg_cfg_get_double("smpi/test");
    pf_smpi_polls_slept(seconds);
    sg_actor_sleep_for(seconds);
}

static int comm_shadow(struct pf_instance *in, const int *world_ranks, int n, int me, int id, bool node_local,
                       void **native)
{
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
    MPI_Comm comm = native;
    PMPI_Comm_free(&comm);
}

static void comm_errors_return(struct pf_instance *in, void *native)
{
    PMPI_Comm_set_errhandler(native, MPI_ERRORS_RETURN);
}

static void win_made(struct pf_instance *in, void *native)
{
    PMPI_Win_set_errhandler(native, MPI_ERRORS_RETURN);
}

static void win_gone(struct pf_instance *in, void *native)
{
}

static int win_shadow(struct pf_instance *in, const struct pf_win_recipe *recipe, void **native)
{
    *native = pf_smpi_win_new(recipe);
    win_made(in, *native);
    return PF_SUCCESS;
}

static int win_open(struct pf_instance *in, void *native)
{
    pf_smpi_win_open(native);
    return PF_SUCCESS;
}

static void win_free(struct pf_instance *in, void *native)
{
    pf_smpi_calls_forget(native);
    pf_smpi_win_free(native);
}

static int win_share(struct pf_instance *in, void *comm, const void *mine, void *all_sizes, int bytes)
{
    return pf_smpi_win_share(comm);
}

static bool request_done(struct pf_instance *in, void *request)
{
    return pf_smpi_request_done(request);
}

static const struct pf_adapter_ops ops = {
    .size = sizeof ops,
    .probe = pf_local_probe,
    .open = smpi_open,
    .instance = smpi_instance,
    .start = smpi_start,
    .finish = smpi_finish,
    .enter = smpi_enter,
    .leave = smpi_leave,
    .idle = smpi_idle,
    .settle = pf_adapter_no_hook,
    .ahead = pf_adapter_no_debt,
    .status_get = pf_local_status_get,
    .error_class = pf_local_error_class,
    .comm_shadow = comm_shadow,
    .intercomm_shadow = pf_adapter_no_intercomm,
    .comm_free = comm_free,
    .comm_kept = pf_adapter_no_comm_kept,
    .comm_errors_return = comm_errors_return,
    .win_made = win_made,
    .win_gone = win_gone,
    .win_shadow = win_shadow,
    .win_open = win_open,
    .win_free = win_free,
    .win_share = win_share,
    .request_done = request_done,
    .request_will_be_done = request_done,
    .progress = pf_adapter_no_hook, /* SimGrid's activities need no calls */
};

const struct pf_adapter pf_smpi_adapter = {.abi = PF_ADAPTER_ABI, .name = "smpi", .ops = &ops};
