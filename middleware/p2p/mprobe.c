/* SPDX-License-Identifier: BSD-3-Clause */
/* Matched probes (MPI 3.1 section 3.8.2): native in Open MPI, see mprobe.h for SMPI. */
#include "middleware/p2p/mprobe.h"

#include "middleware/p2p/stranded.h"
#include "middleware/comm/routing.h"
#include "middleware/p2p/request.h"

/* What a probe of MPI_PROC_NULL finds: MPI 3.1 section 3.11. */
static void no_proc(MPI_Status *status)
{
    if (!status)
        return;
    int before = status->MPI_ERROR; /* stays: MPI 3.1 section 3.2.5 */
    pf_status_set_empty(status);
    status->MPI_SOURCE = MPI_PROC_NULL;
    status->MPI_ERROR = before;
}

/* Looks once, or until there is one (flag NULL). Returns the native code. */
static int probe_native(struct pf_rank *r, struct pf_instance *in, int source, int tag, pf_native_comm_t comm,
                        int *flag, pf_native_message_t *message, union pf_native_status *status)
{
    source = pf_native_rank(in, source);
    tag = pf_native_tag(in, tag);
    if (!in->fn->Mprobe && flag)
        return in->fn->Iprobe(source, tag, comm, flag, status);
    if (!in->fn->Mprobe)
        return pf_probe_native(r, in, source, tag, comm, status);
    if (flag)
        return in->fn->Improbe(source, tag, comm, flag, message, status);
    return in->fn->Mprobe(source, tag, comm, message, status);
}

/* The ledger has found the message: it is taken, and received under its native tag later. */
static int probe_recorded(struct pf_rank *r, struct pf_instance *in, struct pf_comm *comm,
                          struct pf_ledger_mailbox *mailbox, struct pf_ledger_entry *send, int *flag,
                          MPI_Message *message, MPI_Status *status)
{
    struct pf_ledger_route at = pf_ledger_place(comm, send);
    union pf_native_status native_status = {0};
    int code;
    pf_call_native_begin(r, in);
    if (flag)
        code = in->fn->Iprobe(at.peer, at.tag, pf_native(in, at.comm), flag, &native_status);
    else
        code = pf_probe_native(r, in, at.peer, at.tag, pf_native(in, at.comm), &native_status);
    if (code == MPI_SUCCESS && flag && !*flag) {
        pf_call_idle(r, in);
    } else if (code == MPI_SUCCESS) {
        struct pf_message *found = pf_message_new(in, comm, &native_status);
        if (send->note)
            pf_upcalls.met(send->note, NULL);
        pf_ledger_take(mailbox, send, &found->side);
        pf_ledger_started(&found->side, true);
        found->source = found->side.source;
        found->tag = found->side.tag;
        if (status) {
            pf_status_from_probe(in, &native_status, status);
            status->MPI_SOURCE = found->source;
            status->MPI_TAG = found->tag;
        }
        *message = (MPI_Message)(uintptr_t)found;
    }
    return pf_call_leave(r, in, pf_comm_handle(comm), code);
}

