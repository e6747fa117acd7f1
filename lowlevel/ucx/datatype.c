/* SPDX-License-Identifier: BSD-3-Clause */
/* Datatypes: elements in a row, several parts, and those that the caller packs and unpacks itself. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "lowlevel/ucx/internal.h"

struct generic {
    ucp_generic_dt_ops_t ops;
    void *context;
};

static const struct generic *generic_of(const struct ucx_data *data)
{
    return (const struct generic *)(uintptr_t)(data->datatype & ~(ucp_datatype_t)UCP_DATATYPE_CLASSES);
}

ucs_status_t ucp_dt_create_generic(const ucp_generic_dt_ops_t *ops, void *context, ucp_datatype_t *datatype)
{
    struct generic *generic = pf_malloc(sizeof *generic); /* at a multiple of 16 */
    *generic = (struct generic){*ops, context};
    *datatype = (ucp_datatype_t)(uintptr_t)generic | UCP_DATATYPE_GENERIC;
    return UCS_OK;
}

void ucp_dt_destroy(ucp_datatype_t datatype)
{
    if ((datatype & UCP_DATATYPE_CLASSES) == UCP_DATATYPE_GENERIC)
        free((void *)(uintptr_t)(datatype & ~(ucp_datatype_t)UCP_DATATYPE_CLASSES));
}

bool ucx_data_is_contiguous(const struct ucx_data *data)
{
    return (data->datatype & UCP_DATATYPE_CLASSES) == UCP_DATATYPE_CONTIG;
}

struct ucx_data ucx_data_begin(const void *buffer, size_t count, const ucp_request_param_t *param,
                               bool receives)
{
    bool given = param->op_attr_mask & UCP_OP_ATTR_FIELD_DATATYPE;
    struct ucx_data data = {(void *)(uintptr_t)buffer, count,
                            given ? param->datatype : (ucp_datatype_t)1 << UCP_DATATYPE_SHIFT, NULL};
    if ((data.datatype & UCP_DATATYPE_CLASSES) != UCP_DATATYPE_GENERIC)
        return data;
    const struct generic *generic = generic_of(&data);
    data.state = receives ? generic->ops.start_unpack(generic->context, data.buffer, count)
                          : generic->ops.start_pack(generic->context, buffer, count);
    return data;
}

void ucx_data_end(struct ucx_data *data)
{
    if (data->state)
        generic_of(data)->ops.finish(data->state);
    data->state = NULL;
}

/* Copies the parts, unless there is no place for them; their length. */
static size_t pack_parts(const struct ucx_data *data, char *bytes)
{
    const ucp_dt_iov_t *parts = data->buffer;
    size_t length = 0;
    for (size_t i = 0; i < data->count; length += parts[i++].length)
        if (bytes && parts[i].length > 0)
            memcpy(bytes + length, parts[i].buffer, parts[i].length);
    return length;
}

static bool has_parts(const struct ucx_data *data)
{
    return (data->datatype & UCP_DATATYPE_CLASSES) == UCP_DATATYPE_IOV;
}

size_t ucx_data_length(const struct ucx_data *data)
{
    if (has_parts(data))
        return pack_parts(data, NULL);
    return data->state ? generic_of(data)->ops.packed_size(data->state)
                       : data->count * (size_t)(data->datatype >> UCP_DATATYPE_SHIFT);
}

void ucx_data_pack(const struct ucx_data *data, void *bytes, size_t length)
{
    if (has_parts(data))
        pack_parts(data, bytes);
    else if (!data->state && length > 0)
        memcpy(bytes, data->buffer, length);
    for (size_t done = 0, part = 1; data->state && done < length && part > 0; done += part)
        part = generic_of(data)->ops.pack(data->state, done, (char *)bytes + done, length - done);
}

ucs_status_t ucx_data_unpack(const struct ucx_data *data, const void *bytes, size_t length)
{
    size_t room = ucx_data_length(data), part = length < room ? length : room;
    ucs_status_t status = UCS_OK;
    if (part > 0 && data->state)
        status = generic_of(data)->ops.unpack(data->state, 0, bytes, part);
    else if (part > 0)
        memcpy(data->buffer, bytes, part);
    return length > room ? UCS_ERR_MESSAGE_TRUNCATED : status;
}
