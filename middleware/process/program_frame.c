/* SPDX-License-Identifier: BSD-3-Clause */
/* Where main() of each rank was called, so that exit() can go back there. */
#include "middleware/process/program_frame.h"

#include <pthread.h>
#include <stdint.h>
#include <unistd.h>

#include <simgrid/actor.h>
#include <xbt/config.h>

#include "base/log.h"
#include "base/memory.h"
#include "middleware/core/job_programs.h"
#include "middleware/process/libc_process.h"
#include "middleware/process/program.h"

/* What the ABI lets a function use below its stack pointer, and what printing needs. */
#define RED_ZONE   128
#define LEAST_ROOM 65536

/* By number of the actor: shared libraries, which are not private to a rank, call exit() too. A rank's main
 * is known before it is called: between lie the program's constructors, which may wait for other ranks. */
static struct called {
    int (*main)(int, char **, char **);
    struct pf_program_frame *frame;
} * called;
static size_t called_count;

/* Also in handlers of signals: allocates nothing. */
static struct called *called_of(size_t actor)
{
    static struct called none;
    return actor < called_count ? &called[actor] : &none;
}

static struct called *called_here(void)
{
    return called_of(sg_actor_self() ? (size_t)sg_actor_self_get_pid() : 0);
}

void pf_program_loaded(int (*program)(int, char **, char **))
{
    size_t actor = sg_actor_self() ? (size_t)sg_actor_self_get_pid() : 0;
    PF_ARRAY_REACH(called, called_count, actor);
    called[actor].main = program;
}

/* One that the dynamic linker has loaded once for all ranks (SMPI_PRIVATIZATION=mmap) is no actor's. */
static int (*main_of(const struct called *own))(int, char **, char **)
{
    return own->main ? own->main : called_of(0)->main;
}

int (*pf_program_of_rank(void))(int, char **, char **)
{
    return main_of(called_here());
}

void pf_program_set_frame(struct pf_program_frame *frame)
{
    struct pf_process *p = pf_process();
    called_here()->frame = frame;
    if (p)
        p->stack_end = frame;
    if (p && p->copied_stack_end)
        *p->copied_stack_end = frame;
}

int pf_program_number(void)
{
    long actor = pf_process_actor();
    return pf_job_program_of(actor ? (int)actor - 1 : 0);
}

const void *pf_program_of_caller(void)
{
    const struct called *own = called_of((size_t)pf_process_actor());
    return own->frame ? (const void *)(uintptr_t)main_of(own) : NULL;
}

void pf_program_exit(int status)
{
    struct pf_program_frame *frame = called_here()->frame;
    if (!frame)
        return;
    frame->status = status & 0377; /* what the shell would see */
    siglongjmp(frame->here, 1);
}

/* Collectors of garbage look for references there. */
int pf_libc_pthread_getattr_np(pthread_t thread, pthread_attr_t *attributes)
{
    const struct pf_program_frame *frame = called_here()->frame;
    int error = pthread_getattr_np(thread, attributes);
    size_t size = (size_t)sg_cfg_get_int("contexts/stack-size") * 1024;
    if (error || !frame || !sg_actor_self() || !pthread_equal(thread, pthread_self()))
        return error;
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), top = ((uintptr_t)frame + page) & ~(page - 1);
    return pthread_attr_setstack(attributes, (void *)(top - size + LEAST_ROOM), size - LEAST_ROOM);
}

void *pf_program_room(const void *stack)
{
    struct pf_program_frame *frame = called_here()->frame;
    if (!frame)
        return NULL;
    uintptr_t top = (uintptr_t)frame, size = (uintptr_t)sg_cfg_get_int("contexts/stack-size") * 1024;
    uintptr_t place = (uintptr_t)stack - RED_ZONE;
    if (place > top || place < top - size + LEAST_ROOM)
        place = top - size / 2;
    return (void *)(place & ~(uintptr_t)15);
}

void pf_program_check_stack(int rank)
{
    struct pf_program_frame *frame = called_here()->frame;
    if (!frame)
        return;
    ptrdiff_t used = (const char *)frame - (const char *)__builtin_frame_address(0);
    int room = sg_cfg_get_int("contexts/stack-size");
    if (used > (ptrdiff_t)room * 1024)
        pf_die(
            "rank %d: its local variables take %td KiB before MPI_Init, and its stack has %d: raise it with "
            "--cfg=contexts/stack-size:KIB",
            rank, used / 1024, room);
}
