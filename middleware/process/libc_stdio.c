/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * stdin, stdout and stderr of each rank: objects and variables of its own, so that a rank may close them,
 * lead them into a file or give them a buffer without a change for others. As under mpirun, stdout passes on
 * each line as soon as it is complete, and only rank 0 has an input.
 */
#include "middleware/process/libc.h"

#include <errno.h>
#include <err.h>
#include <error.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "base/log.h"
#include "middleware/process/libc_process.h"

FILE *pf_process_own(struct pf_process *p, int number)
{
    if (p->own[number])
        return p->own[number];
    FILE *file = fdopen(number, number == 0 ? "r" : "w");
    if (!file && number == 0) /* closed before the simulator began */
        file = fopen("/dev/null", "r");
    else if (!file)
        file = fopen("/dev/null", "w");
    if (!file)
        pf_die("cannot give rank %d a stream of its own: %s", p->rank, strerror(errno));
    if (number == 0 && p->behind[0] != 0)
        file->_fileno = p->behind[0];
    if (number > 0)
        setvbuf(file, NULL, number == 1 ? _IOLBF : _IONBF, 0);
    p->own[number] = file;
    if (!p->stream[number])
        p->stream[number] = file;
    return file;
}

FILE *pf_process_stream(int number)
{
    struct pf_process *p = pf_process();
    if (!p)
        return number == 0 ? stdin : number == 1 ? stdout : stderr;
    if (p->copied[number])
        return *p->copied[number];
    return p->stream[number] ? p->stream[number] : pf_process_own(p, number);
}

#define INPUT  pf_process_stream(0)
#define OUTPUT pf_process_stream(1)

int __vfprintf_chk(FILE *stream, int flag, const char *format, va_list arguments);
int __vfwprintf_chk(FILE *stream, int flag, const wchar_t *format, va_list arguments);
int old_vfscanf(FILE *stream, const char *format, va_list arguments) __asm__("vfscanf");
int c99_vfscanf(FILE *stream, const char *format, va_list arguments) __asm__("__isoc99_vfscanf");
int c99_vfwscanf(FILE *stream, const wchar_t *format, va_list arguments) __asm__("__isoc99_vfwscanf");
int old_vfwscanf(FILE *stream, const wchar_t *format, va_list arguments) __asm__("vfwscanf");
int c23_vfscanf(FILE *stream, const char *format, va_list arguments) __asm__("__isoc23_vfscanf")
    __attribute__((weak)); /* in newer libraries */

static int new_vfscanf(FILE *stream, const char *format, va_list arguments)
{
    return (c23_vfscanf ? c23_vfscanf : c99_vfscanf)(stream, format, arguments);
}

/* A function with arguments behind `format`; `call` is that for any stream, with a list of them. */
#define CALL(name, parameters, call)                                                                         \
    int pf_libc_##name parameters                                                                            \
    {                                                                                                        \
        va_list arguments;                                                                                   \
        va_start(arguments, format);                                                                         \
        int result = call;                                                                                   \
        va_end(arguments);                                                                                   \
        return result;                                                                                       \
    }
/* The same that gets a list. */
#define LIST(name, parameters, call)                                                                         \
    int pf_libc_##name parameters                                                                            \
    {                                                                                                        \
        return call;                                                                                         \
    }
CALL(printf, (const char *format, ...), vfprintf(OUTPUT, format, arguments))
LIST(vprintf, (const char *format, va_list arguments), vfprintf(OUTPUT, format, arguments))
CALL(__printf_chk, (int flag, const char *format, ...), __vfprintf_chk(OUTPUT, flag, format, arguments))
LIST(__vprintf_chk, (int flag, const char *format, va_list arguments),
     __vfprintf_chk(OUTPUT, flag, format, arguments))
