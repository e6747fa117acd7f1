/* SPDX-License-Identifier: BSD-3-Clause */
/* The file of a trace. */
#include "lowlevel/trace/output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/memory.h"
#include "base/output_file.h"

void pf_trace_output_open(struct pf_trace_output *output, const char *path)
{
    pf_output_check(path);
    output->path = pf_strdup(path);
    output->made = true;
    output->fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (output->fd < 0 && errno == EEXIST) {
        output->made = false;
        output->fd = open(path, O_WRONLY | O_CLOEXEC);
    }
    if (output->fd < 0 || !output->path)
        pf_die("trace: cannot write the file '%s': %s (name one in a directory that exists and can be "
               "written)",
               path, strerror(errno));
}

void pf_trace_write_out(struct pf_trace_output *output)
{
    size_t done = 0;
    if (!output->begun && ftruncate(output->fd, 0) != 0 && errno != EINVAL)
        output->broken = true; /* EINVAL: a pipe or a terminal */
    output->begun = true;
    while (done < output->used && !output->broken) {
        ssize_t written = write(output->fd, output->buffer + done, output->used - done);
        if (written > 0)
            done += (size_t)written;
        else if (written < 0 && errno != EINTR)
            output->broken = true;
    }
    output->used = 0;
    if (output->broken)
        pf_die("trace: cannot write the file '%s': %s", output->path, strerror(errno));
}

void pf_trace_print(struct pf_trace_output *output, const char *format, ...)
{
    if (output->broken)
        return;
    for (int attempt = 0; attempt < 2; attempt++) {
        size_t room = sizeof output->buffer - output->used;
        va_list args;
        va_start(args, format);
        int length = vsnprintf(output->buffer + output->used, room, format, args);
        va_end(args);
        if (length >= 0 && (size_t)length < room) {
            output->used += (size_t)length;
            return;
        }
        pf_trace_write_out(output);
    }
}

void pf_trace_put_long(struct pf_trace_output *output, const char *text, size_t length)
{
    while (length > 0 && !output->broken) {
        size_t room = sizeof output->buffer - output->used, part = length < room ? length : room;
        memcpy(output->buffer + output->used, text, part);
        output->used += part;
        text += part;
        length -= part;
        if (length > 0)
            pf_trace_write_out(output);
    }
}

void pf_trace_output_close(struct pf_trace_output *output)
{
    if (output->fd < 0)
        return;
    if (output->used > 0 && !output->broken)
        pf_trace_write_out(output);
    close(output->fd);
    output->fd = -1;
    if (output->made && !output->begun)
        unlink(output->path);
}
