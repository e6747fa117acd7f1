/* SPDX-License-Identifier: BSD-3-Clause */
/* The ranks and their job: where all others find them; and what a rank's MPICH is asked from outside. */
#include <simgrid/barrier.h>

#include "adapters/mpich/abi.h"
#include "adapters/mpich/mpich.h"
#include "base/memory.h"
#include "lowlevel/ucx/runtime.h"

static struct pf_job job;
static struct pf_mpich_rank *ranks;
static sg_bar_t fence;

void pf_mpich_ranks_make(const struct pf_job *given)
{
    job = *given;
    fence = sg_barrier_init((unsigned)job.size);
    ranks = pf_calloc((size_t)job.size, sizeof *ranks);
    for (int i = 0; i < job.size; i++)
        ranks[i].self = job.ranks[i];
}

const struct pf_job *pf_mpich_job(void)
{
    return &job;
}

struct pf_mpich_rank *pf_mpich_rank(int rank)
{
    return ranks && rank < job.size ? &ranks[rank] : NULL;
}

void pf_mpich_fence(void)
{
    sg_barrier_wait(fence);
}

/* To look at a request that is not complete makes progress. */
static bool look(const struct pf_mpich_rank *rank, int request)
{
    int flag = 0, (*status)(int, int *, void *);
    *(void **)&status = rank->natives[PF_FN_Request_get_status];
    return status(request, &flag, MPI_STATUS_IGNORE) != MPI_SUCCESS || flag;
}

void pf_mpich_progress(struct pf_mpich_rank *rank)
{
    /* One message may need several passes: the first completes a request, the next lets the nonblocking
     * collective that waited for it start its next round. */
    enum { PASSES = 4 };
    rank->helper = sg_actor_self();
    for (int i = 0; i < PASSES; i++) {
        pf_ucx_idle_reset(rank->self, PF_UCX_MPICH);
        look(rank, rank->never);
    }
    rank->helper = NULL;
}

/* A nonblocking collective of which a part is complete may begin its next part meanwhile: no rank pays. */
bool pf_mpich_request_done(struct pf_mpich_rank *rank, int request)
{
    static const struct pf_ucx_pretence still = {.fill = NULL};
    sg_actor_t before = rank->helper;
    rank->helper = sg_actor_self();
    pf_ucx_pretend(rank->self, PF_UCX_MPICH, &still);
    bool done = look(rank, request);
    pf_ucx_pretend(rank->self, PF_UCX_MPICH, NULL);
    rank->helper = before;
    return done;
}