CALL(wprintf, (const wchar_t *format, ...), vfwprintf(OUTPUT, format, arguments))
LIST(vwprintf, (const wchar_t *format, va_list arguments), vfwprintf(OUTPUT, format, arguments))
CALL(__wprintf_chk, (int flag, const wchar_t *format, ...), __vfwprintf_chk(OUTPUT, flag, format, arguments))
LIST(__vwprintf_chk, (int flag, const wchar_t *format, va_list arguments),
     __vfwprintf_chk(OUTPUT, flag, format, arguments))
CALL(scanf, (const char *format, ...), old_vfscanf(INPUT, format, arguments))
LIST(vscanf, (const char *format, va_list arguments), old_vfscanf(INPUT, format, arguments))
CALL(__isoc99_scanf, (const char *format, ...), c99_vfscanf(INPUT, format, arguments))
LIST(__isoc99_vscanf, (const char *format, va_list arguments), c99_vfscanf(INPUT, format, arguments))
CALL(__isoc23_scanf, (const char *format, ...), new_vfscanf(INPUT, format, arguments))
LIST(__isoc23_vscanf, (const char *format, va_list arguments), new_vfscanf(INPUT, format, arguments))
CALL(wscanf, (const wchar_t *format, ...), old_vfwscanf(INPUT, format, arguments))
CALL(__isoc99_wscanf, (const wchar_t *format, ...), c99_vfwscanf(INPUT, format, arguments))

int pf_libc_puts(const char *text)
{
    FILE *out = OUTPUT;
    flockfile(out);
    int result = fputs(text, out) == EOF || putc('\n', out) == EOF ? EOF : (int)strlen(text) + 1;
    funlockfile(out);
    return result;
}

#define CHARACTER(type, name, argument, call)                                                                \
    type pf_libc_##name(argument)                                                                            \
    {                                                                                                        \
        return call;                                                                                         \
    }
CHARACTER(int, putchar, int c, putc(c, OUTPUT))
CHARACTER(int, putchar_unlocked, int c, putc_unlocked(c, OUTPUT))
CHARACTER(wint_t, putwchar, wchar_t c, putwc(c, OUTPUT))
CHARACTER(int, getchar, void, getc(INPUT))
CHARACTER(int, getchar_unlocked, void, getc_unlocked(INPUT))
CHARACTER(wint_t, getwchar, void, getwc(INPUT))

/* For messages that begin with the program's name. */
static FILE *error_stream(void)
{
    pf_proc_take_name();
    return pf_process_stream(2);
}

/* Functions of the C library that write to its own stderr. */
#define WITH_STDERR(name, parameters, call)                                                                  \
    void pf_libc_##name parameters                                                                           \
    {                                                                                                        \
        FILE *usual = stderr;                                                                                \
        stderr = error_stream();                                                                             \
        call;                                                                                                \
        stderr = usual;                                                                                      \
    }
WITH_STDERR(perror, (const char *text), perror(text))
WITH_STDERR(psignal, (int signal, const char *text), psignal(signal, text))
WITH_STDERR(vwarn, (const char *format, va_list arguments), vwarn(format, arguments))
WITH_STDERR(vwarnx, (const char *format, va_list arguments), vwarnx(format, arguments))

/* warn() and err(), and those without the text of errno: `x`. */
#define WARNINGS(x)                                                                                          \
    void pf_libc_warn##x(const char *format, ...)                                                            \
    {                                                                                                        \
        va_list arguments;                                                                                   \
        va_start(arguments, format);                                                                         \
        pf_libc_vwarn##x(format, arguments);                                                                 \
        va_end(arguments);                                                                                   \
    }                                                                                                        \
    void pf_libc_verr##x(int status, const char *format, va_list arguments)                                  \
    {                                                                                                        \
        pf_libc_vwarn##x(format, arguments);                                                                 \
        pf_libc_exit(status);                                                                                \
    }                                                                                                        \
    void pf_libc_err##x(int status, const char *format, ...)                                                 \
    {                                                                                                        \
        va_list arguments;                                                                                   \
        va_start(arguments, format);                                                                         \
        pf_libc_verr##x(status, format, arguments);                                                          \
        va_end(arguments);                                                                                   \
    }
WARNINGS()
WARNINGS(x)

