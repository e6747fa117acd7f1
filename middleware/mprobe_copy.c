/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Matched probes in SMPI, which has none: once a message is found, its bytes are received under its own
 * source and tag, so that no other receive can get it, and kept until the application asks for them.
 */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "middleware/call.h"
#include "middleware/mprobe.h"
#include "middleware/request.h"
#include "middleware/stranded.h"

typedef int (*native_irecv)(void *, int, void *, int, int, void *, void **);
typedef int (*native_wait)(void **, void *);
typedef int (*native_unpack)(const void *, int, int *, void *, int, void *, void *);

/* What is left to do for a delivery. */
struct delivery {
    struct pf_message *message;
    void *buffer;
    int count;
    MPI_Datatype datatype; /* with a reference */
};

struct pf_message *pf_message_new(struct pf_instance *in, struct pf_comm *comm, const void *native_status)
{
    struct pf_native_status_view view;
    in->ops->status_get(native_status, &view);
    struct pf_message *message = calloc(1, sizeof *message);
    message->object.kind = PF_KIND_MESSAGE;
    message->object.references = 1;
    message->owner = in;
    message->comm = pf_comm_retain(comm);
    message->source = view.source;
    message->tag = view.tag;
    message->size = view.bytes < INT_MAX ? (int)view.bytes : INT_MAX;
    return message;
}

void pf_message_release(struct pf_message *message)
{
    pf_comm_release(message->comm);
    message->object.kind = PF_KIND_DEAD;
    free(message->bytes);
    pf_object_discard(message);
}

int pf_message_start(struct pf_message *message)
{
    struct pf_instance *in = message->owner;
    message->bytes = malloc((size_t)message->size + 1);
    return ((native_irecv)in->fn[PF_FN_Irecv])(
        message->bytes, message->size, pf_native(in, MPI_BYTE), message->source, message->tag,
        pf_native(in, pf_comm_handle(message->comm)), &message->receiving);
}

/* The bytes are there. Returns the hub's error class. */
static int copy_out(struct pf_instance *in, const struct pf_message *message, void *buffer, int count,
                    MPI_Datatype datatype)
{
    MPI_Count element = pf_datatype_size(datatype), room = count * element;
    int position = 0, size = message->size < room ? message->size : (int)room, code = MPI_SUCCESS;
    struct pf_bounds bounds;
    if (size > 0) {
        pf_datatype_bounds(datatype, &bounds);
        if (bounds.dense) /* may end within an element */
            memcpy(buffer, message->bytes, (size_t)size);
        else
            code = ((native_unpack)in->fn[PF_FN_Unpack])(
                message->bytes, size, &position, pf_native_p2p_buffer(in, buffer), (int)(size / element),
                pf_native(in, datatype), pf_native(in, pf_comm_handle(message->comm)));
    }
    if (code != MPI_SUCCESS)
        return in->ops->error_class(in, code);
    return message->size > room ? MPI_ERR_TRUNCATE : MPI_SUCCESS;
}

int pf_message_deliver(struct pf_rank *r, struct pf_message *message, void *buffer, int count,
                       MPI_Datatype datatype, MPI_Status *status)
{
    struct pf_instance *in = message->owner;
    union pf_native_status native;
    int error = MPI_SUCCESS;
    pf_call_native_begin(r, in);
    int code = ((native_wait)in->fn[PF_FN_Wait])(&message->receiving, &native);
    if (code != MPI_SUCCESS)
        error = in->ops->error_class(in, code);
    else
        error = copy_out(in, message, buffer, count, datatype);
    if (status)
        pf_status_from_native(in, &native, status);
    pf_call_native_end(r, in);
    return error;
}

static bool delivery_ready(struct pf_request *request)
{
    const struct delivery *d = request->hub_data;
    struct pf_instance *in = request->owner;
    return d->message->receiving == in->values->request_null ||
           in->ops->request_done(in, d->message->receiving);
}

static bool delivery_wait(struct pf_request *request)
{
    struct delivery *d = request->hub_data;
    request->error =
        pf_message_deliver(request->rank, d->message, d->buffer, d->count, d->datatype, &request->status);
    request->status.MPI_ERROR = request->error;
    request->done = true;
    pf_message_release(d->message);
    d->message = NULL;
    pf_call_reset_polls();
    return true;
}

static void delivery_finish(struct pf_request *request)
{
    delivery_wait(request);
}

/* Only a call moves the data into the buffer, and this is the last one. They are here already or on their
 * way.
 */
static void delivery_abandon(struct pf_request *request)
{
    delivery_wait(request);
    pf_request_release(request);
}

/* A receive of a matched message cannot be cancelled any more; MPI lets the call succeed without effect. */
static int delivery_cancel(struct pf_request *request)
{
    (void)request;
    return MPI_SUCCESS;
}

static void delivery_release(struct pf_request *request)
{
    struct delivery *d = request->hub_data;
    pf_datatype_release(d->datatype);
    free(d);
}

static const struct pf_request_hub hub_delivery = {
    .size = sizeof hub_delivery,
    .ready = delivery_ready,
    .finish = delivery_finish,
    .test = pf_request_hub_test,
    .wait = delivery_wait,
    .abandon = delivery_abandon,
    .cancel = delivery_cancel,
    .release = delivery_release,
};

struct pf_request *pf_message_deliver_later(struct pf_rank *r, struct pf_message *message, void *buffer,
                                            int count, MPI_Datatype datatype)
{
    struct pf_request *request =
        pf_request_new(r, message->owner, PF_REQUEST_HUB, pf_comm_handle(message->comm));
    struct delivery *d = malloc(sizeof *d);
    *d = (struct delivery){message, buffer, count, datatype};
    pf_datatype_retain(datatype);
    request->hub = &hub_delivery;
    request->hub_data = d;
    return request;
}
