/* SPDX-License-Identifier: BSD-3-Clause */
/* What a call that is about to communicate says of itself. */
#include "middleware/comm/routing.h"

void pf_comm_schedule_message(struct pf_rank *r, int peer, int count, MPI_Datatype datatype, MPI_Comm handle)
{
    const struct pf_comm *comm = pf_comm_of(r, handle);
    struct pf_call_shape shape = {.peer = peer, .bytes = pf_comm_bytes(&count, 1, datatype)};
    if (comm)
        shape.members = comm->shared->size;
    if (comm && !comm->shared->other && peer >= 0)
        shape.peer = (peer - comm->me + shape.members) % shape.members;
    pf_switch_by_schedule(r, &shape);
}

void pf_comm_schedule_collective(struct pf_rank *r, const struct pf_comm *comm, int root, int64_t bytes)
{
    pf_switch_by_schedule(r, &(struct pf_call_shape){.world = comm == r->world,
                                                     .all = comm->shared->size == r->job->size,
                                                     .peer = root,
                                                     .members = comm->shared->size,
                                                     .bytes = bytes});
}

/* A call may be given what MPI refuses, or a handle that is none, which its implementation will say. */
int64_t pf_comm_bytes(const int *counts, int n, MPI_Datatype datatype)
{
    MPI_Count size = pf_datatype_valid(datatype) ? pf_datatype_size(datatype) : 0;
    int64_t items = 0;
    for (int i = 0; i < n; i++)
        items += counts[i] > 0 ? counts[i] : 0;
    return size > 0 ? items * size : 0;
}

void pf_comm_traffic(struct pf_rank *r, const struct pf_instance *in, int peer, int count,
                     MPI_Datatype datatype, MPI_Comm handle)
{
    const struct pf_comm *comm = pf_comm_of(r, handle);
    const struct pf_comm_shared *there = !comm                 ? NULL
                                         : comm->shared->other ? comm->shared->other
                                                               : comm->shared;
    if (!there || peer < 0 || peer >= there->size || pf_model_has_network((enum pf_model)in->model))
        return;
    MPI_Count size = pf_datatype_size(datatype);
    pf_traffic_count(r->self.rank, there->world_ranks[peer],
                     count > 0 && size > 0 ? (uint64_t)count * (uint64_t)size : 0);
}
