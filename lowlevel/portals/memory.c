/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads and writes the memory that a descriptor or an entry names, contiguous or by I/O vector. */
#include <string.h>

#include "lowlevel/portals/internal.h"

ptl_size_t ptl_memory_length(const struct ptl_memory *memory)
{
    if (!memory->iovec)
        return memory->length;
    const ptl_iovec_t *element = memory->start;
    ptl_size_t length = 0;
    for (ptl_size_t i = 0; i < memory->length; i++)
        length += element[i].iov_len;
    return length;
}

/* The contiguous piece at `offset`: its address, and its length in *length. */
static char *piece(const struct ptl_memory *memory, ptl_size_t offset, ptl_size_t *length)
{
    if (!memory->iovec) {
        *length = memory->length - offset;
        return (char *)memory->start + offset;
    }
    const ptl_iovec_t *element = memory->start;
    for (ptl_size_t i = 0; i < memory->length; i++) {
        if (offset < element[i].iov_len) {
            *length = element[i].iov_len - offset;
            return (char *)element[i].iov_base + offset;
        }
        offset -= element[i].iov_len;
    }
    *length = 0;
    return NULL;
}

void *ptl_memory_address(const struct ptl_memory *memory, ptl_size_t offset)
{
    ptl_size_t length;
    return piece(memory, offset, &length);
}

/*
 * The latest store of a stream, not carried out yet. While no actor runs memory is not read, so a store whose
 * successor covers it need not happen: a process that puts the same large buffer again and again costs one
 * copy each time that an actor runs.
 */
static struct {
    char *to;
    const char *from;
    ptl_size_t length; /* 0: none */
} late;

/* Carries out what ptl_memory_store() has left. Before any other access of the NIC to memory. */
static void settle(void)
{
    if (late.length > 0)
        memmove(late.to, late.from, late.length);
    late.length = 0;
}

static bool apart(const char *a, ptl_size_t a_length, const char *b, ptl_size_t b_length)
{
    return a + a_length <= b || b + b_length <= a;
}

static bool covers_late(const char *to, const char *from, ptl_size_t length)
{
    return to <= late.to && late.to + late.length <= to + length && apart(late.to, late.length, from, length);
}

void ptl_memory_store(const struct ptl_memory *dst, ptl_size_t dst_offset, const struct ptl_memory *src,
                      ptl_size_t src_offset, ptl_size_t length)
{
    enum { WORTH_IT = 4096 };
    if (!pf_config.payload_copy)
        return;
    if (dst->iovec || src->iovec || length < WORTH_IT) {
        ptl_memory_copy(dst, dst_offset, src, src_offset, length);
        return;
    }
    char *to = (char *)dst->start + dst_offset;
    const char *from = (const char *)src->start + src_offset;
    if (!covers_late(to, from, length))
        settle();
    if (late.length == 0)
        pf_engine_set_return_hook(settle);
    late.to = to;
    late.from = from;
    late.length = length;
}

/* Leaves out the elements of a vector that lie before `offset`: the next search begins where this one ended.
 */
static void go_on(struct ptl_memory *memory, ptl_size_t *offset)
{
    const ptl_iovec_t *element = memory->start;
    if (!memory->iovec)
        return;
    for (; memory->length > 0 && *offset >= element->iov_len; element++) {
        *offset -= element->iov_len;
        memory->length--;
    }
    memory->start = (void *)(uintptr_t)element;
}

void ptl_memory_copy(const struct ptl_memory *dst, ptl_size_t dst_offset, const struct ptl_memory *src,
                     ptl_size_t src_offset, ptl_size_t length)
{
    if (!pf_config.payload_copy)
        return;
    settle();
    bool plain = !dst->iovec && !src->iovec;
    if (plain && length > 0 && length <= dst->length - dst_offset && length <= src->length - src_offset) {
        memmove((char *)dst->start + dst_offset, (const char *)src->start + src_offset, length);
        return;
    }
    struct ptl_memory target = *dst, source = *src;
    while (length > 0) {
        ptl_size_t to_length, from_length;
        go_on(&target, &dst_offset);
        go_on(&source, &src_offset);
        char *to = piece(&target, dst_offset, &to_length);
        const char *from = piece(&source, src_offset, &from_length);
        ptl_size_t part = to_length < from_length ? to_length : from_length;
        if (part > length)
            part = length;
        if (part == 0)
            return;
        memmove(to, from, part);
        dst_offset += part;
        src_offset += part;
        length -= part;
    }
}
