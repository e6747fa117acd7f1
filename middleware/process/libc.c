/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Functions of the C library that must answer from the simulated world: the first column of loader/libc.def.
 * pfcc links applications with --wrap=sleep and so on (tools/pfcc/libc_names.ld), so their references arrive
 * here; nothing is redefined in a header, and C++ and static libraries are covered too. Our own libraries and
 * SimGrid keep the real functions.
 *
 * In a program that runs without pfrun (a test of configure) every function is the C library's.
 */
#include "middleware/process/libc.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <simgrid/actor.h>
#include <simgrid/host.h>

#include "base/child.h"
#include "base/log.h"
#include "middleware/process/libc_process.h"
#include "middleware/process/program.h"

/* SimGrid's side. Its headers rename the C library's functions, hence this declaration. */
void smpi_exit(int status) __attribute__((noreturn));

/* The actor's number, as under stock smpirun; in all threads of the rank. */
pid_t pf_libc_getpid(void)
{
    const struct pf_process *p = pf_in_child() || sg_actor_self() ? NULL : pf_process();
    if (pf_libc_simulated())
        return (pid_t)sg_actor_self_get_pid();
    return p ? p->rank + 1 : getpid();
}

int pf_libc_gethostname(char *name, size_t length)
{
    if (!pf_libc_simulated())
        return gethostname(name, length);
    const char *host = sg_host_get_name(sg_host_self());
    if (strlen(host) >= length) {
        errno = ENAMETOOLONG;
        return -1;
    }
    strcpy(name, host);
    return 0;
}

/* exit() by the name that imports.def gives it, for libraries of the system. */
__asm__(".hidden pf_libc_exit\n.globl pf_libc_exit\n.set pf_libc_exit, __wrap_exit");

/* Ends this rank, not the simulation. A child's exit handlers would be the simulator's. */
void pf_libc_exit(int status)
{
    if (pf_in_child())
        pf_end_process(status);
    if (!pf_libc_simulated())
        exit(status);
    pf_libc_leave(pf_libc_enter());
    pf_process_finish(status);
    pf_program_exit(status);
    smpi_exit(status); /* an actor that is no rank */
}
