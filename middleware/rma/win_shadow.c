/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the members of a window share, and its shadows in other implementations. A shadow is made by each
 * member for itself, when the member enters the fence at which the window moves: by the end of that fence all
 * are there.
 */
#include <stdlib.h>

#include <simgrid/engine.h>

#include "base/error.h"
#include "base/log.h"
#include "base/memory.h"
#include "middleware/comm/routing.h"
#include "middleware/rma/win_order.h"

static struct pf_win_shared *forming; /* windows that some members have yet to join */

struct pf_win_shared *pf_win_shared_join(const struct pf_comm *comm, uint64_t sequence)
{
    struct pf_win_shared **link = &forming;
    while (*link && ((*link)->comm != comm->shared || (*link)->sequence != sequence))
        link = &(*link)->next;
    struct pf_win_shared *shared = *link;
    if (!shared) {
        size_t members = (size_t)comm->shared->size;
        shared = pf_calloc(1, sizeof *shared);
        shared->comm = comm->shared;
        shared->sequence = sequence;
        shared->members = shared->references = (int)members;
        shared->parts = pf_calloc(members, sizeof *shared->parts);
        shared->disp_units = pf_calloc(members, sizeof *shared->disp_units);
        shared->bases = pf_calloc(members, sizeof *shared->bases);
        *link = shared;
    }
    if (++shared->joined == shared->members) {
        *link = shared->next;
        shared->next = NULL;
    }
    return shared;
}

void pf_win_shared_leave(struct pf_win_shared *shared)
{
    if (--shared->references > 0)
        return;
    if (shared->shadows)
        pf_comm_shared_release(shared->shadows);
    for (int i = 0; i < PF_IMPL_COUNT; i++)
        free(shared->boards[i]);
    free(shared->completed);
    pf_win_order_free(shared->order);
    free(shared->memory);
    free(shared->bases);
    free(shared->disp_units);
    free(shared->parts);
    free(shared);
}

void pf_win_publish(struct pf_win *win)
{
    struct pf_win_shared *shared = win->shared;
    shared->in_model = win->in->model;
    shared->parts[win->comm->me] = (struct pf_win_part){win->base, win->size, win->disp_unit};
    shared->disp_units[win->comm->me] = win->disp_unit;
    shared->bases[win->comm->me] = win->base;
}

static void attach_again(struct pf_instance *in, const struct pf_win *win, pf_native_win_t native)
{
    for (const struct pf_win_region *region = win->regions; region; region = region->next)
        in->fn->Win_attach(native, region->base, region->size);
}

/* One id serves the shadows of all implementations. The last member to leave the window gives it back. */
static int shadows_id(struct pf_win_shared *shared, const struct pf_comm_shared *comm)
{
    if (!shared->shadows) {
        shared->shadows = pf_comm_shared_new(comm->world_ranks, comm->size, false);
        shared->shadows->references = 1;
    }
    return shared->shadows->id;
}

void pf_win_shadow(struct pf_rank *r, struct pf_win *win, struct pf_instance *in)
{
    if (win->object.native[in->impl])
        return;
    const struct pf_comm_shared *comm = win->comm->shared;
    struct pf_win_shared *shared = win->shared;
    if (!shared->boards[in->impl])
        shared->boards[in->impl] = pf_calloc(2 * (size_t)comm->size, sizeof(void *));
    pf_progress_guard(r, in->impl);
    bool hints = win->info && win->flavor != MPI_WIN_FLAVOR_SHARED; /* see win_shared.c */
    struct pf_win_recipe recipe = {
        .base = win->base,
        .size = win->size,
        .disp_unit = win->disp_unit,
        .dynamic = win->flavor == MPI_WIN_FLAVOR_DYNAMIC,
        .info = hints ? pf_native(in, (MPI_Info)(uintptr_t)win->info) : in->values->info_null,
        .comm = pf_native(in, pf_comm_handle(win->comm)),
        .world_ranks = comm->world_ranks,
        .members = comm->size,
        .me = win->comm->me,
        .id = shadows_id(shared, comm),
        .disp_units = shared->disp_units,
        .bases = shared->bases,
        .board = shared->boards[in->impl],
    };
    void *native = NULL;
    pf_account_shadow_begin(r->account, simgrid_get_clock());
    int error = in->ops->win_shadow(in, &recipe, &native);
    if (error != PF_SUCCESS)
        pf_die("rank %d: a window cannot change its model: %s has no room for another one (%s)", r->self.rank,
               in->adapter->name, pf_error_text(error));
    attach_again(in, win, native);
    win->object.native[in->impl] = native;
    pf_account_shadow_end(r->account, simgrid_get_clock(), true);
}

void pf_win_shadows_free(struct pf_rank *r, struct pf_win *win)
{
    for (int i = 0; i < PF_IMPL_COUNT; i++) {
        if (!win->object.native[i])
            continue;
        pf_progress_guard(r, i);
        r->instances[i]->ops->win_free(r->instances[i], win->object.native[i]);
        win->object.native[i] = NULL;
    }
}
