/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What reading and writing files costs a rank (PARFOCAL_FILE_POSIX): the bytes that a call of its own has
 * moved. Those of a stream move when its buffer is full or empty, as the position of its descriptor shows.
 */
#include "middleware/process/libc.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include "base/config.h"
#include "lowlevel/storage/storage.h"
#include "middleware/agree/route.h"
#include "middleware/compute/compute.h"
#include "middleware/process/libc_process.h"

/* Not what the launcher was given as input and output, which may be files. */
static bool charges(int descriptor)
{
    return descriptor >= PF_STREAMS && pf_config.file_posix && pf_storage_on() && pf_libc_simulated();
}

static void charge(int descriptor, size_t bytes, bool writes)
{
    int error = errno;
    struct pf_rank *r = pf_libc_enter();
    if (r) {
        pf_compute_charge(r);
        pf_call_settle(r);
    }
    pf_storage_access(descriptor, bytes, writes);
    pf_libc_leave(r);
    errno = error;
}

/* From libc_around.c: the descriptor is the real one. */
ssize_t pf_file_read(int descriptor, ssize_t bytes);
ssize_t pf_file_written(int descriptor, ssize_t bytes);

ssize_t pf_file_read(int descriptor, ssize_t bytes)
{
    if (bytes > 0 && charges(descriptor))
        charge(descriptor, (size_t)bytes, false);
    return bytes;
}

ssize_t pf_file_written(int descriptor, ssize_t bytes)
{
    if (bytes > 0 && charges(descriptor))
        charge(descriptor, (size_t)bytes, true);
    return bytes;
}

off_t pf_stream_position(FILE *stream)
{
    int error = errno;
    off_t position = stream && charges(stream->_fileno) ? lseek(stream->_fileno, 0, SEEK_CUR) : -1;
    errno = error;
    return position;
}

void pf_stream_moved(FILE *stream, off_t before, bool writes)
{
    off_t now = before >= 0 ? pf_stream_position(stream) : -1;
    if (now > before)
        charge(stream->_fileno, (size_t)(now - before), writes);
}

/* A function of a stream. */
#define STREAM(type, name, parameters, writes, call)                                                         \
    type pf_libc_##name parameters                                                                           \
    {                                                                                                        \
        off_t before = pf_stream_position(stream);                                                           \
        type result = call;                                                                                  \
        pf_stream_moved(stream, before, writes);                                                             \
        return result;                                                                                       \
    }
/* With a format and arguments. */
#define FORMATTED(name, parameters, call)                                                                    \
    int pf_libc_##name parameters                                                                            \
    {                                                                                                        \
        va_list arguments;                                                                                   \
        off_t before = pf_stream_position(stream);                                                           \
        va_start(arguments, format);                                                                         \
        int result = call;                                                                                   \
        va_end(arguments);                                                                                   \
        pf_stream_moved(stream, before, true);                                                               \
        return result;                                                                                       \
    }

int __vfprintf_chk(FILE *stream, int flag, const char *format, va_list arguments);
size_t __fread_chk(void *data, size_t room, size_t size, size_t count, FILE *stream);
char *__fgets_chk(char *text, size_t room, int size, FILE *stream);

STREAM(size_t, fwrite, (const void *data, size_t size, size_t count, FILE *stream), true,
       fwrite(data, size, count, stream))
STREAM(int, fputs, (const char *text, FILE *stream), true, fputs(text, stream))
STREAM(int, vfprintf, (FILE * stream, const char *format, va_list arguments), true,
       vfprintf(stream, format, arguments))
STREAM(int, __vfprintf_chk, (FILE * stream, int flag, const char *format, va_list arguments), true,
       __vfprintf_chk(stream, flag, format, arguments))
FORMATTED(fprintf, (FILE * stream, const char *format, ...), vfprintf(stream, format, arguments))
FORMATTED(__fprintf_chk, (FILE * stream, int flag, const char *format, ...),
          __vfprintf_chk(stream, flag, format, arguments))
STREAM(int, fflush, (FILE * stream), true, fflush(stream))
STREAM(size_t, fread, (void *data, size_t size, size_t count, FILE *stream), false,
       fread(data, size, count, stream))
STREAM(size_t, __fread_chk, (void *data, size_t room, size_t size, size_t count, FILE *stream), false,
       __fread_chk(data, room, size, count, stream))
STREAM(char *, fgets, (char *text, int size, FILE *stream), false, fgets(text, size, stream))
STREAM(char *, __fgets_chk, (char *text, size_t room, int size, FILE *stream), false,
       __fgets_chk(text, room, size, stream))
