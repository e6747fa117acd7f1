/* SPDX-License-Identifier: BSD-3-Clause */
/* Windows: created by all members together, or by each member alone when a window moves to this model. */
#include "adapters/analytic/rma/rma.h"

#include "adapters/analytic/collective/collective.h"
#include "adapters/analytic/rma/nic/nic.h"
#include "adapters/analytic/rma/pt2pt/pt2pt.h"
#include "pf_fn.h"

/* Bytes that the members exchange: address, size and unit of the memory; for a dynamic window, an identifier.
 */
#define DESCRIPTION_BYTES 24
#define IDENTIFIER_BYTES  4

static struct an_rma *forming; /* windows that some members have not joined */

/* All members come with the same collective of the same communicator. */
static struct an_rma *find_forming(const struct an_comm *comm)
{
    struct an_rma **link = &forming;
    while (*link && ((*link)->made_on != comm->shared || (*link)->sequence != comm->collectives))
        link = &(*link)->next;
    struct an_rma *rma = *link;
    if (!rma) {
        rma = an_rma_new(comm->shared->size);
        rma->made_on = comm->shared;
        rma->sequence = comm->collectives;
        *link = rma;
    }
    if (rma->joined + 1 == rma->size)
        *link = rma->next;
    return rma;
}

/* ---- together ---- */

/* The exchange of a creation; the middleware has exchanged the values already. */
static int exchange(struct an_comm *comm, enum pf_coll_kind kind, size_t bytes)
{
    struct an_part part = {.pretend = bytes};
    return an_collective_call(comm, &part, kind, false);
}

/* As MPICH makes a communicator for it, asks whether all have memory that they share, and exchanges sizes,
 * units, addresses and keys. */
static int synchronize_as_mpich(struct an_comm *comm, bool dynamic)
{
    static const size_t described[] = {8, 8, 16};
    int error = an_comm_agree(comm);
    if (error == MPI_SUCCESS)
        error = exchange(comm, PF_COLL_ALLREDUCE, 1);
    for (int i = 0; i < 3 && !dynamic && error == MPI_SUCCESS; i++)
        error = exchange(comm, PF_COLL_ALLGATHER, described[i]);
    return error == MPI_SUCCESS ? exchange(comm, PF_COLL_BARRIER, 0) : error;
}

/* With windows = pt2pt, a window has its own communicator, and no member leaves before all have it. */
static int synchronize(struct an_comm *comm, const struct an_window *what)
{
    if (an_job.mpich)
        return synchronize_as_mpich(comm, what->dynamic);
    if (an_job.by_messages) {
        int error = an_comm_agree(comm);
        return error == MPI_SUCCESS ? exchange(comm, PF_COLL_BARRIER, 0) : error;
    }
    return what->dynamic ? exchange(comm, PF_COLL_ALLREDUCE, IDENTIFIER_BYTES)
                         : exchange(comm, PF_COLL_ALLGATHER, DESCRIPTION_BYTES);
}

static void rank_sends(int rank, double from, double until)
{
    an_rank_sends(an_job.ranks[rank], from, until);
}

static double rank_handles(int rank)
{
    return an_job.ranks[rank]->handles_until;
}

/* The first window is there. */
static void watch_sends(void)
{
    if (an_job.sends_alone)
        pf_colls_watch(an_job.colls, rank_sends, rank_handles);
}

static int create(const struct an_window *what, MPI_Comm handle, MPI_Win *made)
{
    struct an_comm *comm = an_comm_of(handle);
    if (!comm)
        return MPI_ERR_COMM;
    struct an_window *win =
        an_window_join(find_forming(comm), comm->rank, comm->me, comm->shared->world_ranks);
    win->base = what->base;
    win->disp_unit = what->disp_unit;
    win->dynamic = what->dynamic;
    *made = (MPI_Win)win;
    watch_sends();
    return synchronize(comm, what);
}

static int an_win_create(void *base, MPI_Aint size, int disp_unit, MPI_Info info, MPI_Comm comm,
                         MPI_Win *made)
{
    if (size < 0)
        return MPI_ERR_SIZE;
    if (disp_unit <= 0)
        return MPI_ERR_DISP;
    struct an_window what = {.base = base, .disp_unit = disp_unit};
    return create(&what, comm, made);
}

static int an_win_create_dynamic(MPI_Info info, MPI_Comm comm, MPI_Win *made)
{
    struct an_window what = {.disp_unit = 1, .dynamic = true};
    return create(&what, comm, made);
}

/* The NIC can access all memory. These are also called for windows that are in another model now, so they
 * take no time. */
static int an_win_attach(MPI_Win win, void *base, MPI_Aint size)
{
    return MPI_SUCCESS;
}

static int an_win_detach(MPI_Win win, const void *base)
{
    return MPI_SUCCESS;
}

/* Which of them the job has: see an_rma_install(). */
static int (*unlock)(int rank, MPI_Win win);
static int (*unlock_all)(MPI_Win win);

/* A program that frees a locked window is wrong, and goes on under Open MPI 4.1.4. */
static void give_locks_back(struct an_window *win)
{
    if (win->locked_all)
        unlock_all((MPI_Win)win);
    for (int i = 0; i < win->rma->size; i++) {
        const struct an_peer *piece = win->peers[i / AN_PEERS];
        if (!piece)
            i |= AN_PEERS - 1; /* on to the next piece */
        else if (piece[i % AN_PEERS].lock != AN_UNLOCKED)
            unlock(i, (MPI_Win)win);
    }
}

/* A barrier (MPI 3.1 section 11.2.5), entered when the member's operations have ended. */
static int an_win_free(MPI_Win *handle)
{
    struct an_window *win = an_window_of(*handle);
    give_locks_back(win);
    an_flow_await(win, &win->all, false);
    int code = exchange(win->comm, PF_COLL_BARRIER, 0);
    if (an_job.by_messages)
        an_window_await(win, an_window_is_quiet, NULL);
    an_pt2pt_forget(win);
    an_window_leave(win);
    *handle = MPI_WIN_NULL;
    return code;
}

/* ---- by each member alone ---- */

int an_rma_share(struct pf_instance *in, void *comm, const void *mine, void *all_sizes, int bytes)
{
    return exchange(comm, PF_COLL_ALLGATHER, (size_t)bytes);
}

int an_rma_shadow(struct pf_instance *in, const struct pf_win_recipe *recipe, void **native)
{
    if (!recipe->board[0])
        recipe->board[0] = an_rma_new(recipe->members);
    struct an_window *win =
        an_window_join(recipe->board[0], (struct an_rank *)in, recipe->me, recipe->world_ranks);
    win->base = recipe->base;
    win->disp_unit = recipe->disp_unit;
    win->dynamic = recipe->dynamic;
    watch_sends();
    *native = win;
    return 0;
}

/* The middleware knows which epochs are open. */
int an_rma_open(struct pf_instance *in, void *native)
{
    return 0;
}

void an_rma_free(struct pf_instance *in, void *native)
{
    an_pt2pt_forget(native);
    an_window_leave(native);
}

void an_rma_install(struct pf_own_fn *fn)
{
    fn->Win_create = an_win_create;
    fn->Win_create_dynamic = an_win_create_dynamic;
    fn->Win_attach = an_win_attach;
    fn->Win_detach = an_win_detach;
    fn->Win_free = an_win_free;
    an_access_install(fn);
    if (an_job.by_messages) {
        an_pt2pt_install(fn);
    } else {
        an_epoch_install(fn);
        an_lock_install(fn);
    }
    unlock = fn->Win_unlock;
    unlock_all = fn->Win_unlock_all;
}
