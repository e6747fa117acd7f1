/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "lowlevel/trace/format.h"

/*
 * A file that receives a trace. What stood in it before is given up with the first byte that is written, and
 * a file that was made for a run without a trace is removed. The buffer is our own, so that the handler of a
 * signal can close the file.
 */
struct pf_trace_output {
    char *path;
    int fd;
    bool made;  /* by us */
    bool begun; /* something has been written */
    bool broken;
    int places; /* behind the point, of numbers that are put */
    size_t used;
    char buffer[1 << 15];
};

/* Opens the file for writing; a failure ends the process with one line. */
void pf_trace_output_open(struct pf_trace_output *output, const char *path);
void pf_trace_print(struct pf_trace_output *output, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Writes what is left. A file that nothing was written to is removed if it was made for this run. */
void pf_trace_output_close(struct pf_trace_output *output);

/* What is written with every record, without formats. */
void pf_trace_write_out(struct pf_trace_output *output);
void pf_trace_put_long(struct pf_trace_output *output, const char *text, size_t length);

/* Inline, so that the length of a constant text is one, too. */
static inline __attribute__((always_inline)) void pf_trace_put_text(struct pf_trace_output *output,
                                                                    const char *text)
{
    size_t length = strlen(text);
    if (__builtin_expect(length > sizeof output->buffer - output->used, 0)) {
        pf_trace_put_long(output, text, length);
        return;
    }
    memcpy(output->buffer + output->used, text, length);
    output->used += length;
}

static inline void pf_trace_put_char(struct pf_trace_output *output, char character)
{
    if (__builtin_expect(output->used == sizeof output->buffer, 0))
        pf_trace_write_out(output);
    output->buffer[output->used++] = character;
}

static inline char *pf_trace_number_room(struct pf_trace_output *output)
{
    if (__builtin_expect(sizeof output->buffer - output->used < PF_TRACE_NUMBER_ROOM, 0))
        pf_trace_write_out(output);
    return output->buffer + output->used;
}

static inline void pf_trace_put_unsigned(struct pf_trace_output *output, uint64_t number)
{
    char *to = pf_trace_number_room(output);
    output->used = (size_t)(pf_trace_put_whole(to, number) - output->buffer);
}

static inline void pf_trace_put_int(struct pf_trace_output *output, int number)
{
    if (number < 0)
        pf_trace_put_text(output, "-");
    pf_trace_put_unsigned(output, number < 0 ? -(uint64_t)number : (uint64_t)number);
}

static inline void pf_trace_put_double(struct pf_trace_output *output, double number)
{
    char *to = pf_trace_number_room(output);
    output->used = (size_t)(pf_trace_put_fixed(to, number, output->places) - output->buffer);
}

/* pf_trace_put(output, ...): up to 16 texts and numbers, one behind the other. */
#define PF_TRACE_PUT(output, x)                                                                              \
    _Generic((x), char *                                                                                     \
             : pf_trace_put_text, const char *                                                               \
             : pf_trace_put_text, int                                                                        \
             : pf_trace_put_int, uint64_t                                                                    \
             : pf_trace_put_unsigned, double                                                                 \
             : pf_trace_put_double)(output, x)
#define PF_TRACE_PUT_2(o, a, b)                   PF_TRACE_PUT(o, a), PF_TRACE_PUT(o, b)
#define PF_TRACE_PUT_4(o, a, b, c, d)             PF_TRACE_PUT_2(o, a, b), PF_TRACE_PUT_2(o, c, d)
#define PF_TRACE_PUT_8(o, a, b, c, d, e, f, g, h) PF_TRACE_PUT_4(o, a, b, c, d), PF_TRACE_PUT_4(o, e, f, g, h)
#define PF_TRACE_PUT_16(o, a, b, c, d, e, f, g, h, i, j, k, l, m, n, p, q, ...)                              \
    PF_TRACE_PUT_8(o, a, b, c, d, e, f, g, h), PF_TRACE_PUT_8(o, i, j, k, l, m, n, p, q)
#define pf_trace_put(o, ...)                                                                                 \
    (PF_TRACE_PUT_16(o, __VA_ARGS__, "", "", "", "", "", "", "", "", "", "", "", "", "", "", ""))
