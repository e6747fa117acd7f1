/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The ranks on the other side of an intercommunicator, as MPI_Intercomm_create sends them: libpmix packs only
 * where it was initialised. Its buffers (pmix_data_buffer_t) are filled with the bytes of the values, of the
 * three types that Open MPI packs. All ranks have this process's order of bytes.
 */
#include "ompi_config.h"

#include <stdlib.h>
#include <string.h>

#include <pmix.h>

#include "adapters/openmpi/glue/internal.h"

static size_t size_of(pmix_data_type_t type)
{
    return type == PMIX_PROC ? sizeof(pmix_proc_t) : type == PMIX_UINT32 ? sizeof(uint32_t) : 0;
}

static bool append(pmix_data_buffer_t *buffer, const void *data, size_t size)
{
    if (buffer->bytes_used + size > buffer->bytes_allocated) {
        size_t taken = buffer->unpack_ptr ? (size_t)(buffer->unpack_ptr - buffer->base_ptr) : 0;
        size_t room = 2 * (buffer->bytes_used + size);
        char *larger = realloc(buffer->base_ptr, room);
        if (!larger)
            return false;
        buffer->base_ptr = larger;
        buffer->bytes_allocated = room;
        buffer->unpack_ptr = larger + taken;
    }
    memcpy(buffer->base_ptr + buffer->bytes_used, data, size);
    buffer->bytes_used += size;
    buffer->pack_ptr = buffer->base_ptr + buffer->bytes_used;
    return true;
}

static bool take(pmix_data_buffer_t *buffer, void *data, size_t size)
{
    if ((size_t)(buffer->unpack_ptr - buffer->base_ptr) + size > buffer->bytes_used)
        return false;
    memcpy(data, buffer->unpack_ptr, size);
    buffer->unpack_ptr += size;
    return true;
}

PF_GLUE_EXPORT pmix_status_t PMIx_Data_pack(const pmix_proc_t *target, pmix_data_buffer_t *buffer, void *from,
                                            int32_t count, pmix_data_type_t type)
{
    if (type != PMIX_STRING && !size_of(type))
        return PMIX_ERR_NOT_SUPPORTED;
    for (int32_t i = 0; i < count; i++) {
        const char *text = type == PMIX_STRING ? ((char **)from)[i] : NULL;
        uint32_t length = text ? (uint32_t)strlen(text) + 1 : 0;
        bool good = type == PMIX_STRING
                        ? append(buffer, &length, sizeof length) && append(buffer, text ? text : "", length)
                        : append(buffer, (const char *)from + (size_t)i * size_of(type), size_of(type));
        if (!good)
            return PMIX_ERR_NOMEM;
    }
    return PMIX_SUCCESS;
}

static bool take_text(pmix_data_buffer_t *buffer, char **text)
{
    uint32_t length;
    *text = NULL;
    if (!take(buffer, &length, sizeof length))
        return false;
    if (!length)
        return true;
    *text = malloc(length);
    return *text && take(buffer, *text, length);
}

PF_GLUE_EXPORT pmix_status_t PMIx_Data_unpack(const pmix_proc_t *source, pmix_data_buffer_t *buffer, void *to,
                                              int32_t *count, pmix_data_type_t type)
{
    if (type != PMIX_STRING && !size_of(type))
        return PMIX_ERR_NOT_SUPPORTED;
    for (int32_t i = 0; i < *count; i++) {
        bool good = type == PMIX_STRING ? take_text(buffer, (char **)to + i)
                                        : take(buffer, (char *)to + (size_t)i * size_of(type), size_of(type));
        if (!good)
            return PMIX_ERR_UNPACK_READ_PAST_END_OF_BUFFER;
    }
    return PMIX_SUCCESS;
}
