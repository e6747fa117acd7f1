/* SPDX-License-Identifier: BSD-3-Clause */
/* The ways in which a call fails. */
#include "base/child.h"
#include "base/log.h"
#include "middleware/core/call.h"
#include "middleware/core/errhandler.h"
#include "middleware/core/observed.h"
#include "middleware/core/upcalls.h"
#include "middleware/core/job_state.h"

struct pf_rank *pf_call_rank_elsewhere(void)
{
    pf_self_t *self = pf_in_child() ? pf_self() : NULL;
    int rank = self ? self->rank : pf_upcalls.rank_of_thread();
    struct pf_rank *r = rank >= 0 && pf_job_state.ranks ? &pf_job_state.ranks[rank] : NULL;
    return r && r->state == PF_RANK_RUNNING ? r : NULL;
}

/* Whether that is enough. */
static bool is_answered(int fn)
{
    return (fn == PF_FN_Comm_rank || fn == PF_FN_Comm_size) && pf_call_rank_elsewhere();
}

struct pf_rank *pf_call_foreign_thread(int fn)
{
    if (is_answered(fn))
        return NULL;
    if (pf_job_state.stop)
        pf_job_state.stop();
    if (!pf_job_state.ranks)
        pf_die("%s was called before MPI_Init", pf_fn_name(fn));
    if (pf_job_state.over)
        pf_die("%s was called after MPI_Finalize, in an exit handler or a destructor", pf_fn_name(fn));
    pf_die("%s was called from a thread that is no rank of the job: only the thread that called MPI_Init may "
           "make MPI calls (MPI_THREAD_FUNNELED)",
           pf_fn_name(fn));
}

static void refuse(int fn) __attribute__((noreturn));
static void refuse(int fn)
{
    pf_self_t *self = pf_self();
    const char *name = pf_fn_name(fn);
    if (pf_in_child())
        pf_die("%s was called in a child process of a rank, which is no rank", name);
    if (!self)
        pf_die("%s was called before MPI_Init", name);
    if (self->mpi && self->mpi->job->has_failed)
        pf_world_stay();
    if (self->mpi && self->mpi->state == PF_RANK_FINALIZED)
        pf_die("rank %d called %s after MPI_Finalize", self->rank, name);
    if (self->mpi && self->mpi->state == PF_RANK_LEFT)
        pf_die("rank %d called %s after its main() had ended", self->rank, name);
    pf_die("rank %d called %s before MPI_Init", self->rank, name);
}

const void *pf_call_site_of_layer(struct pf_rank *r, const void *site)
{
    if (r->fortran_site)
        site = r->fortran_site;
    else if (r->observed && !r->observed->entered)
        site = r->observed->site;
    r->fortran_site = NULL;
    r->open = r->open || r->reopens;
    r->reopens = false;
    return site;
}

/* How often a program calls these depends on the time. */
static bool asks(int fn)
{
    switch (fn) {
    case PF_FN_Iprobe:
    case PF_FN_Improbe:
    case PF_FN_Test:
    case PF_FN_Testall:
    case PF_FN_Testany:
    case PF_FN_Testsome:
    case PF_FN_Win_test:
    case PF_FN_Wtime:
    case PF_FN_Request_get_status:
        return true;
    default:
        return false;
    }
}

struct pf_rank *pf_call_enter_slowly(const pf_self_t *self, int fn, const void *site)
{
    if (pf_in_child() && is_answered(fn))
        return NULL;
    if (!self || !self->mpi || self->mpi->state != PF_RANK_RUNNING || pf_in_child())
        refuse(fn);
    struct pf_rank *r = self->mpi;
    if (r->alarmed)
        pf_upcalls.looks_at_signals();
    site = pf_call_site_of_layer(r, site);
    site = r->entry_site ? r->entry_site : site;
    bool stopped = pf_upcalls.computed(r, site, asks(fn));
    if (r->observed)
        pf_upcalls.entered(r);
    if (stopped && !r->observed)
        r->account->slot->calls++;
    else
        pf_account_enter(r->account);
    r->call.fn = fn;
    r->call.site = site;
    return r;
}

int pf_call_failed(struct pf_rank *r, struct pf_instance *in, MPI_Comm comm, int code)
{
    return pf_errhandler_raise(r, comm, in->ops->error_class(in, code));
}

int pf_call_error(struct pf_rank *r, MPI_Comm comm, int error_class)
{
    int code = pf_errhandler_raise(r, comm, error_class);
    pf_account_leave(r->account);
    return code;
}

int pf_call_unsupported(int fn, const void *site)
{
    struct pf_rank *r = pf_call_enter(fn, site);
    pf_warn("rank %d: %s is not supported by any model of this version", r->self.rank, pf_fn_name(fn));
    return pf_call_error(r, MPI_COMM_WORLD, MPI_ERR_UNSUPPORTED_OPERATION);
}
