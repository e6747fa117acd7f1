/* SPDX-License-Identifier: BSD-3-Clause */
/* Recognises a process that a rank has forked. */
#include "base/child.h"

#include <pthread.h>
#include <stddef.h>

#include "base/streams.h"

static bool in_child;
static void (*on_closed)(void), (*on_born)(void);

static void before(void)
{
    pf_flush_all();
}

static void born(void)
{
    if (on_born)
        on_born();
    in_child = true;
    if (on_closed)
        on_closed();
}

void pf_child_watch(void (*closed)(void))
{
    on_closed = closed;
    pthread_atfork(before, NULL, born);
}

void pf_child_set_born(void (*born_here)(void))
{
    on_born = born_here;
}

bool pf_in_child(void)
{
    return in_child;
}
