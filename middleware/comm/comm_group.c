/* SPDX-License-Identifier: BSD-3-Clause */
/* Communicators that not all members of the parent create together, or not at once. */
#include <stdlib.h>
#include <string.h>

#include "middleware/comm/comm.h"
#include "middleware/comm/group.h"
#include "middleware/comm/routing.h"
#include "base/memory.h"

/*
 * Only the members of the group call MPI_Comm_create_group, so that collectives of the parent cannot be
 * counted for it. They find each other by parent, tag and members; calls that are equal in all of them come
 * in the same order at every member. The first to arrive decides the model. An entry lives until all have
 * arrived.
 */
struct appointment {
    struct appointment *next;
    struct pf_comm_shared *shared;
    int parent, tag;
    int model;
    int missing;
    bool arrived[]; /* by rank in the group */
};

static struct appointment *appointments; /* oldest first */

static struct appointment *appointment_make(const struct appointment *wanted, const int *world_ranks,
                                            int size)
{
    struct appointment *made = pf_calloc(1, sizeof *made + (size_t)size * sizeof made->arrived[0]);
    *made = *wanted;
    made->shared = pf_comm_shared_new(world_ranks, size, false);
    made->missing = size;
    return made;
}

static struct appointment *appointment_keep(const struct appointment *wanted, const int *world_ranks,
                                            int size, int me)
{
    struct appointment **link = &appointments;
    for (; *link; link = &(*link)->next) {
        const struct appointment *a = *link;
        if (a->parent == wanted->parent && a->tag == wanted->tag && a->shared->size == size &&
            !a->arrived[me] && memcmp(a->shared->world_ranks, world_ranks, (size_t)size * sizeof(int)) == 0)
            break;
    }
    if (!*link)
        *link = appointment_make(wanted, world_ranks, size);
    (*link)->arrived[me] = true;
    (*link)->missing--;
    return *link;
}

/* The caller's shared part and model: those of the first member that wanted the same. */
static struct pf_comm_shared *meet(struct appointment *wanted, const int *world_ranks, int size, int me)
{
    struct appointment *a = appointment_keep(wanted, world_ranks, size, me);
    struct pf_comm_shared *shared = a->shared;
    wanted->model = a->model;
    if (a->missing == 0) {
        struct appointment **link = &appointments;
        while (*link != a)
            link = &(*link)->next;
        *link = a->next;
        free(a);
    }
    return shared;
}

struct pf_comm_shared *pf_comm_shared_meet(const int *world_ranks, int size, int me)
{
    struct appointment wanted = {.parent = -1, .tag = -1};
    return meet(&wanted, world_ranks, size, me);
}

static bool is_subset(const struct pf_group *group, const struct pf_comm_shared *of)
{
    for (int i = 0; i < group->size; i++) {
        int at = 0;
        while (at < of->size && of->world_ranks[at] != group->world_ranks[i])
            at++;
        if (at == of->size)
            return false;
    }
    return true;
}

int pf_PMPI_Comm_create_group(MPI_Comm handle, MPI_Group group_handle, int tag, MPI_Comm *newcomm)
{
    struct pf_rank *r = PF_ENTER(Comm_create_group);
    struct pf_comm *parent = pf_comm_of(r, handle);
    struct pf_group *group = pf_group_of(r, group_handle);
    if (!parent)
        return pf_call_error(r, handle, MPI_ERR_COMM);
    if (!group || !is_subset(group, parent->shared))
        return pf_call_error(r, handle, MPI_ERR_GROUP);
    if (!newcomm || tag < 0)
        return pf_call_error(r, handle, newcomm ? MPI_ERR_TAG : MPI_ERR_ARG);
    *newcomm = MPI_COMM_NULL;
    if (group->me == MPI_UNDEFINED)
        return pf_call_return(r, MPI_SUCCESS);
    pf_call_schedule(r, false);
    struct appointment wanted = {
        .parent = parent->shared->id, .tag = tag, .model = pf_comm_route(r, handle)->model};
    struct pf_comm_shared *shared = meet(&wanted, group->world_ranks, group->size, group->me);
    r->account->slot->followed += wanted.model != r->active->model;
    struct pf_instance *in = r->models[wanted.model];
    pf_native_comm_t native = NULL;
    pf_call_native_begin(r, in);
    int code = in->fn->Comm_create_group(pf_native(in, handle), pf_native(in, group_handle), tag, &native);
    struct pf_comm *comm = pf_comm_new(r, shared, group->me);
    if (code != MPI_SUCCESS) {
        pf_comm_release(comm);
        return pf_call_leave(r, in, handle, code);
    }
    pf_comm_take(comm, parent, in, native);
    *newcomm = (MPI_Comm)(uintptr_t)comm;
    return pf_call_leave(r, in, handle, code);
}
