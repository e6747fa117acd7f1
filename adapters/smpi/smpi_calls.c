/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI functions that SMPI lacks or does in another way than the standard says. */
#include "adapters/smpi/smpi_functions.h"

#include <limits.h>
#include <stdlib.h>

#include <smpi/smpi.h>

#include "adapters/local/local.h"
#include "adapters/local/types.h"
#include "adapters/smpi/smpi_receive.h"
#include "adapters/smpi/smpi_shadow.h"
#include "adapters/smpi/smpi_win.h"
#include "base/memory.h"
#include "pf_own.h"

/* ---- messages ---- */

/* SMPI numbers the messages of a sender, and one that has been cancelled takes the place of the next, which
 * is never received, or is received as that. As under Open MPI, sends are not cancelled. */
static int cancel(MPI_Request *request)
{
    if (pf_smpi_request_sends_to(*request) != -1 || pf_smpi_request_matched(*request))
        return MPI_SUCCESS; /* it completes */
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

/* SMPI starts a persistent request to MPI_PROC_NULL as any other, and finds no such process: it is complete.
 */
static int start(MPI_Request *request)
{
    return pf_smpi_request_to_null(*request) ? PMPI_Request_free(request) : PMPI_Start(request);
}

/* A message of the rank to itself, in no simulated time. */
static int copy_to_self(const void *from, int count, MPI_Datatype type, void *to, int room,
                        MPI_Datatype to_type, int *received)
{
    size_t sent = (size_t)count * pf_local_type_size(type), most = (size_t)room * pf_local_type_size(to_type);
    void *packed = pf_malloc(sent + 1);
    pf_local_type_pack(type, count, from, packed);
    pf_local_type_unpack_bytes(to_type, packed, sent < most ? sent : most, to);
    free(packed);
    *received = (int)(sent < most ? sent : most);
    return sent > most ? MPI_ERR_TRUNCATE : MPI_SUCCESS;
}

/*
 * SMPI's own copies what a rank sends to itself, whatever it has sent itself before, drops a last item that
 * is not whole, and counts in the status what was sent. Here it checks the arguments, and copies nothing
 * because it gets no room.
 */
static int sendrecv(const void *from, int count, MPI_Datatype type, int dest, int sendtag, void *to, int room,
                    MPI_Datatype to_type, int source, int recvtag, MPI_Comm comm, MPI_Status *status)
{
    int me, size;
    if (comm != MPI_COMM_NULL && PMPI_Comm_size(comm, &size) == MPI_SUCCESS &&
        ((dest != MPI_PROC_NULL && (dest < 0 || dest >= size)) ||
         (source != MPI_PROC_NULL && source != MPI_ANY_SOURCE && (source < 0 || source >= size))))
        return MPI_ERR_RANK; /* stock looks only when neither is MPI_PROC_NULL */
    if (dest != source || dest < 0 || room < 0 || (room > 0 && !to) || comm == MPI_COMM_NULL ||
        PMPI_Comm_rank(comm, &me) != MPI_SUCCESS || dest != me)
        return PMPI_Sendrecv(from, count, type, dest, sendtag, to, room, to_type, source, recvtag, comm,
                             status);
    MPI_Status statuses[2] = {{0}};
    int code =
        PMPI_Sendrecv(from, count, type, dest, sendtag, to, 0, to_type, source, recvtag, comm, statuses);
    pf_smpi_receive_forget();
    if (code == MPI_SUCCESS && (recvtag == MPI_ANY_TAG || recvtag == sendtag) &&
        pf_smpi_self_is_idle(comm, me, recvtag)) {
        statuses[0].MPI_SOURCE = me;
        statuses[0].MPI_TAG = sendtag;
        code = copy_to_self(from, count, type, to, room, to_type, &statuses[0].count);
    } else if (code == MPI_SUCCESS) {
        MPI_Request both[2];
        PMPI_Irecv(to, room, to_type, source, recvtag, comm, &both[0]);
        PMPI_Isend(from, count, type, dest, sendtag, comm, &both[1]);
        PMPI_Waitall(2, both, statuses);
        code = statuses[0].MPI_ERROR;
    }
    if (status != MPI_STATUS_IGNORE)
        *status = statuses[0];
    return code;
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
        code = pf_local_pack(buffer, count, type, room, bytes, &position, comm);
    if (code == MPI_SUCCESS)
        code = sendrecv(room, position, MPI_BYTE, dest, sendtag, buffer, count, type, source, recvtag, comm,
                        status);
    free(room);
    return code;
}

/* ---- collectives: SMPI refuses blocks that are shorter than their room, which other libraries receive ----
 */

/* Is it this member's turn to give itself a block that is too short for SMPI? */
static bool is_short(int count, MPI_Datatype type, int room, MPI_Datatype to_type, MPI_Comm comm, int root,
                     int *me)
{
    return count >= 0 && room > 0 && comm != MPI_COMM_NULL && PMPI_Comm_rank(comm, me) == MPI_SUCCESS &&
           (root < 0 || root == *me) && pf_local_type_is_ready(type) && pf_local_type_is_ready(to_type) &&
           (size_t)count * pf_local_type_size(type) < (size_t)room * pf_local_type_size(to_type);
}

/* What this member sends, which lies in place when the function has copied its own block. */
static const void *short_in_place(const void *from, int count, MPI_Datatype type, void *to, int room,
                                  MPI_Datatype to_type, int root, MPI_Comm comm)
{
    int me, received;
    if (from == MPI_IN_PLACE || !from || !to || !is_short(count, type, room, to_type, comm, root, &me))
        return from;
    copy_to_self(from, count, type, (char *)to + (ptrdiff_t)me * room * pf_local_type_extent(to_type), room,
                 to_type, &received);
    return MPI_IN_PLACE;
}

/* The same for the root of a scatter: where it receives. */
static void *short_out_of_place(const void *from, int count, MPI_Datatype type, void *to, int room,
                                MPI_Datatype to_type, int root, MPI_Comm comm)
{
    int me, received;
    if (to == MPI_IN_PLACE || !from || !to || !is_short(count, type, room, to_type, comm, root, &me))
        return to;
    copy_to_self((const char *)from + (ptrdiff_t)me * count * pf_local_type_extent(type), count, type, to,
                 room, to_type, &received);
    return MPI_IN_PLACE;
}

#define SIDES              const void *s, int n, MPI_Datatype t, void *r, int m, MPI_Datatype u
#define IN_PLACE(root)     short_in_place(s, n, t, r, m, u, root, comm), n, t, r, m, u
#define OUT_OF_PLACE(root) s, n, t, short_out_of_place(s, n, t, r, m, u, root, comm), m, u

static int gather(SIDES, int root, MPI_Comm comm)
{
    return PMPI_Gather(IN_PLACE(root), root, comm);
}

static int igather(SIDES, int root, MPI_Comm comm, MPI_Request *request)
{
    return PMPI_Igather(IN_PLACE(root), root, comm, request);
}

static int scatter(SIDES, int root, MPI_Comm comm)
{
    return PMPI_Scatter(OUT_OF_PLACE(root), root, comm);
}

static int iscatter(SIDES, int root, MPI_Comm comm, MPI_Request *request)
{
    return PMPI_Iscatter(OUT_OF_PLACE(root), root, comm, request);
}

static int allgather(SIDES, MPI_Comm comm)
{
    return PMPI_Allgather(IN_PLACE(-1), comm);
}

static int iallgather(SIDES, MPI_Comm comm, MPI_Request *request)
{
    return PMPI_Iallgather(IN_PLACE(-1), comm, request);
}

/* ---- communicators ---- */

/* SMPI's own does nothing but call its MPI_Comm_create, by a name that arrives at the middleware. */
static int comm_create_group(MPI_Comm comm, MPI_Group group, int tag, MPI_Comm *made)
{
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
    return first_members(comm, nodes, made);
}

static int dist_graph_create(MPI_Comm comm, int n, const int *nodes, const int *degrees, const int *targets,
                             const int *weights, MPI_Info info, int reorder, MPI_Comm *made)
{
    return all_members(comm, made);
}

static int dist_graph_create_adjacent(MPI_Comm comm, int in, const int *sources, const int *source_weights,
                                      int out, const int *targets, const int *weights, MPI_Info info,
                                      int reorder, MPI_Comm *made)
{
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
    if (code != MPI_SUCCESS)
        return code;
    pf_smpi_calls_forget(gone);
    pf_smpi_win_fenced(gone, false);
    return code;
}

static int win_fence(int assertion, MPI_Win win)
{
    int code = PMPI_Win_fence(assertion, win);
    pf_smpi_win_fenced(win, !(assertion & MPI_MODE_NOSUCCEED));
    return code;
}

static int win_post(MPI_Group group, int assertion, MPI_Win win)
{
    pf_smpi_win_close(win);
    return PMPI_Win_post(group, assertion, win);
}

static int win_start(MPI_Group group, int assertion, MPI_Win win)
{
    pf_smpi_win_close(win);
    return PMPI_Win_start(group, assertion, win);
}

/* The room may hold more than is unpacked. */
static int unpack(const void *packed, int size, int *position, void *to, int count, MPI_Datatype type,
                  MPI_Comm comm)
{
    int code = pf_local_unpack(packed, size, position, to, count, type, comm);
    pf_smpi_receive_forget();
    return code;
}

static int ibarrier(MPI_Comm comm, MPI_Request *request)
{
    return pf_smpi_ibarrier(comm, (void **)request);
}

void pf_smpi_calls_install(struct pf_own_fn *fn)
{
    fn->Ibarrier = ibarrier;
    fn->Cancel = cancel;
    fn->Request_free = request_free;
    fn->Gather = gather;
    fn->Igather = igather;
    fn->Scatter = scatter;
    fn->Iscatter = iscatter;
    fn->Allgather = allgather;
    fn->Iallgather = iallgather;
    fn->Unpack = unpack;
    fn->Start = start;
    fn->Sendrecv = sendrecv;
    fn->Sendrecv_replace = sendrecv_replace;
    fn->Comm_create_group = comm_create_group;
    fn->Graph_create = graph_create;
    fn->Dist_graph_create = dist_graph_create;
    fn->Dist_graph_create_adjacent = dist_graph_create_adjacent;
    fn->Win_attach = win_attach;
    fn->Win_detach = win_detach;
    fn->Win_free = win_free;
    fn->Win_fence = win_fence;
    fn->Win_post = win_post;
    fn->Win_start = win_start;
}
