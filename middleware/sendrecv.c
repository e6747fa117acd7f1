/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI_Sendrecv_replace. SMPI's own stops the process when there is nothing to send, overwrites what no
 * message replaces (a receive from MPI_PROC_NULL, a short message), and takes the extent of a datatype for
 * the room that it needs. It is a Sendrecv and two copies that take no simulated time; here the data to send
 * is packed first instead.
 */
#include <stdlib.h>

#include "middleware/call.h"
#include "middleware/stranded.h"

typedef int (*native_pack)(const void *, int, void *, void *, int, int *, void *);
typedef int (*native_sendrecv)(const void *, int, void *, int, int, void *, int, void *, int, int, void *,
                               void *);
typedef int (*native_replace)(void *, int, void *, int, int, int, int, void *, void *);

struct sendrecv_replace {
    void *buffer;
    int count;
    void *datatype; /* native, as everything from here on */
    int dest, sendtag, source, recvtag;
    void *comm;
    void *status;
};

static int packed(struct pf_instance *in, const struct sendrecv_replace *a, MPI_Count bytes)
{
    int position = 0, code = MPI_SUCCESS;
    if (bytes > INT32_MAX) /* as SMPI, whose sizes are of that type */
        bytes = 0;
    void *room = malloc(bytes > 0 ? (size_t)bytes : 1);
    if (a->count != 0)
        code = ((native_pack)in->fn[PF_FN_Pack])(a->buffer, a->count, a->datatype, room, (int)bytes,
                                                 &position, a->comm);
    if (code == MPI_SUCCESS)
        code = ((native_sendrecv)in->fn[PF_FN_Sendrecv])(room, position, pf_native(in, MPI_BYTE), a->dest,
                                                         a->sendtag, a->buffer, a->count, a->datatype,
                                                         a->source, a->recvtag, a->comm, a->status);
    free(room);
    return code;
}

int pf_PMPI_Sendrecv_replace(void *buf, int count, MPI_Datatype datatype, int dest, int sendtag, int source,
                             int recvtag, MPI_Comm comm, MPI_Status *status)
{
    struct pf_rank *r = PF_ENTER(Sendrecv_replace);
    pf_call_schedule(r, false);
    struct pf_instance *in = pf_comm_route(r, comm);
    pf_call_peer(r, source, recvtag, comm);
    pf_call_sent(r, count, datatype);
    pf_stranded_sent(r, in, comm, dest, sendtag);
    pf_call_message(in);
    union pf_native_status room;
    void *native_status = status || r->ledger ? &room : NULL;
    pf_call_native_begin(r, in);
    struct sendrecv_replace a = {
        .buffer = pf_native_p2p_buffer(in, buf),
        .count = count,
        .datatype = pf_native(in, datatype),
        .dest = pf_native_rank(in, dest),
        .sendtag = pf_native_tag(in, sendtag),
        .source = pf_native_rank(in, source),
        .recvtag = pf_native_tag(in, recvtag),
        .comm = pf_native(in, comm),
        .status = native_status,
    };
    int code;
    if (in->impl == PF_IMPL_SMPI)
        code = packed(in, &a, count * pf_datatype_size(datatype));
    else
        code = ((native_replace)in->fn[PF_FN_Sendrecv_replace])(
            a.buffer, a.count, a.datatype, a.dest, a.sendtag, a.source, a.recvtag, a.comm, a.status);
    if (native_status && code == MPI_SUCCESS)
        pf_call_received(r, in, comm, source, native_status, status);
    return pf_call_leave(r, in, comm, code);
}
