/* SPDX-License-Identifier: BSD-3-Clause */
/* What is said when a call is wrong. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "lowlevel/portals/runtime.h"
#include "middleware/process/layer.h"
#include "openshmem/internal.h"

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

struct pf_shmem *pf_shmem_enter_slowly(const char *call, const void *site)
{
    char text[256];
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
