/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Windows of shared memory (MPI 3.1 section 11.2.3). All ranks live in one process, so the memory is the
 * middleware's: the first member that knows the sizes of all allocates it. The implementation communicates
 * what it would communicate, and each member pays for its part; the window itself is one over the member's
 * piece.
 *
 * (SMPI's own has the first member's piece as the base of all members, so that a put to any of them arrives
 * there.)
 *
 * Hints stay in the middleware. Open MPI's component for shared memory heeds none of those that osc/pt2pt
 * would: a lock of a window with "no_locks" is granted there.
 */
#include <stdlib.h>

#include "middleware/comm/routing.h"
#include "middleware/rma/win.h"

/* The pieces follow each other without a gap. */
static char *piece(const struct pf_win_shared *shared, int member)
{
    char *place = shared->memory;
    for (int i = 0; i < member; i++)
        place += shared->parts[i].size;
    return place;
}

/* All members have published their sizes. */
static bool allocate(struct pf_win_shared *shared)
{
    size_t total = 0;
    for (int i = 0; i < shared->members; i++)
        total += (size_t)shared->parts[i].size;
    if (!shared->memory)
        shared->memory = malloc(total ? total : 1);
    return shared->memory != NULL;
}

static int share(struct pf_instance *in, struct pf_win *win, void *comm)
{
    struct pf_win_part mine = {NULL, win->size, win->disp_unit};
    struct pf_win_part *all = calloc((size_t)win->shared->members, sizeof *all);
    if (!all)
        return MPI_ERR_NO_MEM;
    int code = in->ops->win_share(in, comm, &mine, all, sizeof mine);
    free(all);
    return code;
}

int pf_PMPI_Win_allocate_shared(MPI_Aint size, int disp_unit, MPI_Info info, MPI_Comm comm, void *baseptr,
                                MPI_Win *handle)
{
    struct pf_rank *r = PF_ENTER(Win_allocate_shared);
    if (!handle || !baseptr || size < 0)
        return pf_call_error(r, comm, handle && baseptr ? MPI_ERR_SIZE : MPI_ERR_ARG);
    struct pf_win *win = pf_win_begin(r, comm, info, MPI_WIN_FLAVOR_SHARED);
    if (!win)
        return pf_call_error(r, comm, MPI_ERR_COMM);
    pf_native_win_t native = NULL;
    win->size = size;
    win->disp_unit = disp_unit;
    pf_win_publish(win);
    struct pf_instance *in = pf_call_native_begin(r, win->in);
    int code = share(in, win, pf_native(in, comm));
    if (code == MPI_SUCCESS && !allocate(win->shared))
        code = MPI_ERR_NO_MEM;
    if (code == MPI_SUCCESS) {
        win->base = piece(win->shared, win->comm->me);
        pf_win_publish(win);
        code = in->fn->Win_create(win->base, size, disp_unit, in->values->info_null, pf_native(in, comm),
                                  &native);
    }
    if (code == MPI_SUCCESS)
        *(void **)baseptr = win->base;
    return pf_win_created(r, comm, win, native, code, handle);
}

/* For MPI_PROC_NULL the first member that has memory answers. -1: there is no such member. */
static int member_of(const struct pf_win_shared *shared, int rank)
{
    if (rank >= 0 && rank < shared->members)
        return rank;
    if (rank != MPI_PROC_NULL)
        return -1;
    for (int i = 0; i < shared->members; i++)
        if (shared->parts[i].size > 0)
            return i;
    return 0;
}

int pf_PMPI_Win_shared_query(MPI_Win handle, int rank, MPI_Aint *size, int *disp_unit, void *baseptr)
{
    struct pf_rank *r = PF_ENTER(Win_shared_query);
    struct pf_win *win = pf_win_of(handle);
    if (!win || !size || !disp_unit || !baseptr)
        return pf_win_failed(r, handle, win ? MPI_ERR_ARG : MPI_ERR_WIN);
    if (win->flavor != MPI_WIN_FLAVOR_SHARED)
        return pf_win_failed(r, handle, MPI_ERR_RMA_FLAVOR);
    int member = member_of(win->shared, rank);
    if (member < 0)
        return pf_win_failed(r, handle, MPI_ERR_RANK);
    *size = win->shared->parts[member].size;
    *disp_unit = win->shared->parts[member].disp_unit;
    *(void **)baseptr = piece(win->shared, member);
    return pf_call_return(r, MPI_SUCCESS);
}
