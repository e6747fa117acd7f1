/* SPDX-License-Identifier: BSD-3-Clause */
/* The begin and the end of a rank, and what it asks about its surroundings. */
#include <stdio.h>
#include <stdlib.h>

#include <simgrid/engine.h>

#include "base/child.h"
#include "base/config.h"
#include "base/log.h"
#include "base/streams.h"
#include "middleware/compute/compute.h"
#include "middleware/compute/critical_path.h"
#include "middleware/check/check.h"
#include "middleware/comm/routing.h"
#include "middleware/core/call_site.h"
#include "middleware/object/attribute.h"
#include "middleware/core/observed.h"
#include "middleware/p2p/bsend.h"
#include "middleware/rma/win.h"
#include "middleware/process/program_frame.h"
#include "middleware/process/libc.h"
#include "middleware/process/libc_alarm.h"
#include "middleware/process/libc_process.h"
#include "middleware/process/ranks.h"
#include "middleware/sampling/sampling.h"

void smpi_bench_begin(void); /* SimGrid's */

/* After the simulation it is unknown whose exit handler asks: FINALIZED if all ranks are. */
static enum pf_rank_state state_at_end(void)
{
    enum pf_rank_state state = PF_RANK_NEW;
    for (int i = 0; pf_job_state.ranks && i < pf_job_state.size; i++)
        if (pf_job_state.ranks[i].state == PF_RANK_LEFT || state == PF_RANK_NEW)
            state = pf_job_state.ranks[i].state;
    return state;
}

/* What any thread may ask (MPI 3.1 section 12.4) is asked of its rank. */
static const struct pf_rank *rank_of_thread(void)
{
    const struct pf_process *p = pf_process();
    return &pf_job_state.ranks[p ? p->rank : 0];
}

static enum pf_rank_state state_of_caller(void)
{
    if (pf_job_state.over)
        return state_at_end();
    if (pf_libc_in_thread())
        return (enum pf_rank_state)rank_of_thread()->state;
    pf_self_t *self = sg_actor_self() ? pf_self() : NULL; /* a program may have been started by itself */
    return self && self->mpi ? (enum pf_rank_state)self->mpi->state : PF_RANK_NEW;
}

/* A program that asks for more and calls MPI from one thread runs as it is: printed on request only. */
static void notice_level(const struct pf_rank *r, int required)
{
    if (pf_config.thread_notice && r->self.rank == 0 && required > r->thread_level)
        fprintf(stderr,
                "parfocal: the program asks for %s and gets MPI_THREAD_%s: only the thread that called "
                "MPI_Init_thread may call MPI\n",
                required == 2 || required == 2048 ? "MPI_THREAD_SERIALIZED" : "MPI_THREAD_MULTIPLE",
                *pf_config.thread_level == 'f' ? "FUNNELED" : "SERIALIZED");
}

static struct pf_rank *rank_of_actor(void)
{
    if (!pf_job_state.ranks)
        pf_job_create_ranks();
    int rank = (int)sg_actor_self_get_pid() - 1;
    if (rank < 0 || rank >= pf_job_state.size)
        pf_die("MPI_Init from an actor that is not a rank of the job");
    return &pf_job_state.ranks[rank];
}

static int start_base(struct pf_rank *r)
{
    int code = r->base_started ? MPI_SUCCESS : r->base->ops->start(r->base);
    r->base_started = true;
    return code;
}

void pf_job_start_early(void)
{
    start_base(rank_of_actor());
}

