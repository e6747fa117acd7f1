/* SPDX-License-Identifier: BSD-3-Clause */
/* What is said when a call is wrong. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/child.h"
#include "lowlevel/portals/runtime.h"
#include "middleware/process/layer.h"
#include "openshmem/internal.h"

pthread_t pf_shmem_thread;

static void say(const struct pf_shmem *me, const char *format, va_list arguments)
{
    char text[512], site[256];
    vsnprintf(text, sizeof text, format, arguments);
    pf_die("PE %d: %s: %s, at %s", me->rank, me->call, text, pf_layer_site(me->site, site, sizeof site));
}

void pf_shmem_die(const struct pf_shmem *me, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    say(me, format, arguments);
    va_end(arguments);
    abort();
}

void pf_shmem_check_caller(const char *call, const void *site)
{
    char text[256];
    if (pf_in_child())
        pf_die("%s was called in a child process of a PE, which is no PE, at %s", call,
               pf_layer_site(site, text, sizeof text));
    if (pf_shmem_thread && !pthread_equal(pthread_self(), pf_shmem_thread))
        pf_die(
            "%s was called from a thread that is no PE of the job, at %s: at most SHMEM_THREAD_FUNNELED is "
            "provided, so only the thread that called shmem_init may make OpenSHMEM calls",
            call, pf_layer_site(site, text, sizeof text));
}

struct pf_shmem *pf_shmem_enter_slowly(const char *call, const void *site)
{
    char text[256];
    pf_shmem_check_caller(call, site);
    const pf_self_t *self = pf_portals_self();
    if (!self)
        pf_die("%s was called outside of the simulation: start the program with pfrun -np N", call);
    pf_die("PE %d: %s was called %s, at %s", self->rank, call,
           self->shmem ? "after shmem_finalize" : "before shmem_init",
           pf_layer_site(site, text, sizeof text));
}

void pf_shmem_check_pe(const struct pf_shmem *me, int pe)
{
    if (pe < 0 || pe >= me->size)
        pf_shmem_die(me, "there is no PE %d, the job has %d (0 to %d)", pe, me->size, me->size - 1);
}
