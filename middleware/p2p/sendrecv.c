/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI_Sendrecv and MPI_Sendrecv_replace: one native call, unless the ledger may put its two sides into
 * different models (ledger.h).
 */
#include <stdlib.h>

#include "middleware/p2p/ledger.h"
#include "middleware/p2p/stranded.h"
#include "middleware/comm/routing.h"
#include "middleware/p2p/request.h"
#include "middleware/p2p/wait_set.h"
#include "base/memory.h"

/* The two sides of one call. Their models can differ: then they are two operations. */
struct sides {
    struct pf_ledger_side send, receive;
    struct pf_ledger_route to, from;
    bool apart;
};

/* May the call be one native call? In the plain mode all sides are in one model. */
static struct pf_instance *agree(struct pf_rank *r, struct sides *sides)
{
    if (!pf_ledger_on)
        return pf_comm_route(r, sides->to.comm);
    struct pf_comm *comm = pf_comm_of(r, sides->to.comm);
    const struct pf_ledger_mailbox *there = pf_ledger_mailbox(comm, sides->to.peer);
    const struct pf_ledger_mailbox *here = comm ? pf_ledger_own_mailbox(comm) : NULL;
    if ((there && there->exact) || (here && here->exact)) {
        sides->apart = true;
        return r->active;
    }
    struct pf_instance *in = pf_ledger_receive(r, &sides->receive, &sides->from);
    if (there)
        in = pf_ledger_send(r, &sides->send, &sides->to);
    return in;
}

/* Starts one of two operations. Returns the middleware's error class. */
static int start_part(struct pf_rank *r, bool sends, const void *buffer, int count, MPI_Datatype datatype,
                      struct pf_ledger_route route, MPI_Request *handle)
{
    struct pf_ledger_side side;
    MPI_Comm comm = route.comm;
    pf_call_peer(r, route.peer, route.tag, comm);
    struct pf_instance *in = (sends ? pf_ledger_send : pf_ledger_receive)(r, &side, &route);
    if (sends)
        pf_call_traffic(r, in, route.peer, count, datatype, comm);
    pf_call_native_begin(r, in);
    pf_call_message(in, 1);
    struct pf_request *made = pf_request_new(r, in, sends ? PF_REQUEST_SEND : PF_REQUEST_RECV, comm);
    pf_ledger_keep(&side, &made->side);
    void *place = pf_native_p2p_buffer(in, buffer);
    int items = pf_native_count(in, count, datatype, sends);
    pf_native_datatype_t type = pf_native(in, datatype);
    int peer = pf_native_rank(in, route.peer);
    int tag = sends ? pf_native_send_tag(route.tag) : pf_native_tag(in, route.tag);
    pf_native_comm_t native = pf_native(in, route.comm);
    int code = sends ? in->fn->Isend(place, items, type, peer, tag, native, &made->native)
                     : in->fn->Irecv(place, items, type, peer, tag, native, &made->native);
    pf_call_native_end(r, in);
    pf_ledger_started(&made->side, code == MPI_SUCCESS);
    if (code != MPI_SUCCESS) {
        pf_request_release(made);
        return in->ops->error_class(in, code);
    }
    if (made->native == in->values->request_null)
        pf_request_was_null(made);
    *handle = (MPI_Request)(uintptr_t)made;
    return MPI_SUCCESS;
}

/* Takes back a receive for which no message is asked any more. */
static void withdraw(struct pf_rank *r, MPI_Request handle)
{
    struct pf_request *request = pf_request_of(handle);
    if (!request->owner || !pf_ledger_cancel(&request->side))
        return;
    struct pf_instance *in = pf_call_native_begin(r, request->owner);
    in->fn->Cancel(&request->native);
    pf_call_native_end(r, in);
}

/* The receive is the first, as in the native call: a NIC that posts it while the message is on its way takes
 * another time. */
