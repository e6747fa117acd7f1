/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests: in memory of the context, with a part of the caller's behind each, or in memory of the caller. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "lowlevel/ucx/internal.h"

/* Requests that were made together. */
struct ucx_chunk {
    struct ucx_chunk *next;
    _Alignas(16) char requests[];
};

enum { CHUNK_REQUESTS = 16 };

static size_t stride(const struct ucp_context *context)
{
    return sizeof(struct ucp_request) + ((context->user_size + 15) & ~(size_t)15);
}

static struct ucp_request *of_chunk(const struct ucp_context *context, struct ucx_chunk *chunk, int i)
{
    return (struct ucp_request *)(void *)(chunk->requests + (size_t)i * stride(context));
}

static void refill(struct ucp_context *context)
{
    struct ucx_chunk *chunk = pf_calloc(1, sizeof *chunk + CHUNK_REQUESTS * stride(context));
    chunk->next = context->chunks;
    context->chunks = chunk;
    for (int i = CHUNK_REQUESTS - 1; i >= 0; i--) {
        struct ucp_request *request = of_chunk(context, chunk, i);
        if (context->init)
            context->init(ucx_request_user(request));
        request->next = context->spare;
        context->spare = request;
    }
}

ucs_status_t ucx_init(enum pf_ucx_user user, unsigned major, const ucp_params_t *params,
                      ucp_context_h *result)
{
    static const uint64_t features[PF_UCX_USERS] = {
        [PF_UCX_OPENMPI] = UCP_FEATURE_TAG | UCP_FEATURE_RMA | UCP_FEATURE_AMO32 | UCP_FEATURE_AMO64,
        [PF_UCX_MPICH] = UCP_FEATURE_TAG | UCP_FEATURE_RMA | UCP_FEATURE_AM, /* asked for in any case */
    };
    pf_self_t *self = pf_self();
    if (major != UCP_API_MAJOR || !self) /* of a later minor version, what is not here has bits in masks */
        return UCS_ERR_INVALID_PARAM;
    if ((params->field_mask & UCP_PARAM_FIELD_FEATURES) && params->features & ~features[user])
        return UCS_ERR_UNSUPPORTED;
    pf_ucx_settings();
    struct ucp_context *context = pf_calloc(1, sizeof *context);
    context->process = ucx_process_of(self, user);
    if ((params->field_mask & UCP_PARAM_FIELD_FEATURES) && params->features & UCP_FEATURE_AMO64)
        context->process->looks_at_memory = true;
    if (params->field_mask & UCP_PARAM_FIELD_REQUEST_SIZE)
        context->user_size = params->request_size;
    if (params->field_mask & UCP_PARAM_FIELD_REQUEST_INIT)
        context->init = params->request_init;
    if (params->field_mask & UCP_PARAM_FIELD_REQUEST_CLEANUP)
        context->cleanup = params->request_cleanup;
    *result = context;
    return UCS_OK;
}

ucs_status_t ucp_init_version(unsigned major, unsigned minor, const ucp_params_t *params,
                              const ucp_config_t *config, ucp_context_h *result)
{
    return ucx_init(PF_UCX_OPENMPI, major, params, result);
}

void ucp_cleanup(ucp_context_h context)
{
    while (context->chunks) {
        struct ucx_chunk *chunk = context->chunks;
        context->chunks = chunk->next;
        for (int i = 0; context->cleanup && i < CHUNK_REQUESTS; i++)
            context->cleanup(ucx_request_user(of_chunk(context, chunk, i)));
        free(chunk);
    }
    free(context);
}

ucs_status_t ucp_context_query(ucp_context_h context, ucp_context_attr_t *attr)
{
    if (attr->field_mask & UCP_ATTR_FIELD_REQUEST_SIZE)
        attr->request_size = sizeof(struct ucp_request);
    if (attr->field_mask & UCP_ATTR_FIELD_THREAD_MODE)
        attr->thread_mode = UCS_THREAD_MODE_SINGLE;
    if (attr->field_mask & UCP_ATTR_FIELD_MEMORY_TYPES)
        attr->memory_types = UCS_MEMORY_TYPES_HOST;
    return UCS_OK;
}

struct ucp_request *ucx_request_new(struct ucp_worker *worker, const ucp_request_param_t *param)
{
    struct ucp_context *context = NULL;
    struct ucp_request *request;
    if (param->op_attr_mask & UCP_OP_ATTR_FIELD_REQUEST) {
        request = (struct ucp_request *)param->request - 1;
    } else {
        context = worker->context;
        if (!context->spare)
            refill(context);
        request = context->spare;
        context->spare = request->next;
    }
    memset(request, 0, sizeof *request);
    request->context = context;
    request->worker = worker;
    request->status = UCS_INPROGRESS;
    request->calls_back = param->op_attr_mask & UCP_OP_ATTR_FIELD_CALLBACK;
    if (request->calls_back)
        request->cb.send = param->cb.send;
    if (param->op_attr_mask & UCP_OP_ATTR_FIELD_USER_DATA)
        request->user_data = param->user_data;
    return request;
}

static void put_back(struct ucp_request *request)
{
    if (!request->context)
        return;
    request->next = request->context->spare;
    request->context->spare = request;
}

/* Callbacks of the older calls take one argument less. */
void ucx_request_complete(struct ucp_request *request, ucs_status_t status)
{
    void *user = ucx_request_user(request);
    bool released = request->released; /* a callback may release it, and get it again */
    ucx_data_end(&request->data);
    request->status = status;
    request->complete = true;
    if (request->calls_back && request->receives)
        request->cb.recv(user, status, &request->info, request->user_data);
    else if (request->calls_back)
        request->cb.send(user, status, request->user_data);
    if (released)
        put_back(request);
}

static struct ucp_request *of_user(void *user)
{
    return (struct ucp_request *)user - 1;
}

ucs_status_t ucp_request_check_status(void *user)
{
    return of_user(user)->status;
}

int ucp_request_is_completed(void *user)
{
    return of_user(user)->status != UCS_INPROGRESS;
}

ucs_status_t ucp_request_test(void *user, ucp_tag_recv_info_t *info)
{
    const struct ucp_request *request = of_user(user);
    if (request->complete && request->receives)
        *info = request->info;
    return request->status;
}

/* The caller has no use for it any more, but hears of its end. */
void ucp_request_release(void *user)
{
    struct ucp_request *request = of_user(user);
    if (request->complete)
        put_back(request);
    else
        request->released = true;
}

/* It does not want to hear of it either. */
void ucp_request_free(void *user)
{
    of_user(user)->calls_back = false;
    ucp_request_release(user);
}

/* As in UCX: a receive that has not met its message; a send goes on. */
void ucp_request_cancel(ucp_worker_h worker, void *user)
{
    struct ucp_request *request = of_user(user);
    if (!request->waits)
        return;
    request->waits = false;
    ptl_match_remove(&worker->expected, &request->match);
    ucx_request_complete(request, UCS_ERR_CANCELED);
}
