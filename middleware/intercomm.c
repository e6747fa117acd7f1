/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Intercommunicators: MPI 3.1 section 6.6. SMPI has none, so they are Open MPI's, with all that happens on
 * them, whatever model is in force: both sides of every message agree. The hub keeps one shared part per side
 * and asks the native communicator who is there.
 */
#include "middleware/intercomm.h"

#include <stdlib.h>
#include <string.h>

#include "middleware/call.h"
#include "middleware/group.h"
#include "middleware/switch.h"

/* The members of a native group as ranks of the world, on the heap; frees the group. */
static int *members_of(struct pf_instance *in, void *group, int *size)
{
    void *world;
    ((int (*)(void *, int *))in->fn[PF_FN_Group_size])(group, size);
    ((int (*)(void *, void **))in->fn[PF_FN_Comm_group])(pf_native(in, MPI_COMM_WORLD), &world);
    int *ranks = malloc((size_t)(*size + 1) * 2 * sizeof *ranks), *members = ranks + *size + 1;
    for (int i = 0; i < *size; i++)
        ranks[i] = i;
    ((int (*)(void *, int, const int *, void *, int *))in->fn[PF_FN_Group_translate_ranks])(
        group, *size, ranks, world, members);
    memmove(ranks, members, (size_t)*size * sizeof *ranks);
    ((int (*)(void **))in->fn[PF_FN_Group_free])(&group);
    ((int (*)(void **))in->fn[PF_FN_Group_free])(&world);
    return ranks;
}

static int *local_members(struct pf_instance *in, void *native, int *size)
{
    void *group;
    ((int (*)(void *, void **))in->fn[PF_FN_Comm_group])(native, &group);
    return members_of(in, group, size);
}

static int *remote_members(struct pf_instance *in, void *native, int *size)
{
    void *group;
    ((int (*)(void *, void **))in->fn[PF_FN_Comm_remote_group])(native, &group);
    return members_of(in, group, size);
}

static int index_of(const int *members, int size, int rank)
{
    for (int i = 0; i < size; i++)
        if (members[i] == rank)
            return i;
    return MPI_UNDEFINED;
}

struct pf_comm *pf_intercomm_adopt(struct pf_rank *r, struct pf_comm *parent, uint64_t sequence,
                                   struct pf_instance *in, void *native)
{
    int size, remote_size;
    int *members = local_members(in, native, &size);
    int *remote = remote_members(in, native, &remote_size);
    struct pf_comm_shared *shared = pf_comm_shared_get(parent, sequence, members, size, false);
    struct pf_comm *comm = pf_comm_new(r, shared, index_of(members, size, r->self.rank));
    pf_comm_take(comm, parent, in, native);
    pf_comm_bind(shared, in->impl);
    if (!shared->remote_ranks) {
        shared->remote_ranks = remote;
        shared->remote_size = remote_size;
        remote = NULL;
    }
    free(members);
    free(remote);
    return comm;
}

int pf_PMPI_Intercomm_create(MPI_Comm local, int local_leader, MPI_Comm peer, int remote_leader, int tag,
                             MPI_Comm *newcomm)
{
    struct pf_rank *r = PF_ENTER(Intercomm_create);
    struct pf_comm *parent = pf_comm_of(r, local);
    if (!parent || parent->shared->remote_ranks)
        return pf_call_error(r, local, MPI_ERR_COMM);
    if (!newcomm)
        return pf_call_error(r, local, MPI_ERR_ARG);
    bool leads = parent->me == local_leader;
    if (leads && !pf_comm_of(r, peer))
        return pf_call_error(r, local, MPI_ERR_COMM);
    uint64_t sequence = pf_comm_skip_collective(parent);
    void *native = NULL;
    struct pf_instance *in = pf_call_native_begin(r, pf_switch_promote(r));
    int code = ((int (*)(void *, int, void *, int, int, void **))in->fn[PF_FN_Intercomm_create])(
        pf_native(in, local), local_leader, leads ? pf_native(in, peer) : in->values->comm_null,
        remote_leader, tag, &native);
    if (code == MPI_SUCCESS)
        *newcomm = (MPI_Comm)(uintptr_t)pf_intercomm_adopt(r, parent, sequence, in, native);
    return pf_call_leave(r, in, local, code);
}

int pf_PMPI_Intercomm_merge(MPI_Comm handle, int high, MPI_Comm *newcomm)
{
    struct pf_rank *r = PF_ENTER(Intercomm_merge);
    struct pf_comm *parent = pf_comm_of(r, handle);
    if (!parent || !parent->shared->remote_ranks)
        return pf_call_error(r, handle, MPI_ERR_COMM);
    if (!newcomm)
        return pf_call_error(r, handle, MPI_ERR_ARG);
    struct pf_instance *in = pf_call_native_begin(r, pf_comm_collective(r, parent));
    void *native = NULL;
    int code =
        ((int (*)(void *, int, void **))in->fn[PF_FN_Intercomm_merge])(pf_native(in, handle), high, &native);
    if (code == MPI_SUCCESS) {
        int size;
        int *members = local_members(in, native, &size);
        int me = index_of(members, size, r->self.rank);
        struct pf_comm *comm = pf_comm_new(r, pf_comm_shared_meet(members, size, me), me);
        pf_comm_take(comm, parent, in, native);
        *newcomm = (MPI_Comm)(uintptr_t)comm;
        free(members);
    }
    return pf_call_leave(r, in, handle, code);
}

int pf_PMPI_Comm_test_inter(MPI_Comm handle, int *flag)
{
    struct pf_rank *r = PF_ENTER(Comm_test_inter);
    const struct pf_comm *comm = pf_comm_of(r, handle);
    if (!comm || !flag)
        return pf_call_error(r, handle, comm ? MPI_ERR_ARG : MPI_ERR_COMM);
    *flag = comm->shared->remote_ranks != NULL;
    return pf_call_return(r, MPI_SUCCESS);
}

static const struct pf_comm_shared *with_remote_side(struct pf_rank *r, MPI_Comm handle)
{
    const struct pf_comm *comm = pf_comm_of(r, handle);
    return comm && comm->shared->remote_ranks ? comm->shared : NULL;
}

int pf_PMPI_Comm_remote_size(MPI_Comm handle, int *size)
{
    struct pf_rank *r = PF_ENTER(Comm_remote_size);
    const struct pf_comm_shared *shared = with_remote_side(r, handle);
    if (!shared || !size)
        return pf_call_error(r, handle, shared ? MPI_ERR_ARG : MPI_ERR_COMM);
    *size = shared->remote_size;
    return pf_call_return(r, MPI_SUCCESS);
}

int pf_PMPI_Comm_remote_group(MPI_Comm handle, MPI_Group *group)
{
    struct pf_rank *r = PF_ENTER(Comm_remote_group);
    const struct pf_comm_shared *shared = with_remote_side(r, handle);
    if (!shared || !group)
        return pf_call_error(r, handle, shared ? MPI_ERR_ARG : MPI_ERR_COMM);
    *group = pf_group_new(r, shared->remote_ranks, shared->remote_size);
    return pf_call_return(r, MPI_SUCCESS);
}