void pf_libc_error(int status, int code, const char *format, ...)
{
    FILE *err = error_stream();
    va_list arguments;
    va_start(arguments, format);
    fflush(OUTPUT);
    fprintf(err, "%s: ", program_invocation_name);
    vfprintf(err, format, arguments);
    va_end(arguments);
    fprintf(err, code ? ": %s\n" : "\n", code ? strerror(code) : "");
    error_message_count++;
    if (status)
        pf_libc_exit(status);
}

/* Which of the rank's own streams it is, -1: none. */
static int own_stream(const struct pf_process *p, const FILE *file)
{
    int i = PF_STREAMS - 1;
    while (i >= 0 && (!p || p->own[i] != file))
        i--;
    return i;
}

/* The object stays, as the C library's do: writing to it fails from now on. */
static int close_own(struct pf_process *p, int i)
{
    int result = fflush(p->own[i]);
    if (p->number[i] >= 0 && pf_libc_close(p->number[i]) != 0)
        result = EOF;
    p->number[i] = -1;
    p->own[i]->_fileno = -1;
    setvbuf(p->own[i], NULL, _IONBF, 0); /* so that it fails at once */
    return result;
}

int pf_libc_fclose(FILE *file)
{
    struct pf_process *p = pf_process();
    int i = own_stream(p, file);
    if (i >= 0)
        return close_own(p, i);
    int descriptor = p ? file->_fileno : -1;
    off_t before = pf_stream_position(file);
    int flushed = before >= 0 ? fflush(file) : 0; /* what it moves can be seen while it is open */
    pf_stream_moved(file, before, true);
    int result = fclose(file) | flushed;
    for (int n = 0; n < PF_STREAMS && descriptor > 2; n++) /* it came from fdopen(1, ...) */
        if (p->behind[n] == descriptor)
            pf_process_redirect(p, n, -1);
    return result;
}

/* The C library keeps the number of the descriptor where it can; the rank's stays what it was. */
FILE *pf_libc_freopen(const char *name, const char *mode, FILE *file)
{
    struct pf_process *p = pf_process();
    int i = own_stream(p, file);
    if (i >= 0 && p->number[i] >= 0)
        pf_process_detach(p, p->number[i]);
    pf_folder_enter();
    FILE *result = freopen(name, mode, file);
    pf_folder_leave();
    if (i < 0)
        return result;
    int descriptor = result ? file->_fileno : -1;
    if (p->number[i] < 0 && p->holes && result)
        p->number[i] = pf_process_opened(descriptor);
    else if (p->number[i] >= 0)
        pf_process_redirect(p, p->number[i], descriptor);
    file->_fileno = descriptor;
    return result;
}

FILE *pf_libc_freopen64(const char *name, const char *mode, FILE *file)
{
    return pf_libc_freopen(name, mode, file);
}

int pf_libc_fileno(FILE *file)
{
    struct pf_process *p = pf_process();
    int i = own_stream(p, file), descriptor = fileno(file);
    if (i >= 0 && p->number[i] >= 0)
        return p->number[i];
    for (int n = 0; p && n < PF_STREAMS && descriptor > 2; n++)
        if (p->behind[n] == descriptor)
            return n;
    return descriptor;
}

int pf_libc_fileno_unlocked(FILE *file)
{
    return pf_libc_fileno(file);
}

FILE *pf_libc_fopen(const char *name, const char *mode)
{
    pf_folder_enter();
    FILE *file = fopen(pf_proc_name(name), mode);
    pf_folder_leave();
    if (file)
        pf_process_opened(file->_fileno);
    return file;
}

FILE *pf_libc_fopen64(const char *name, const char *mode)
{
    return pf_libc_fopen(name, mode);
}

FILE *pf_libc_fdopen(int descriptor, const char *mode)
{
    struct pf_process *p = pf_process();
    if (p && (unsigned)descriptor < PF_STREAMS)
        pf_process_detach(p, descriptor);
    return fdopen(pf_process_behind(descriptor), mode);
}
