/* SPDX-License-Identifier: BSD-3-Clause */
/* Members of a window: how they join, find each other, and leave. */
#include "adapters/analytic/rma/memory/window.h"

#include <stdlib.h>

#include "base/memory.h"

struct an_rma *an_rma_new(int size)
{
    struct an_rma *rma = pf_calloc(1, sizeof *rma);
    size_t n = (size_t)size;
    rma->size = size;
    rma->members = pf_calloc(n, sizeof *rma->members);
    rma->locks = pf_calloc(n, sizeof *rma->locks);
    rma->member_of = pf_malloc((size_t)an_job.size * sizeof *rma->member_of);
    for (int i = 0; i < an_job.size; i++)
        rma->member_of[i] = -1;
    return rma;
}

void an_rma_release(struct an_rma *rma)
{
    if (--rma->references > 0)
        return;
    free(rma->members);
    free(rma->locks);
    free(rma->member_of);
    free(rma);
}

struct an_window *an_window_join(struct an_rma *rma, struct an_rank *rank, int me, const int *world_ranks)
{
    struct an_window *win = pf_calloc(1, sizeof *win);
    win->rank = rank;
    win->comm = rma->joined ? an_comm_join_private(rank, rma->first->comm, me)
                            : an_comm_join(rank, -1, world_ranks, rma->size, me);
    if (!rma->joined)
        rma->first = win;
    win->farthest_to = win->farthest_from = -1;
    win->rma = rma;
    win->me = me;
    size_t pieces = ((size_t)rma->size + AN_PEERS - 1) / AN_PEERS;
    win->peers = pf_calloc(pieces, sizeof *win->peers);
    rma->members[me] = win;
    rma->member_of[rank->base.rank] = me;
    rma->joined++;
    rma->references++;
    return win;
}

void an_window_leave(struct an_window *win)
{
    for (int i = 0; i * AN_PEERS < win->rma->size; i++)
        free(win->peers[i]);
    free(win->peers);
    free(win->accessed);
    an_comm_leave(win->comm);
    an_rma_release(win->rma);
    free(win);
}

struct an_peer *an_window_peer(struct an_window *win, int target)
{
    struct an_peer **piece = &win->peers[target / AN_PEERS];
    if (!*piece)
        *piece = pf_calloc(AN_PEERS, sizeof **piece);
    return &(*piece)[target % AN_PEERS];
}

void an_window_reach(struct an_window *win, double date)
{
    an_rank_reach(win->rank, date);
    an_rank_settle(win->rank);
}

int an_window_members(struct an_window *win, MPI_Group group, int *members)
{
    MPI_Group world;
    int n;
    PMPI_Group_size(group, &n);
    PMPI_Comm_group(MPI_COMM_WORLD, &world);
    for (int i = 0; i < n; i++) {
        int rank;
        PMPI_Group_translate_ranks(group, 1, &i, world, &rank);
        members[i] = rank >= 0 ? win->rma->member_of[rank] : -1;
        if (members[i] < 0)
            n = -1;
    }
    PMPI_Group_free(&world);
    return n;
}

int *an_window_room_for_members(struct an_window *win)
{
    size_t n = (size_t)win->rma->size;
    if (!win->accessed)
        win->accessed = pf_malloc(2 * n * sizeof *win->accessed);
    return win->accessed;
}
