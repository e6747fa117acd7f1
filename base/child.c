/* SPDX-License-Identifier: BSD-3-Clause */
/* Recognises a process that a rank has forked. */
#include "base/child.h"

#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <unistd.h>

static bool in_child, in_copy;
static bool copying; /* the child to be is a copy */
static void (*on_closed)(void);

static void before(void)
{
    fflush(NULL);
}

static void born(void)
{
    if (copying) {
        in_copy = true;
        return;
    }
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

pid_t pf_child_copy(void)
{
    copying = true;
    pid_t pid = fork();
    copying = false;
    return pid;
}

bool pf_in_copy(void)
{
    return in_copy;
}
