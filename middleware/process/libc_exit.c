/* SPDX-License-Identifier: BSD-3-Clause */
/* What a rank has registered for its end: functions, destructors of objects, of its program and its
 * libraries. */
#include "middleware/process/libc.h"

#include <stdlib.h>
#include <unistd.h>

#include <simgrid/actor.h>

#include "base/child.h"
#include "base/memory.h"
#include "base/streams.h"
#include "middleware/process/libc_process.h"
#include "middleware/process/program.h"

static int add(struct pf_exit_function **list, struct pf_exit_function one)
{
    struct pf_exit_function *added = pf_malloc(sizeof *added);
    one.next = *list;
    *added = one;
    *list = added;
    return 0;
}

int __cxa_atexit(void (*function)(void *), void *arg, void *object);
int __cxa_thread_atexit_impl(void (*function)(void *), void *arg, void *object);
int __cxa_at_quick_exit(void (*function)(void *), void *object);
void __cxa_finalize(void *object);

int pf_libc___cxa_atexit(void (*function)(void *), void *arg, void *object)
{
    struct pf_process *p = pf_process();
    return p ? add(&p->at_exit, (struct pf_exit_function){.function = function, .arg = arg, .object = object})
             : __cxa_atexit(function, arg, object);
}

/* Objects of a thread that the rank has made end with the thread. */
int pf_libc___cxa_thread_atexit(void (*function)(void *), void *arg, void *object)
{
    struct pf_process *p = sg_actor_self() ? pf_process() : NULL;
    return p ? add(&p->at_thread_exit,
                   (struct pf_exit_function){.function = function, .arg = arg, .object = object})
             : __cxa_thread_atexit_impl(function, arg, object);
}

int pf_libc_on_exit(void (*function)(int, void *), void *arg)
{
    struct pf_process *p = pf_process();
    return p ? add(&p->at_exit, (struct pf_exit_function){.on_exit = function, .arg = arg})
             : on_exit(function, arg);
}

int pf_libc___cxa_at_quick_exit(void (*function)(void *), void *object)
{
    struct pf_process *p = pf_process();
    return p ? add(&p->at_quick_exit, (struct pf_exit_function){.function = function, .object = object})
             : __cxa_at_quick_exit(function, object);
}

/* One that ends the rank itself must not be called again: it is taken out first. `object`: those of one
 * library only. */
static void run(struct pf_exit_function **list, int status, const void *object)
{
    struct pf_exit_function **link = list;
    while (*link) {
        struct pf_exit_function one = **link;
        if (object && one.object != object) {
            link = &(*link)->next;
            continue;
        }
        free(*link);
        *link = one.next;
        if (one.on_exit)
            one.on_exit(status, one.arg);
        else
            one.function(one.arg);
        link = list; /* which may have registered more */
    }
}

/* A library that the rank closes. */
void pf_libc___cxa_finalize(void *object)
{
    struct pf_process *p = pf_process();
    if (p && object)
        run(&p->at_exit, 0, object);
    __cxa_finalize(object);
}

static void run_ends(void *arg)
{
    const struct pf_ends *ends = arg;
    for (size_t i = ends->count; i-- > 0;)
        ends->functions[i]();
}

void pf_process_add_ends(struct pf_process *p, struct pf_ends ends)
{
    struct pf_ends *kept = pf_malloc(sizeof *kept);
    *kept = ends;
    add(&p->at_exit, (struct pf_exit_function){.function = run_ends, .arg = kept});
}

void pf_process_finish(int status)
{
    struct pf_process *p = pf_process();
    if (!p)
        return;
    run(&p->at_thread_exit, status, NULL);
    run(&p->at_exit, status, NULL);
    for (int i = 1; i < PF_STREAMS; i++)
        if (p->own[i] && p->own[i]->_fileno >= 0)
            pf_flush(p->own[i]);
}

void pf_libc_quick_exit(int status)
{
    struct pf_process *p = pf_process();
    if (!p)
        quick_exit(status);
    run(&p->at_quick_exit, status, NULL);
    pf_libc__exit(status);
}

/* Without what is registered for the end. A thread of a rank ends the run, which says so. */
void pf_libc__exit(int status)
{
    if (pf_libc_in_thread())
        exit(status);
    if (pf_in_child() || !sg_actor_self())
        _exit(status);
    pf_program_exit(status);
    _exit(status); /* an actor that is no rank */
}

void pf_libc__Exit(int status)
{
    pf_libc__exit(status);
}