static int probe(struct pf_rank *r, int source, int tag, MPI_Comm handle, int *flag, MPI_Message *message,
                 MPI_Status *status)
{
    struct pf_comm *comm = pf_comm_of(r, handle);
    if (!comm || !message)
        return pf_call_error(r, handle, comm ? MPI_ERR_ARG : MPI_ERR_COMM);
    if (tag < 0 && tag != MPI_ANY_TAG)
        return pf_call_error(r, handle, MPI_ERR_TAG);
    if (source == MPI_PROC_NULL) {
        *message = MPI_MESSAGE_NO_PROC;
        if (flag)
            *flag = 1;
        no_proc(status);
        return pf_call_return(r, MPI_SUCCESS);
    }
    pf_call_schedule(r, false);
    struct pf_instance *in = pf_comm_route(r, handle);
    struct pf_ledger_mailbox *mailbox = pf_ledger_probe_mailbox(r, handle, source, tag);
    pf_call_peer(r, source, tag, handle);
    if (mailbox && mailbox->exact) {
        struct pf_ledger_entry *send =
            flag ? pf_ledger_find_send(mailbox, source, tag) : pf_ledger_await(r, mailbox, source, tag);
        if (!send)
            return pf_ledger_found_nothing(r, in, &(struct pf_ledger_route){source, tag, handle}, flag);
        in = pf_ledger_follow(r, handle, send->model);
        if (send->native_tag != PF_LEDGER_PLAIN)
            return probe_recorded(r, in, comm, mailbox, send, flag, message, status);
        source = send->envelope.source;
        tag = send->envelope.tag;
    } else if (mailbox) {
        in = pf_ledger_plain(r, handle);
    }
    union pf_native_status native_status = {0};
    pf_native_message_t native = NULL;
    pf_call_native_begin(r, in);
    if (mailbox)
        mailbox->held++;
    int code = probe_native(r, in, source, tag, pf_native(in, handle), flag, &native, &native_status);
    if (mailbox)
        mailbox->held--;
    if (code != MPI_SUCCESS)
        return pf_call_leave(r, in, handle, code);
    if (flag && !*flag) {
        pf_call_idle(r, in);
        return pf_call_leave(r, in, handle, code);
    }
    struct pf_message *found = pf_message_new(in, comm, &native_status);
    found->native = native;
    if (!in->fn->Mprobe)
        code = pf_message_start(found);
    if (mailbox)
        pf_ledger_probed(mailbox, found->source, found->tag);
    if (!in->fn->Mprobe && r->unreceived)
        pf_stranded_note_received(r, in, comm, found->source, found->tag);
    pf_status_from_probe(in, &native_status, status);
    *message = (MPI_Message)(uintptr_t)found;
    return pf_call_leave(r, in, handle, code);
}

int pf_PMPI_Mprobe(int source, int tag, MPI_Comm comm, MPI_Message *message, MPI_Status *status)
{
    return probe(PF_ENTER(Mprobe), source, tag, comm, NULL, message, status);
}

int pf_PMPI_Improbe(int source, int tag, MPI_Comm comm, int *flag, MPI_Message *message, MPI_Status *status)
{
    struct pf_rank *r = PF_ENTER(Improbe);
    if (!flag)
        return pf_call_error(r, comm, MPI_ERR_ARG);
    return probe(r, source, tag, comm, flag, message, status);
}

/* The error class of the arguments of a receive. */
static int check_receive(const MPI_Message *message, const void *buffer, int count, MPI_Datatype datatype)
{
    if (!message || (*message != MPI_MESSAGE_NO_PROC && !pf_object_of(*message, PF_KIND_MESSAGE)))
        return MPI_ERR_REQUEST; /* as Open MPI */
    if (count < 0)
        return MPI_ERR_COUNT;
    if (!pf_datatype_valid(datatype) || datatype == MPI_DATATYPE_NULL)
        return MPI_ERR_TYPE;
    return pf_datatype_lacks_buffer(buffer, count, datatype) ? MPI_ERR_BUFFER : MPI_SUCCESS;
}

static int receive_recorded(struct pf_rank *r, struct pf_message *taken, void *buffer, int count,
                            MPI_Datatype datatype, MPI_Status *status)
{
    struct pf_instance *in = taken->owner;
    MPI_Comm comm = pf_comm_handle(taken->comm);
    union pf_native_status native = {0};
    pf_call_native_begin(r, in);
    pf_call_message(in, 1);
    int code = in->fn->Recv(pf_native_p2p_buffer(in, buffer), count, pf_native(in, datatype), taken->source,
                            taken->side.native_tag,
                            pf_native(in, (MPI_Comm)(uintptr_t)pf_comm_private(taken->comm)), &native);
    if (code == MPI_SUCCESS)
        pf_call_received(r, in, comm, taken->source, &native, status);
    pf_ledger_received(in, &taken->side, code, &native, status);
    code = pf_call_leave(r, in, comm, code);
    pf_message_release(taken);
    return code;
}

