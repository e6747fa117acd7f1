/* SPDX-License-Identifier: BSD-3-Clause */
/* Puts, gets and atomic calls: they turn their arguments into an access, which nic/ or pt2pt/ carries out. */
#include "adapters/analytic/rma/rma.h"

#include <string.h>

#include "adapters/analytic/rma/nic/nic.h"
#include "adapters/analytic/rma/pt2pt/pt2pt.h"
#include "adapters/local/types.h"
#include "pf_fn.h"

/* One side of a call. */
struct side {
    void *at;
    int count;
    MPI_Datatype type;
};

/* The target's side. */
struct aim {
    int rank;
    MPI_Aint disp;
    int count;
    MPI_Datatype type;
};

/* Finds the target's items. The middleware has checked that they are in the window. */
static int take_aim(struct an_window *win, const struct aim *aim, struct an_layout *there)
{
    if (!an_window_is_member(win, aim->rank))
        return MPI_ERR_RANK;
    int error = an_check_data(aim->count, aim->type);
    if (error)
        return error;
    const struct an_window *target = win->rma->members[aim->rank];
    ptrdiff_t offset = (ptrdiff_t)aim->disp * target->disp_unit;
    char *at = target->dynamic ? (char *)(intptr_t)aim->disp : (char *)((intptr_t)target->base + offset);
    an_layout_make(there, at, aim->count, aim->type);
    return MPI_SUCCESS;
}

static struct an_access *access_new(struct an_window *win, enum an_action action, const struct aim *aim,
                                    const struct an_layout *there)
{
    struct an_access *a = an_access_new();
    a->win = win;
    a->action = action;
    a->target = aim->rank;
    a->peer = an_window_peer(win, aim->rank);
    a->there = *there;
    a->bytes = there->bytes;
    a->derived = an_data_is_derived(aim->type);
    return a;
}

/* Allocates memory for the data to the target and for those of the answer. */
static void make_room(struct an_access *a, size_t sent)
{
    size_t answer = a->answers ? a->bytes : 0;
    a->sent = sent;
    if (an_job.moves_data)
        a->payload = an_data_room(sent + answer, &a->payload_class);
}

/* Starts an access. One without bytes sends no message. */
static void start(struct an_access *a, MPI_Request *request)
{
    struct an_rank *rank = a->win->rank;
    struct an_request *made = request ? an_request_new(rank, AN_ACCESS) : NULL;
    if (request)
        *request = (MPI_Request)made;
    if (a->bytes == 0) {
        an_rank_pay_call(rank);
        if (made)
            an_request_settle(made, an_now(rank));
        an_access_discard(a);
        return;
    }
    a->request = made;
    if (an_job.by_messages)
        an_pt2pt_start(a);
    else
        an_nic_start(a);
}

static int put(const struct side *from, const struct aim *aim, MPI_Win handle, MPI_Request *request)
{
    struct an_window *win = an_window_of(handle);
    struct an_layout there;
    int error = an_check_data(from->count, from->type);
    if (!error)
        error = take_aim(win, aim, &there);
    if (error)
        return error;
    size_t bytes = an_data_bytes(from->count, from->type);
    if (bytes > there.bytes) {
        an_layout_drop(&there);
        return MPI_ERR_TRUNCATE;
    }
    struct an_access *a = access_new(win, AN_PUT, aim, &there);
    a->bytes = bytes;
    make_room(a, bytes);
    an_data_pack(from->at, from->count, from->type, a->payload);
    start(a, request);
    return MPI_SUCCESS;
}

/* With MPI_NO_OP it is one of the accumulates, which keep their order. */
static int get(const struct side *into, const struct aim *aim, MPI_Op op, MPI_Win handle,
               MPI_Request *request)
{
    struct an_window *win = an_window_of(handle);
    struct an_layout there;
    int error = an_check_data(into->count, into->type);
    if (!error)
        error = take_aim(win, aim, &there);
    if (error)
        return error;
    if (there.bytes > an_data_bytes(into->count, into->type)) {
        an_layout_drop(&there);
        return MPI_ERR_TRUNCATE;
    }
    struct an_access *a = access_new(win, AN_GET, aim, &there);
    a->op = op;
    a->answers = true;
    an_layout_make(&a->here, into->at, into->count, into->type);
    make_room(a, 0);
    start(a, request);
    return MPI_SUCCESS;
}

/* The predefined type of the items: both sides have the same, but SMPI treats structures without gaps as
 * bytes. */
static MPI_Datatype basic_type(const struct side *from, const struct an_layout *there)
{
    if (!an_data_is_derived(from->type))
        return from->type;
    struct an_layout layout;
    an_layout_make(&layout, from->at, from->count, from->type);
    MPI_Datatype basic = layout.basic;
    an_layout_drop(&layout);
    return pf_local_type_size(basic) > pf_local_type_size(there->basic) ? basic : there->basic;
}

