/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI functions that SMPI lacks or does in another way than the standard says. */
#include "adapters/smpi/smpi_calls.h"

#include <limits.h>
#include <stdlib.h>

#include <smpi/smpi.h>

#include "adapters/local/types.h"
#include "adapters/smpi/smpi_shadow.h"
#include "base/memory.h"
#include "pf_own.h"

/* ---- messages ---- */

static int cancel(MPI_Request *request)
{
    if (pf_smpi_request_matched(*request))
        return MPI_SUCCESS; /* too late: it completes */
    int code = PMPI_Cancel(request);
    if (code == MPI_SUCCESS)
        pf_smpi_request_cancelled(*request);
    return code;
}

/* SMPI deletes a request that still waits for its other side, which then finds a dangling one. It is kept. */
static int request_free(MPI_Request *request)
{
    if (!pf_smpi_request_waits(*request))
        return PMPI_Request_free(request);
    *request = MPI_REQUEST_NULL;
    return MPI_SUCCESS;
}

/*
 * SMPI's own stops the process when there is nothing to send, overwrites what no message replaces (a receive
 * from MPI_PROC_NULL, a short message), and takes the extent of a datatype for the room that it needs. It is
 * a Sendrecv and two copies that take no simulated time; here the data to send is packed first instead.
 */
static int sendrecv_replace(void *buffer, int count, MPI_Datatype type, int dest, int sendtag, int source,
                            int recvtag, MPI_Comm comm, MPI_Status *status)
{
    int position = 0, code = MPI_SUCCESS;
    double size = type == MPI_DATATYPE_NULL ? 0 : (double)count * (double)pf_local_type_size(type);
    int bytes = size > 0 && size <= INT_MAX ? (int)size : 0; /* SMPI's sizes are of that type */
    void *room = pf_malloc((size_t)bytes + 1);
    if (count != 0)
        code = PMPI_Pack(buffer, count, type, room, bytes, &position, comm);
    if (code == MPI_SUCCESS)
        code = PMPI_Sendrecv(room, position, MPI_BYTE, dest, sendtag, buffer, count, type, source, recvtag,
                             comm, status);
    free(room);
    return code;
}

/* ---- communicators ---- */

/* SMPI's own does nothing but call its MPI_Comm_create, by a name that arrives at the hub. */
static int comm_create_group(MPI_Comm comm, MPI_Group group, int tag, MPI_Comm *made)
{
    (void)tag;
    return PMPI_Comm_create(comm, group, made);
}

/* SMPI has no graphs: its own operation that makes a communicator of the first `size` members stands for
 * them. */
static int first_members(MPI_Comm comm, int size, MPI_Comm *made)
{
    int periodic = 0;
    return PMPI_Cart_create(comm, 1, &size, &periodic, 0, made);
}

static int all_members(MPI_Comm comm, MPI_Comm *made)
{
    int size, code = PMPI_Comm_size(comm, &size);
    return code == MPI_SUCCESS ? first_members(comm, size, made) : code;
}

static int graph_create(MPI_Comm comm, int nodes, const int *index, const int *edges, int reorder,
                        MPI_Comm *made)
{
    (void)index, (void)edges, (void)reorder;
    return first_members(comm, nodes, made);
}

static int dist_graph_create(MPI_Comm comm, int n, const int *nodes, const int *degrees, const int *targets,
                             const int *weights, MPI_Info info, int reorder, MPI_Comm *made)
{
    (void)n, (void)nodes, (void)degrees, (void)targets, (void)weights, (void)info, (void)reorder;
    return all_members(comm, made);
}

static int dist_graph_create_adjacent(MPI_Comm comm, int in, const int *sources, const int *source_weights,
                                      int out, const int *targets, const int *weights, MPI_Info info,
                                      int reorder, MPI_Comm *made)
{
    (void)in, (void)sources, (void)source_weights, (void)out, (void)targets, (void)weights, (void)info;
    (void)reorder;
    return all_members(comm, made);
}

/* ---- dynamic windows: SMPI knows only how much is attached in all, and forgets that with the first piece
 * that goes ---- */

struct region {
    MPI_Win win;
    void *base;
    MPI_Aint size;
    struct region *next;
};

static struct region *regions; /* of all windows, the newest first */

static int win_attach(MPI_Win win, void *base, MPI_Aint size)
{
    int code = PMPI_Win_attach(win, base, size);
    if (code != MPI_SUCCESS)
        return code;
    struct region *region = pf_malloc(sizeof *region);
    *region = (struct region){win, base, size, regions};
    regions = region;
    return MPI_SUCCESS;
}

static int win_detach(MPI_Win win, const void *base)
{
    int code = PMPI_Win_detach(win, base);
    if (code != MPI_SUCCESS)
        return code;
    struct region **link = &regions;
    while (*link && ((*link)->win != win || (*link)->base != base))
        link = &(*link)->next;
    struct region *gone = *link;
    if (gone)
        *link = gone->next;
    free(gone);
    MPI_Aint rest = 1; /* it counts from -1 now */
    void *newest = NULL;
    for (const struct region *region = regions; region; region = region->next) {
        if (region->win != win)
            continue;
        newest = newest ? newest : region->base;
        rest += region->size;
    }
    return newest ? PMPI_Win_attach(win, newest, rest) : MPI_SUCCESS;
}

void pf_smpi_calls_forget(const void *win)
{
    struct region **link = &regions;
    while (*link) {
        struct region *region = *link;
        if (region->win != win) {
            link = &region->next;
            continue;
        }
        *link = region->next;
        free(region);
    }
}

static int win_free(MPI_Win *win)
{
    const void *gone = *win;
    int code = PMPI_Win_free(win);
    if (code == MPI_SUCCESS)
        pf_smpi_calls_forget(gone);
    return code;
}

void pf_smpi_calls_install(struct pf_own_fn *fn)
{
    fn->Cancel = cancel;
    fn->Request_free = request_free;
    fn->Sendrecv_replace = sendrecv_replace;
    fn->Comm_create_group = comm_create_group;
    fn->Graph_create = graph_create;
    fn->Dist_graph_create = dist_graph_create;
    fn->Dist_graph_create_adjacent = dist_graph_create_adjacent;
    fn->Win_attach = win_attach;
    fn->Win_detach = win_detach;
    fn->Win_free = win_free;
}