int pf_PMPI_Mrecv(void *buf, int count, MPI_Datatype datatype, MPI_Message *message, MPI_Status *status)
{
    struct pf_rank *r = PF_ENTER(Mrecv);
    int error = check_receive(message, buf, count, datatype);
    if (error != MPI_SUCCESS)
        return pf_call_error(r, MPI_COMM_WORLD, error);
    struct pf_message *taken = pf_object_of(*message, PF_KIND_MESSAGE);
    *message = MPI_MESSAGE_NULL;
    if (!taken) {
        no_proc(status);
        return pf_call_return(r, MPI_SUCCESS);
    }
    struct pf_instance *in = taken->owner;
    MPI_Comm comm = pf_comm_handle(taken->comm);
    pf_call_peer(r, taken->source, taken->tag, comm);
    if (taken->side.mailbox)
        return receive_recorded(r, taken, buf, count, datatype, status);
    if (!in->fn->Mprobe) {
        error = pf_message_deliver(r, taken, buf, count, datatype, status);
        error = error == MPI_SUCCESS ? pf_call_return(r, error) : pf_call_error(r, comm, error);
        pf_message_release(taken);
        return error;
    }
    union pf_native_status native_status = {0};
    pf_call_native_begin(r, in);
    pf_call_message(in, 1);
    int code = in->fn->Mrecv(pf_native_p2p_buffer(in, buf), count, pf_native(in, datatype), &taken->native,
                             &native_status);
    if (code == MPI_SUCCESS)
        pf_call_received(r, in, comm, taken->source, &native_status, status);
    code = pf_call_leave(r, in, comm, code);
    pf_message_release(taken);
    return code;
}

/* A receive from MPI_PROC_NULL is complete at once. */
static struct pf_request *receive_nothing(struct pf_rank *r)
{
    struct pf_request *made = pf_request_new(r, r->active, PF_REQUEST_RECV, MPI_COMM_NULL);
    no_proc(&made->status);
    made->done = true;
    return made;
}

int pf_PMPI_Imrecv(void *buf, int count, MPI_Datatype datatype, MPI_Message *message, MPI_Request *request)
{
    struct pf_rank *r = PF_ENTER(Imrecv);
    int error = request ? check_receive(message, buf, count, datatype) : MPI_ERR_ARG;
    if (error != MPI_SUCCESS)
        return pf_call_error(r, MPI_COMM_WORLD, error);
    struct pf_message *taken = pf_object_of(*message, PF_KIND_MESSAGE);
    *message = MPI_MESSAGE_NULL;
    if (!taken) {
        *request = (MPI_Request)(uintptr_t)receive_nothing(r);
        return pf_call_return(r, MPI_SUCCESS);
    }
    struct pf_instance *in = taken->owner;
    MPI_Comm comm = pf_comm_handle(taken->comm);
    pf_call_peer(r, taken->source, taken->tag, comm);
    if (taken->side.mailbox) {
        pf_call_native_begin(r, in);
        pf_call_message(in, 1);
        struct pf_request *made = pf_request_new(r, in, PF_REQUEST_RECV, comm);
        pf_ledger_keep(&taken->side, &made->side);
        int code =
            in->fn->Irecv(pf_native_p2p_buffer(in, buf), count, pf_native(in, datatype), taken->source,
                          made->side.native_tag,
                          pf_native(in, (MPI_Comm)(uintptr_t)pf_comm_private(taken->comm)), &made->native);
        pf_message_release(taken);
        return pf_request_started(r, in, made, comm, code, request);
    }
    if (!in->fn->Mprobe) {
        *request = (MPI_Request)(uintptr_t)pf_message_deliver_later(r, taken, buf, count, datatype);
        return pf_call_return(r, MPI_SUCCESS);
    }
    pf_call_native_begin(r, in);
    pf_call_message(in, 1);
    struct pf_request *made = pf_request_new(r, in, PF_REQUEST_RECV, comm);
    int code = in->fn->Imrecv(pf_native_p2p_buffer(in, buf), count, pf_native(in, datatype), &taken->native,
                              &made->native);
    pf_message_release(taken);
    return pf_request_started(r, in, made, comm, code, request);
}
