/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls that make communicators. The middleware knows the members, so the engine only prices the call. */
#include "adapters/analytic/comm/comm.h"

#include "adapters/analytic/collective/collective.h"
#include "adapters/local/collectives.h"
#include "pf_fn.h"

/* Bytes that members exchange to agree on an identifier, in MPICH all that are free first, and before that
 * for a split on colors and keys. */
enum { IDENTIFIER_BYTES = 4, IDENTIFIER_ROUNDS = 3, COLOR_BYTES = 8 };

static int agree_as_mpich(struct an_comm *comm)
{
    struct an_part p = {.pretend = AN_FREE_BYTES, .send_type = MPI_UINT32_T, .op = MPI_BAND};
    return an_collective_call(comm, &p, PF_COLL_ALLREDUCE, false);
}

int an_comm_agree(struct an_comm *comm)
{
    struct an_part p = {.pretend = IDENTIFIER_BYTES};
    if (an_job.mpich) {
        int code = agree_as_mpich(comm);
        return code == MPI_SUCCESS ? an_collective_call(comm, &p, PF_COLL_BCAST, false) : code;
    }
    int error = MPI_SUCCESS;
    for (int i = 0; i < IDENTIFIER_ROUNDS && error == MPI_SUCCESS; i++)
        error = an_collective_call(comm, &p, PF_COLL_ALLREDUCE, true);
    return error;
}

/* The two sides of an intercommunicator exchange identifiers once. */
static int agree(MPI_Comm handle, MPI_Comm *made)
{
    struct an_comm *comm = an_comm_of(handle);
    struct an_part p = {.pretend = IDENTIFIER_BYTES};
    *made = MPI_COMM_NULL;
    if (!comm)
        return MPI_ERR_COMM;
    return comm->shared->cut ? an_collective_call(comm, &p, PF_COLL_ALLREDUCE, false) : an_comm_agree(comm);
}

static int an_comm_dup(MPI_Comm comm, MPI_Comm *made)
{
    return agree(comm, made);
}

static int an_comm_create(MPI_Comm handle, MPI_Group group, MPI_Comm *made)
{
    struct an_comm *comm = an_comm_of(handle);
    if (!an_job.mpich || !comm || comm->shared->cut)
        return agree(handle, made);
    int error = agree_as_mpich(comm);
    *made = MPI_COMM_NULL;
    if (error == MPI_SUCCESS)
        an_comm_broadcast_group(comm, group);
    return error;
}

/* All have said their color when the exchange of colors is over, and say the next one when that of
 * identifiers is. */
static int split_as_mpich(struct an_comm *comm, int color)
{
    const struct an_members members = an_split_members(comm);
    int error = agree_as_mpich(comm);
    if (error == MPI_SUCCESS && color != MPI_UNDEFINED)
        an_comm_broadcast(comm, &members);
    return error;
}

static int an_comm_split(MPI_Comm handle, int color, int key, MPI_Comm *made)
{
    struct an_comm *comm = an_comm_of(handle);
    struct an_part p = {.pretend = COLOR_BYTES};
    *made = MPI_COMM_NULL;
    if (!comm)
        return MPI_ERR_COMM;
    bool mpich = an_job.mpich && !comm->shared->cut;
    if (mpich)
        an_split_say(comm, color, key);
    int error = an_collective_call(comm, &p, PF_COLL_ALLGATHER, false);
    if (error != MPI_SUCCESS || comm->shared->cut)
        return error;
    return mpich ? split_as_mpich(comm, color) : agree(handle, made);
}

static int an_intercomm_merge(MPI_Comm comm, int high, MPI_Comm *made)
{
    return agree(comm, made);
}

static int an_cart_create(MPI_Comm comm, int ndims, const int *dims, const int *periods, int reorder,
                          MPI_Comm *made)
{
    return agree(comm, made);
}

/* The middleware exchanges the graph itself. */
static int an_graph_create(MPI_Comm comm, int nodes, const int *index, const int *edges, int reorder,
                           MPI_Comm *made)
{
    return agree(comm, made);
}

static int an_dist_graph_create(MPI_Comm comm, int n, const int *nodes, const int *degrees,
                                const int *targets, const int *weights, MPI_Info info, int reorder,
                                MPI_Comm *made)
{
    return agree(comm, made);
}

static int an_dist_graph_create_adjacent(MPI_Comm comm, int in, const int *sources, const int *source_weights,
                                         int out, const int *targets, const int *weights, MPI_Info info,
                                         int reorder, MPI_Comm *made)
{
    return agree(comm, made);
}

static int an_comm_group(MPI_Comm comm, MPI_Group *group)
{
    const struct an_comm *own = an_comm_of(comm);
    MPI_Group world;
    int code = PMPI_Comm_group(MPI_COMM_WORLD, &world);
    if (code != MPI_SUCCESS)
        return code;
    code = PMPI_Group_incl(world, own->size, own->shared->world_ranks + own->first, group);
    PMPI_Group_free(&world);
    return code;
}

void an_comm_install(struct pf_own_fn *fn)
{
#define X(Name, name) fn->Name = an_##name;
    PF_LOCAL_COMM_MAKERS(X)
#undef X
    fn->Intercomm_merge = an_intercomm_merge;
    fn->Comm_group = an_comm_group;
}
