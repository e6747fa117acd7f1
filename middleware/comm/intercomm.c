/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Intercommunicators: MPI 3.1 section 6.6. SMPI has none, so Open MPI stands in for it; the analytic model
 * has its own. The middleware keeps one shared part per side; ids, references, and the decisions in which
 * model a collective runs are those of both together. How they are created: intercomm_create.c.
 */
#include "middleware/comm/intercomm.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "middleware/comm/group.h"
#include "middleware/comm/routing.h"

/* An intercommunicator that some of its members have yet to join. */
struct pairing {
    struct pairing *next;
    struct pf_comm_shared *first;
    int missing;
    bool joined[]; /* of the first side, then the others */
};

static struct pairing *pairings; /* oldest first */

static bool is_group(const struct pf_comm_shared *side, const int *ranks, int size)
{
    return side->size == size && memcmp(side->world_ranks, ranks, (size_t)size * sizeof *ranks) == 0;
}

/* The caller's place in a pairing of these groups that it has not joined; negative: it is another one. */
static int place_in(const struct pairing *pairing, const int *ranks, int size, int me, const int *others,
                    int others_size)
{
    const struct pf_comm_shared *first = pairing->first, *other = first->other;
    int place = -1;
    if (is_group(first, ranks, size) && is_group(other, others, others_size))
        place = me;
    else if (is_group(other, ranks, size) && is_group(first, others, others_size))
        place = first->size + me;
    return place >= 0 && !pairing->joined[place] ? place : -1;
}

static struct pf_comm_shared *pair(const int *ranks, int size, int me, const int *others, int others_size)
{
    struct pairing **link = &pairings;
    int place = me;
    while (*link && (place = place_in(*link, ranks, size, me, others, others_size)) < 0)
        link = &(*link)->next;
    if (!*link) {
        *link = pf_calloc(1, sizeof **link + (size_t)(size + others_size) * sizeof(bool));
        (*link)->first = pf_comm_pair_new(ranks, size, others, others_size);
        (*link)->missing = size + others_size;
        place = me;
    }
    struct pairing *pairing = *link;
    struct pf_comm_shared *first = pairing->first;
    pairing->joined[place] = true;
    if (--pairing->missing == 0) {
        *link = pairing->next;
        free(pairing);
    }
    return place < first->size ? first : first->other;
}

struct pf_comm *pf_intercomm_adopt(struct pf_rank *r, const struct pf_comm *parent, const int *ranks,
                                   int size, int me, const int *others, int others_size,
                                   struct pf_instance *in, void *native)
{
    struct pf_comm *comm = pf_comm_new(r, pair(ranks, size, me, others, others_size), me);
    pf_comm_take(comm, parent, in, native);
    return comm;
}

struct pf_comm *pf_intercomm_duplicate(struct pf_rank *r, struct pf_comm *parent, struct pf_instance *in,
                                       void *native)
{
    const struct pf_comm_shared *ours = parent->shared, *others = ours->other;
    return pf_intercomm_adopt(r, parent, ours->world_ranks, ours->size, parent->me, others->world_ranks,
                              others->size, in, native);
}

int pf_PMPI_Comm_test_inter(MPI_Comm handle, int *flag)
{
    struct pf_rank *r = PF_ENTER(Comm_test_inter);
    const struct pf_comm *comm = pf_comm_of(r, handle);
    if (!comm || !flag)
        return pf_call_error(r, handle, comm ? MPI_ERR_ARG : MPI_ERR_COMM);
    *flag = pf_comm_is_inter(comm);
    return pf_call_return(r, MPI_SUCCESS);
}

static const struct pf_comm_shared *remote_side(struct pf_rank *r, MPI_Comm handle)
{
    const struct pf_comm *comm = pf_comm_of(r, handle);
    return comm ? comm->shared->other : NULL;
}

int pf_PMPI_Comm_remote_size(MPI_Comm handle, int *size)
{
    struct pf_rank *r = PF_ENTER(Comm_remote_size);
    const struct pf_comm_shared *side = remote_side(r, handle);
    if (!side || !size)
        return pf_call_error(r, handle, side ? MPI_ERR_ARG : MPI_ERR_COMM);
    *size = side->size;
    return pf_call_return(r, MPI_SUCCESS);
}

int pf_PMPI_Comm_remote_group(MPI_Comm handle, MPI_Group *group)
{
    struct pf_rank *r = PF_ENTER(Comm_remote_group);
    const struct pf_comm_shared *side = remote_side(r, handle);
    if (!side || !group)
        return pf_call_error(r, handle, side ? MPI_ERR_ARG : MPI_ERR_COMM);
    *group = pf_group_new(r, side->world_ranks, side->size);
    return pf_call_return(r, MPI_SUCCESS);
}
