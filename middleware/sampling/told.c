/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes and reads what copies tell. */
#include "middleware/sampling/told.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"

/* Before the dates, or the text with its end; then zeros up to a multiple of 8. */
struct head {
    uint32_t window;
    uint8_t ended, failed, unused[2];
    uint64_t size;
    double cost;
};

static size_t padded(size_t size)
{
    return (size + 7) & ~(size_t)7;
}

static bool put(int fd, const void *what, size_t size)
{
    const char *rest = what;
    while (size > 0) {
        ssize_t done = write(fd, rest, size);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return false;
        rest += done;
        size -= (size_t)done;
    }
    return true;
}

bool pf_told_write(int fd, const struct pf_told *told)
{
    static const char zeros[8];
    const void *what = told->failure ? (const void *)told->failure : told->dates;
    struct head head = {.window = told->window, .ended = told->ended, .cost = told->cost};
    head.failed = told->failure != NULL;
    head.size = told->failure ? strlen(told->failure) + 1 : told->count * sizeof *told->dates;
    return put(fd, &head, sizeof head) && put(fd, what, head.size) &&
           put(fd, zeros, padded(head.size) - head.size);
}

bool pf_told_read(struct pf_told_buffer *buffer, int fd)
{
    if (buffer->room - buffer->used < 4096) {
        buffer->room = 2 * buffer->room + 8192;
        buffer->bytes = pf_realloc(buffer->bytes, buffer->room);
    }
    ssize_t got = read(fd, buffer->bytes + buffer->used, buffer->room - buffer->used);
    if (got > 0)
        buffer->used += (size_t)got;
    return got > 0 || (got < 0 && errno == EINTR);
}

bool pf_told_next(struct pf_told_buffer *buffer, struct pf_told *told)
{
    struct head head;
    const char *from = buffer->bytes + buffer->taken;
    size_t left = buffer->used - buffer->taken;
    if (left < sizeof head)
        return false;
    memcpy(&head, from, sizeof head);
    if (left - sizeof head < padded(head.size))
        return false;
    const void *what = from + sizeof head;
    *told = (struct pf_told){.window = head.window, .ended = head.ended, .cost = head.cost};
    if (head.failed) {
        told->failure = what;
    } else {
        told->dates = what;
        told->count = head.size / sizeof *told->dates;
    }
    buffer->taken += sizeof head + padded(head.size);
    return true;
}

void pf_told_free(struct pf_told_buffer *buffer)
{
    free(buffer->bytes);
    *buffer = (struct pf_told_buffer){0};
}