static int in_parts(struct pf_rank *r, const void *out, int out_count, MPI_Datatype out_type,
                    struct pf_ledger_route to, void *in, int in_count, MPI_Datatype in_type,
                    struct pf_ledger_route from, MPI_Status *status)
{
    MPI_Request handles[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    struct pf_wait_set set;
    if (in_count < 0 || !pf_datatype_valid(in_type))
        return pf_call_error(r, from.comm, in_count < 0 ? MPI_ERR_COUNT : MPI_ERR_TYPE);
    int first = start_part(r, false, in, in_count, in_type, from, &handles[0]);
    int error = first ? first : start_part(r, true, out, out_count, out_type, to, &handles[1]);
    if (error && !first)
        withdraw(r, handles[0]);
    pf_wait_set_open(&set, r, 2, handles);
    while (set.active) /* one that fails does not end the other */
        pf_wait_set_block(&set);
    int received = pf_wait_set_deliver(&set, 0, error == MPI_SUCCESS ? status : NULL);
    int sent = pf_wait_set_deliver(&set, 1, NULL);
    pf_wait_set_close(&set);
    error = error ? error : received ? received : sent;
    return error ? pf_call_error(r, from.comm, error) : pf_call_return(r, MPI_SUCCESS);
}

int pf_PMPI_Sendrecv(const void *sendbuf, int sendcount, MPI_Datatype sendtype, int dest, int sendtag,
                     void *recvbuf, int recvcount, MPI_Datatype recvtype, int source, int recvtag,
                     MPI_Comm comm, MPI_Status *status)
{
    struct pf_rank *r = PF_ENTER(Sendrecv);
    if (PF_UNLIKELY(pf_datatype_lacks_buffer(sendbuf, sendcount, sendtype) ||
                    pf_datatype_lacks_buffer(recvbuf, recvcount, recvtype)))
        return pf_call_error(r, comm, MPI_ERR_BUFFER);
    pf_call_schedule_message(r, dest, sendcount, sendtype, comm);
    struct sides sides = {.to = {dest, sendtag, comm}, .from = {source, recvtag, comm}};
    pf_call_peer(r, source, recvtag, comm);
    pf_call_sent(r, sendcount, sendtype);
    struct pf_instance *in = agree(r, &sides);
    if (sides.apart)
        return in_parts(r, sendbuf, sendcount, sendtype, sides.to, recvbuf, recvcount, recvtype, sides.from,
                        status);
    pf_call_traffic(r, in, dest, sendcount, sendtype, comm);
    pf_stranded_sent(r, in, comm, dest, sendtag);
    union pf_native_status room = {0};
    union pf_native_status *native_status = status || pf_job_state.may_switch ? &room : NULL;
    pf_call_native_begin(r, in);
    pf_call_message(in, 2);
    int code = in->fn->Sendrecv(
        pf_native_p2p_buffer(in, sendbuf), pf_native_count(in, sendcount, sendtype, 1),
        pf_native(in, sendtype), pf_native_rank(in, dest), pf_native_send_tag(sendtag),
        pf_native_p2p_buffer(in, recvbuf), recvcount, pf_native(in, recvtype), pf_native_rank(in, source),
        pf_native_tag(in, recvtag), pf_native(in, comm), native_status);
    pf_ledger_sent(&sides.send, pf_ledger_accepted(in, code));
    if (native_status && code == MPI_SUCCESS)
        pf_call_received(r, in, comm, source, native_status, status);
    pf_ledger_received(in, &sides.receive, code, native_status, status);
    return pf_call_leave(r, in, comm, code);
}

/* What is sent is packed first, in the model in force. */
static int replace_in_parts(struct pf_rank *r, void *buffer, int count, MPI_Datatype datatype,
                            const struct sides *sides, MPI_Status *status)
{
    MPI_Comm comm = sides->to.comm;
    if (count < 0 || !pf_datatype_valid(datatype) || datatype == MPI_DATATYPE_NULL)
        return pf_call_error(r, comm, count < 0 ? MPI_ERR_COUNT : MPI_ERR_TYPE);
    int64_t bytes = count * pf_datatype_size(datatype);
    if (bytes > INT32_MAX)
        return pf_call_error(r, comm, MPI_ERR_COUNT);
    struct pf_instance *in = pf_call_native_begin(r, r->active);
    int position = 0, code = MPI_SUCCESS;
    void *room = pf_malloc((size_t)bytes + 1);
    if (bytes > 0)
        code = in->fn->Pack(pf_native_p2p_buffer(in, buffer), count, pf_native(in, datatype), room,
                            (int)bytes, &position, pf_native(in, comm));
    pf_call_native_end(r, in);
    if (code == MPI_SUCCESS)
        code =
            in_parts(r, room, (int)bytes, MPI_BYTE, sides->to, buffer, count, datatype, sides->from, status);
    else
        code = pf_call_error(r, comm, in->ops->error_class(in, code));
    free(room);
    return code;
}

int pf_PMPI_Sendrecv_replace(void *buf, int count, MPI_Datatype datatype, int dest, int sendtag, int source,
                             int recvtag, MPI_Comm comm, MPI_Status *status)
{
    struct pf_rank *r = PF_ENTER(Sendrecv_replace);
    if (PF_UNLIKELY(pf_datatype_lacks_buffer(buf, count, datatype)))
        return pf_call_error(r, comm, MPI_ERR_BUFFER);
    pf_call_schedule_message(r, dest, count, datatype, comm);
    struct sides sides = {.to = {dest, sendtag, comm}, .from = {source, recvtag, comm}};
    pf_call_peer(r, source, recvtag, comm);
    pf_call_sent(r, count, datatype);
    struct pf_instance *in = agree(r, &sides);
    if (sides.apart)
        return replace_in_parts(r, buf, count, datatype, &sides, status);
    pf_call_traffic(r, in, dest, count, datatype, comm);
    pf_stranded_sent(r, in, comm, dest, sendtag);
    union pf_native_status room = {0};
    union pf_native_status *native_status = status || pf_job_state.may_switch ? &room : NULL;
    pf_call_native_begin(r, in);
    pf_call_message(in, 2);
    int code = in->fn->Sendrecv_replace(
        pf_native_p2p_buffer(in, buf), pf_native_count(in, count, datatype, 1), pf_native(in, datatype),
        pf_native_rank(in, dest), pf_native_send_tag(sendtag), pf_native_rank(in, source),
        pf_native_tag(in, recvtag), pf_native(in, comm), native_status);
    pf_ledger_sent(&sides.send, pf_ledger_accepted(in, code));
    if (native_status && code == MPI_SUCCESS)
        pf_call_received(r, in, comm, source, native_status, status);
    pf_ledger_received(in, &sides.receive, code, native_status, status);
    return pf_call_leave(r, in, comm, code);
}