static int initialise(int fn, const void *site, int required, int *provided)
{
    if (state_of_caller() != PF_RANK_NEW) {
        pf_check_twice(pf_self()->mpi, fn, site);
        pf_die("rank %d: MPI_Init was called twice", pf_self()->rank);
    }
    if (!sg_actor_self() || !sg_actor_self_get_pid())
        pf_die(pf_process_here() ? "MPI_Init outside the simulation: start the program with pfrun"
                                 : "MPI_Init was called from a thread that the program has made: only the "
                                   "thread of main() may make MPI calls");
    struct pf_rank *r = rank_of_actor();
    pf_program_check_stack(r->self.rank);
    if (start_base(r) != MPI_SUCCESS)
        return MPI_ERR_OTHER;
    pf_job_start_rank(r);
    r->thread_level = pf_thread_level(required);
    notice_level(r, required);
    if (provided)
        *provided = r->thread_level;
    r->state = PF_RANK_RUNNING;
    pf_sampling_rank_begins(r); /* a sampled region may begin here, in another model */
    smpi_bench_begin();         /* by the rank's own clock, which has just begun */
    r->open = !pf_check_start(r) && !pf_compute_on;
    pf_alarm_begin(r);
    return pf_call_return(r, MPI_SUCCESS);
}

int pf_PMPI_Init(int *argc, char ***argv)
{
    return initialise(PF_FN_Init, __builtin_return_address(0), MPI_THREAD_SINGLE, NULL);
}

int pf_PMPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    return initialise(PF_FN_Init_thread, __builtin_return_address(0), required, provided);
}

int pf_PMPI_Initialized(int *flag)
{
    *flag = state_of_caller() != PF_RANK_NEW;
    return MPI_SUCCESS;
}

int pf_PMPI_Finalized(int *flag)
{
    *flag = state_of_caller() == PF_RANK_FINALIZED;
    return MPI_SUCCESS;
}

/* MPI 3.1 section 8.7: the attributes of MPI_COMM_SELF go first, then every implementation ends, SMPI
 * last. */
int pf_PMPI_Finalize(void)
{
    struct pf_rank *r = PF_ENTER(Finalize);
    pf_call_settle(r);
    int error = pf_attributes_delete_all(&r->alone->attributes, MPI_COMM_SELF);
    if (error != MPI_SUCCESS)
        return pf_call_error(r, MPI_COMM_SELF, error);
    pf_attributes_delete_all(&r->world->attributes, MPI_COMM_WORLD);
    pf_bsend_drain(r);
    pf_win_end_all(r);
    for (int impl = PF_IMPL_COUNT - 1; impl >= 0; impl--) {
        struct pf_instance *in = r->instances[impl];
        if (!in)
            continue;
        r->call.model = in->model;
        if (in->ops->progress != pf_adapter_no_hook) /* its helper may be inside */
            pf_progress_guard(r, impl);
        in->ops->finish(in);
        r->call.model = PF_MODEL_NONE;
    }
    pf_account_leave(r->account);
    pf_account_close(r->account, simgrid_get_clock());
    pf_critical_path_close(r);
    pf_sampling_rank_ends(r);
    if (pf_compute_on)
        pf_compute_end(r);
    r->state = PF_RANK_FINALIZED;
    r->open = false;
    return MPI_SUCCESS;
}

int pf_PMPI_Abort(MPI_Comm comm, int errorcode)
{
    if (pf_in_child() || pf_job_state.over)
        pf_end_process(errorcode & 0xff ? errorcode & 0xff : 1);
    (void)comm;                        /* the whole job ends, as MPI 3.1 section 8.7 allows */
    bool thread = pf_libc_in_thread(); /* of which rank, is known */
    const pf_self_t *self = thread ? &rank_of_thread()->self : pf_self();
    int rank = self ? self->rank : -1;
    const void *from = __builtin_return_address(0);
    if (self && self->mpi && !thread)
        from = pf_call_site_of_layer(self->mpi, from);
    char site[256], name[200];
    pf_flush_all();
    fprintf(stderr, "parfocal: %s%s called MPI_Abort with code %d at %s\n", thread ? "a thread of " : "",
            pf_workload_rank_name(rank, name, sizeof name), errorcode,
            pf_call_site_of(self ? self->mpi : NULL, from, site, sizeof site));
    pf_job_blame(self, errorcode, "MPI_Abort with code %d", errorcode);
    pf_job_abort(thread ? -1 : rank, errorcode); /* other jobs go on in the thread of all ranks only */
}

