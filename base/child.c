/* SPDX-License-Identifier: BSD-3-Clause */
/* Recognises a process that a rank has forked. */
#include "base/child.h"

#include <pthread.h>
#include <stddef.h>
#include <stdio.h>

static bool in_child;
static void (*on_closed)(void);

static void before(void)
{
    fflush(NULL);
}

static void born(void)
{
    in_child = true;
    if (on_closed)
        on_closed();
}

void pf_child_watch(void (*closed)(void))
{
    on_closed = closed;
    pthread_atfork(before, NULL, born);
}

bool pf_in_child(void)
{
    return in_child;
}
