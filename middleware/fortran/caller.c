/* SPDX-License-Identifier: BSD-3-Clause */
/* What the Fortran interface must know about its caller. */
#include <pthread.h>
#include <string.h>
#include <unwind.h>

#include <uthash.h>

#include "base/memory.h"
#include "loader/image.h"
#include "middleware/comm/comm.h"
#include "middleware/core/job_state.h"
#include "middleware/core/rank.h"
#include "middleware/fortran/fortran.h"
#include "middleware/topology/topology.h"

/* NULL in a thread of a rank, whose call will be refused. */
static struct pf_rank *caller(void)
{
    pf_self_t *self = pthread_equal(pthread_self(), pf_job_state.thread) ? pf_self() : NULL;
    return self ? self->mpi : NULL;
}

void pf_fortran_called_from(const void *site)
{
    struct pf_rank *r = caller();
    if (!r || r->state != PF_RANK_RUNNING)
        return;
    r->fortran_site = r->fortran_through ? r->fortran_through : site;
    r->fortran_through = NULL;
    r->reopens = r->reopens || r->open;
    r->open = false; /* so that the next call looks for it; calls from C do not pay for that */
}

/* And no place in Open MPI's libraries for Fortran, ours among them. */
static bool is_program(const void *at)
{
    const struct pf_elf *file = pf_image_file(at);
    const char *slash = file ? strrchr(file->path, '/') : NULL;
    return slash && strncmp(slash, "/libmpi_", 8) != 0;
}

/* A place in a layer that has been left: how far above the frame of the function below the way back to the
 * program lies. Frames of a layer have always the same size. */
struct way {
    const void *site;
    ptrdiff_t above;
    UT_hash_handle hh;
};

/* The first frame of the program, and where the one before has its way back. */
static _Unwind_Reason_Code look(struct _Unwind_Context *frame, void *back)
{
    if (!is_program((void *)_Unwind_GetIP(frame)))
        return _URC_NO_REASON;
    *(void ***)back = (void **)_Unwind_GetCFA(frame) - 1;
    return _URC_NORMAL_STOP;
}

static const void *leave_layer(const void *site, char *frame)
{
    static struct way *ways;
    struct way *way;
    void **back = NULL;
    HASH_FIND_PTR(ways, &site, way);
    if (way && is_program(*(void **)(void *)(frame + way->above)))
        return *(void **)(void *)(frame + way->above);
    _Unwind_Backtrace(look, &back);
    if (!back)
        return site;
    if (!way) {
        way = pf_calloc(1, sizeof *way);
        way->site = site;
        HASH_ADD_PTR(ways, site, way);
    }
    way->above = (char *)back - frame;
    return *back;
}

void pf_fortran_called_through(const void *site)
{
    struct pf_rank *r = caller();
    if (r)
        r->fortran_through = is_program(site) ? site : leave_layer(site, __builtin_frame_address(0));
}

void pf_fortran_attribute(int begins)
{
    struct pf_rank *r = caller();
    if (r)
        r->fortran_attribute = begins;
}

int pf_fortran_peers(MPI_Comm handle)
{
    struct pf_rank *r = caller();
    const struct pf_comm *comm = r ? pf_comm_of(r, handle) : NULL;
    return comm ? pf_comm_peers(comm) : 0;
}

int pf_fortran_neighbors(MPI_Comm handle, int sends)
{
    struct pf_rank *r = caller();
    const struct pf_comm *comm = r ? pf_comm_of(r, handle) : NULL;
    const struct pf_topology *topology = comm ? comm->topology : NULL;
    int count = 0;
    if (!topology)
        return 0;
    switch (topology->kind) {
    case MPI_CART:
        return 2 * topology->cart.ndims;
    case MPI_DIST_GRAPH:
        return sends ? topology->dist.outdegree : topology->dist.indegree;
    default:
        (void)pf_topology_graph_neighbors(&topology->graph, comm->me, &count);
        return count;
    }
}