int pf_PMPI_Query_thread(int *provided)
{
    if (pf_libc_in_thread() && provided) {
        *provided = rank_of_thread()->thread_level;
        return MPI_SUCCESS;
    }
    struct pf_rank *r = PF_ENTER(Query_thread);
    if (!provided)
        return pf_call_error(r, MPI_COMM_WORLD, MPI_ERR_ARG);
    *provided = r->thread_level;
    return pf_call_return(r, MPI_SUCCESS);
}

int pf_PMPI_Is_thread_main(int *flag)
{
    if (pf_libc_in_thread() && flag) {
        *flag = 0;
        return MPI_SUCCESS;
    }
    struct pf_rank *r = PF_ENTER(Is_thread_main);
    if (!flag)
        return pf_call_error(r, MPI_COMM_WORLD, MPI_ERR_ARG);
    *flag = 1; /* PF_ENTER refuses all others */
    return pf_call_return(r, MPI_SUCCESS);
}

int pf_PMPI_Get_version(int *version, int *subversion)
{
    *version = MPI_VERSION;
    *subversion = MPI_SUBVERSION;
    return MPI_SUCCESS;
}

int pf_PMPI_Get_library_version(char *version, int *resultlen)
{
    *resultlen = snprintf(version, MPI_MAX_LIBRARY_VERSION_STRING, "Parfocal %s", PF_VERSION);
    return MPI_SUCCESS;
}

int pf_PMPI_Get_processor_name(char *name, int *resultlen)
{
    struct pf_rank *r = pf_libc_in_thread() ? NULL : PF_ENTER(Get_processor_name);
    const pf_self_t *self = r ? &r->self : &rank_of_thread()->self; /* hybrid programs ask in each thread */
    *resultlen = snprintf(name, MPI_MAX_PROCESSOR_NAME, "%s", sg_host_get_name(self->host));
    if (*resultlen >= MPI_MAX_PROCESSOR_NAME)
        *resultlen = MPI_MAX_PROCESSOR_NAME - 1;
    return r ? pf_call_return(r, MPI_SUCCESS) : MPI_SUCCESS;
}

/* Reading the clock costs what SMPI says it costs (smpi/wtime), in every model. */
double pf_PMPI_Wtime(void)
{
    if (pf_libc_in_thread())
        return pf_libc_clock_of_thread();
    pf_self_t *self = pf_job_self();
    if (!self || self->mpi->state != PF_RANK_RUNNING)
        return self ? pf_libc_clock_read(simgrid_get_clock()) : simgrid_get_clock();
    struct pf_rank *r = PF_ENTER(Wtime);
    double now = pf_libc_wtime(r);
    pf_account_leave(r->account);
    return now;
}

double pf_PMPI_Wtick(void)
{
    if (pf_libc_in_thread())
        return rank_of_thread()->base->fn->Wtick();
    struct pf_rank *r = PF_ENTER(Wtick);
    double tick = r->base->fn->Wtick();
    pf_account_leave(r->account);
    return tick;
}

int pf_PMPI_Alloc_mem(MPI_Aint size, MPI_Info info, void *baseptr)
{
    struct pf_rank *r = PF_ENTER(Alloc_mem);
    if (size < 0 || !baseptr)
        return pf_call_error(r, MPI_COMM_WORLD, MPI_ERR_ARG);
    void *memory = malloc(size ? (size_t)size : 1);
    if (!memory)
        return pf_call_error(r, MPI_COMM_WORLD, MPI_ERR_NO_MEM);
    *(void **)baseptr = memory;
    return pf_call_return(r, MPI_SUCCESS);
}

int pf_PMPI_Free_mem(void *base)
{
    struct pf_rank *r = PF_ENTER(Free_mem);
    free(base);
    return pf_call_return(r, MPI_SUCCESS);
}
