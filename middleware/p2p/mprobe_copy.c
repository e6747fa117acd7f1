/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Matched probes in SMPI, which has none: once a message is found, its bytes are received under its own
 * source and tag, so that no other receive can get it, and kept until the application asks for them.
 */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "middleware/comm/routing.h"
#include "middleware/p2p/mprobe.h"
#include "middleware/p2p/request.h"

/* The bytes of a message, and where they go. */
struct copy {
    struct pf_instance *in;
    const char *bytes;
    int size;
    int element; /* bytes of an item in the implementation */
    void *buffer;
    pf_native_datatype_t type;
    pf_native_comm_t comm;
};

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
    struct pf_message *message = pf_calloc(1, sizeof *message);
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
    message->bytes = pf_malloc((size_t)message->size + 1);
    return in->fn->Irecv(message->bytes, message->size, pf_native(in, MPI_BYTE), message->source,
                         message->tag, pf_native(in, pf_comm_handle(message->comm)), &message->receiving);
}

static int unpack(const struct copy *c, const void *bytes, int items, void *to)
{
    int position = 0;
    return c->in->fn->Unpack(bytes, items * c->element, &position, pf_native_p2p_buffer(c->in, to), items,
                             c->type, c->comm);
}

/* The message ends inside an item: what the item holds already completes it, and it is unpacked as a whole.
 */
static int unpack_rest(const struct copy *c, int whole, void *to)
{
    int rest = c->size - whole * c->element, position = 0;
    char *item = pf_malloc((size_t)c->element);
    int code =
        c->in->fn->Pack(pf_native_p2p_buffer(c->in, to), 1, c->type, item, c->element, &position, c->comm);
    memcpy(item, c->bytes + whole * c->element, (size_t)rest);
    if (code == MPI_SUCCESS)
        code = unpack(c, item, 1, to);
    free(item);
    return code;
}

static int unpack_all(const struct copy *c, MPI_Aint extent)
{
    int whole = c->size / c->element, code = unpack(c, c->bytes, whole, c->buffer);
    if (code == MPI_SUCCESS && whole * c->element < c->size)
        code = unpack_rest(c, whole, (char *)c->buffer + whole * extent);
    return code;
}

/* The bytes are there. `element`: bytes of an item in the implementation. Returns the middleware's error
 * class. */
static int copy_out(struct pf_instance *in, const struct pf_message *message, void *buffer, int count,
                    MPI_Datatype datatype, MPI_Count element)
{
    MPI_Count room = count * element;
    int size = message->size < room ? message->size : (int)room, code = MPI_SUCCESS;
    struct pf_bounds bounds;
    if (size > 0) {
        pf_datatype_bounds(datatype, &bounds);
        struct copy copy = {in,
                            message->bytes,
                            size,
                            (int)element,
                            buffer,
                            pf_native(in, datatype),
                            pf_native(in, pf_comm_handle(message->comm))};
        if (bounds.dense)
            memcpy(buffer, message->bytes, (size_t)size);
        else
            code = unpack_all(&copy, bounds.ub - bounds.lb);
    }
    if (code != MPI_SUCCESS)
        return in->ops->error_class(in, code);
    return message->size > room ? MPI_ERR_TRUNCATE : MPI_SUCCESS;
}

int pf_message_deliver(struct pf_rank *r, struct pf_message *message, void *buffer, int count,
                       MPI_Datatype datatype, MPI_Status *status)
{
    struct pf_instance *in = message->owner;
    union pf_native_status native = {0};
    int error = MPI_SUCCESS;
    MPI_Count element = pf_datatype_bytes(r, datatype, in->impl);
    pf_call_native_begin(r, in);
    int code = in->fn->Wait(&message->receiving, &native);
    if (code != MPI_SUCCESS)
        error = in->ops->error_class(in, code);
    else
        error = copy_out(in, message, buffer, count, datatype, element);
    if (status)
        pf_status_from_native(in, &native, status);
    pf_call_native_end(r, in);
    return error;
}

static bool delivery_ready(struct pf_request *request)
{
    const struct delivery *d = request->own_data;
    struct pf_instance *in = request->owner;
    return d->message->receiving == in->values->request_null ||
           in->ops->request_done(in, d->message->receiving);
}

static bool delivery_wait(struct pf_request *request)
{
    struct delivery *d = request->own_data;
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
    return MPI_SUCCESS;
}

static void delivery_release(struct pf_request *request)
{
    struct delivery *d = request->own_data;
    pf_datatype_release(d->datatype);
    free(d);
}

static const struct pf_request_own own_delivery = {
    .size = sizeof own_delivery,
    .ready = delivery_ready,
    .finish = delivery_finish,
    .test = pf_request_own_test,
    .wait = delivery_wait,
    .abandon = delivery_abandon,
    .cancel = delivery_cancel,
    .release = delivery_release,
};

struct pf_request *pf_message_deliver_later(struct pf_rank *r, struct pf_message *message, void *buffer,
                                            int count, MPI_Datatype datatype)
{
    struct pf_request *request =
        pf_request_new(r, message->owner, PF_REQUEST_OWN, pf_comm_handle(message->comm));
    struct delivery *d = pf_malloc(sizeof *d);
    *d = (struct delivery){message, buffer, count, datatype};
    pf_datatype_retain(datatype);
    request->own = &own_delivery;
    request->own_data = d;
    return request;
}
