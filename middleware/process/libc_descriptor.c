/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Descriptors 0, 1 and 2 of each rank. Behind them are the process's until the rank closes one or puts
 * another there; then it has a descriptor of its own behind its number, and the process's stays for the
 * others. All other numbers are the process's.
 */
#include "middleware/process/libc.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/child.h"
#include "base/log.h"
#include "middleware/process/libc_process.h"

/* A child has made what the rank has behind its numbers the process's (pf_process_child()). */
static struct pf_process *of_rank(void)
{
    return pf_in_child() ? NULL : pf_process();
}

int pf_process_behind(int descriptor)
{
    if ((unsigned)descriptor >= PF_STREAMS)
        return descriptor;
    const struct pf_process *p = of_rank();
    return p ? p->behind[descriptor] : descriptor;
}

void pf_process_redirect(struct pf_process *p, int number, int descriptor)
{
    p->behind[number] = descriptor;
    p->holes = false;
    for (int i = 0; i < PF_STREAMS; i++) {
        p->holes |= p->behind[i] < 0;
        if (p->own[i] && p->number[i] == number)
            p->own[i]->_fileno = descriptor;
    }
}

/* Whether closing it would be felt by others: the process's, and the empty input of the ranks. */
static bool is_shared(const struct pf_process *p, int number)
{
    return p->behind[number] < PF_STREAMS || p->behind[number] == pf_process_no_input();
}

void pf_process_detach(struct pf_process *p, int number)
{
    if (p->behind[number] < 0 || !is_shared(p, number))
        return;
    int own = fcntl(p->behind[number], F_DUPFD_CLOEXEC, PF_STREAMS);
    if (own < 0)
        pf_die("rank %d: no descriptor for a file of its own behind descriptor %d: %s", p->rank, number,
               strerror(errno));
    pf_process_redirect(p, number, own);
}

int pf_process_opened(int descriptor)
{
    struct pf_process *p = descriptor >= 0 ? pf_process() : NULL;
    for (int n = 0; p && p->holes && n < PF_STREAMS; n++)
        if (p->behind[n] < 0) {
            pf_process_redirect(p, n, descriptor);
            return n;
        }
    return descriptor;
}

/* A descriptor of the rank's that is meant for one of the numbers 0 to 2 of a child must be inherited by name
 * only (pf_spawn_enter()). */
static int put(struct pf_process *p, int from, int number)
{
    int own = fcntl(from, F_DUPFD_CLOEXEC, PF_STREAMS);
    if (own < 0)
        return -1;
    if (p->behind[number] >= 0 && !is_shared(p, number))
        close(p->behind[number]);
    pf_process_redirect(p, number, own);
    return number;
}

int pf_libc_close(int descriptor)
{
    struct pf_process *p = (unsigned)descriptor < PF_STREAMS ? of_rank() : NULL;
    if (!p)
        return close(descriptor);
    int behind = p->behind[descriptor];
    bool shared = behind < 0 || is_shared(p, descriptor);
    pf_process_redirect(p, descriptor, -1);
    if (behind < 0)
        errno = EBADF;
    return behind < 0 ? -1 : shared ? 0 : close(behind);
}

int pf_libc_dup(int descriptor)
{
    return pf_process_opened(dup(pf_process_behind(descriptor)));
}

int pf_libc_dup3(int from, int to, int flags)
{
    struct pf_process *p = of_rank();
    int behind = pf_process_behind(from);
    if (!p || (unsigned)to >= PF_STREAMS)
        return from == to ? dup3(from, to, flags) : dup3(behind, to, flags);
    if (from == to || flags & ~O_CLOEXEC) {
        errno = EINVAL;
        return -1;
    }
    return put(p, behind, to);
}

int pf_libc_dup2(int from, int to)
{
    struct pf_process *p = of_rank();
    if (!p || (unsigned)to >= PF_STREAMS)
        return dup2(pf_process_behind(from), to);
    if (from == to && p->behind[to] >= 0)
        return to;
    return put(p, pf_process_behind(from), to);
}

int __vdprintf_chk(int descriptor, int flag, const char *format, va_list arguments);

int pf_libc_vdprintf(int descriptor, const char *format, va_list arguments)
{
    return vdprintf(pf_process_behind(descriptor), format, arguments);
}

int pf_libc___vdprintf_chk(int descriptor, int flag, const char *format, va_list arguments)
{
    return __vdprintf_chk(pf_process_behind(descriptor), flag, format, arguments);
}

int pf_libc_dprintf(int descriptor, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int result = pf_libc_vdprintf(descriptor, format, arguments);
    va_end(arguments);
    return result;
}

int pf_libc___dprintf_chk(int descriptor, int flag, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int result = pf_libc___vdprintf_chk(descriptor, flag, format, arguments);
    va_end(arguments);
    return result;
}