/* With MPI_NO_OP no data go to the target; without a result none are returned. */
static int accumulate(const struct side *from, const struct side *result, const struct aim *aim, MPI_Op op,
                      MPI_Win handle, MPI_Request *request)
{
    struct an_window *win = an_window_of(handle);
    struct an_layout there;
    if (result && op == MPI_NO_OP)
        return get(result, aim, op, handle, request);
    int error = an_check_data(from->count, from->type);
    if (!error && result)
        error = an_check_data(result->count, result->type);
    if (!error)
        error = take_aim(win, aim, &there);
    if (error)
        return error;
    size_t bytes = an_data_bytes(from->count, from->type);
    MPI_Datatype basic = there.bytes > 0 && bytes > 0 ? basic_type(from, &there) : NULL;
    if (basic && !pf_local_can_accumulate(op, basic))
        error = MPI_ERR_OP;
    else if (bytes > there.bytes || (result && bytes > an_data_bytes(result->count, result->type)))
        error = MPI_ERR_TRUNCATE;
    if (error) {
        an_layout_drop(&there);
        return error;
    }
    struct an_access *a = access_new(win, AN_ACCUMULATE, aim, &there);
    a->op = op;
    a->basic = basic;
    a->bytes = bytes;
    a->answers = result != NULL;
    if (result)
        an_layout_make(&a->here, result->at, result->count, result->type);
    make_room(a, bytes);
    an_data_pack(from->at, from->count, from->type, a->payload);
    start(a, request);
    return MPI_SUCCESS;
}

static int an_compare_and_swap(const void *origin, const void *compare, void *result, MPI_Datatype type,
                               int rank, MPI_Aint disp, MPI_Win handle)
{
    struct an_window *win = an_window_of(handle);
    struct aim aim = {rank, disp, 1, type};
    struct an_layout there;
    if (rank == MPI_PROC_NULL)
        return MPI_SUCCESS;
    int error = take_aim(win, &aim, &there);
    if (error)
        return error;
    if (an_data_is_derived(type)) {
        an_layout_drop(&there);
        return MPI_ERR_TYPE;
    }
    struct an_access *a = access_new(win, AN_SWAP, &aim, &there);
    a->answers = true;
    an_layout_make(&a->here, an_buffer(result), 1, type);
    make_room(a, 2 * a->bytes);
    if (a->payload) {
        memcpy(a->payload, an_buffer(compare), a->bytes);
        memcpy(a->payload + a->bytes, an_buffer(origin), a->bytes);
    }
    start(a, NULL);
    an_rank_pace(win->rank);
    return MPI_SUCCESS;
}

/* ---- the functions as MPI has them ---- */

/* Nothing happens with MPI_PROC_NULL (MPI 3.1 section 11.3). */
static int end(int error, MPI_Win handle)
{
    if (error == MPI_SUCCESS)
        an_rank_pace(an_window_of(handle)->rank);
    return error;
}

#define CALLS(name, call, ...)                                                                               \
    static int an_##name(__VA_ARGS__, MPI_Win win)                                                           \
    {                                                                                                        \
        MPI_Request *request = NULL;                                                                         \
        return rank == MPI_PROC_NULL ? MPI_SUCCESS : end(call, win);                                         \
    }                                                                                                        \
    static int an_r##name(__VA_ARGS__, MPI_Win win, MPI_Request *request)                                    \
    {                                                                                                        \
        *request = MPI_REQUEST_NULL;                                                                         \
        return rank == MPI_PROC_NULL ? MPI_SUCCESS : end(call, win);                                         \
    }

#define SIDE(buffer, count, type) (&(struct side){an_buffer(buffer), count, type})
#define AIM                       (&(struct aim){rank, disp, m, u})

CALLS(put, put(SIDE(from, n, t), AIM, win, request), const void *from, int n, MPI_Datatype t, int rank,
      MPI_Aint disp, int m, MPI_Datatype u)
CALLS(get, get(SIDE(into, n, t), AIM, MPI_OP_NULL, win, request), void *into, int n, MPI_Datatype t, int rank,
      MPI_Aint disp, int m, MPI_Datatype u)
CALLS(accumulate, accumulate(SIDE(from, n, t), NULL, AIM, op, win, request), const void *from, int n,
      MPI_Datatype t, int rank, MPI_Aint disp, int m, MPI_Datatype u, MPI_Op op)
CALLS(get_accumulate, accumulate(SIDE(from, n, t), SIDE(result, k, v), AIM, op, win, request),
      const void *from, int n, MPI_Datatype t, void *result, int k, MPI_Datatype v, int rank, MPI_Aint disp,
      int m, MPI_Datatype u, MPI_Op op)

static int an_fetch_and_op(const void *from, void *result, MPI_Datatype type, int rank, MPI_Aint disp,
                           MPI_Op op, MPI_Win win)
{
    return an_get_accumulate(from, 1, type, result, 1, type, rank, disp, 1, type, op, win);
}

void an_access_install(struct pf_own_fn *fn)
{
    fn->Put = an_put;
    fn->Rput = an_rput;
    fn->Get = an_get;
    fn->Rget = an_rget;
    fn->Accumulate = an_accumulate;
    fn->Raccumulate = an_raccumulate;
    fn->Get_accumulate = an_get_accumulate;
    fn->Rget_accumulate = an_rget_accumulate;
    fn->Fetch_and_op = an_fetch_and_op;
    fn->Compare_and_swap = an_compare_and_swap;
}
