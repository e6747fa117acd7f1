/* SPDX-License-Identifier: BSD-3-Clause */
/* Where main() of each rank was called, so that exit() can go back there. */
#include "middleware/process/program_frame.h"

#include <stdint.h>
#include <stdlib.h>

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

/* By number of the actor: shared libraries, which are not private to a rank, call exit() too. */
static struct pf_program_frame **frames;
static size_t frame_count;

void pf_program_set_frame(size_t actor, struct pf_program_frame *frame)
{
    if (actor >= frame_count) {
        size_t count = 2 * actor + 16;
        struct pf_program_frame **larger = pf_realloc(frames, count * sizeof *larger);
        for (size_t i = frame_count; i < count; i++)
            larger[i] = NULL;
        frames = larger;
        frame_count = count;
    }
    frames[actor] = frame;
}

int pf_program_number(void)
{
    long actor = pf_process_actor();
    return pf_job_program_of(actor ? (int)actor - 1 : 0);
}

const void *pf_program_of_caller(void)
{
    size_t actor = (size_t)pf_process_actor();
    return actor < frame_count && frames[actor] ? (const void *)(uintptr_t)frames[actor]->program : NULL;
}

void pf_program_exit(int status)
{
    size_t actor = (size_t)sg_actor_self_get_pid();
    if (actor >= frame_count || !frames[actor])
        return;
    frames[actor]->status = status & 0377; /* what the shell would see */
    siglongjmp(frames[actor]->here, 1);
}

void *pf_program_room(const void *stack)
{
    size_t actor = (size_t)sg_actor_self_get_pid();
    if (actor >= frame_count || !frames[actor])
        return NULL;
    uintptr_t top = (uintptr_t)frames[actor], size = (uintptr_t)sg_cfg_get_int("contexts/stack-size") * 1024;
    uintptr_t place = (uintptr_t)stack - RED_ZONE;
    if (place > top || place < top - size + LEAST_ROOM)
        place = top - size / 2;
    return (void *)(place & ~(uintptr_t)15);
}

void pf_program_check_stack(int rank)
{
    size_t actor = (size_t)sg_actor_self_get_pid();
    if (actor >= frame_count || !frames[actor])
        return;
    ptrdiff_t used = (const char *)frames[actor] - (const char *)__builtin_frame_address(0);
    int room = sg_cfg_get_int("contexts/stack-size");
    if (used > (ptrdiff_t)room * 1024)
        pf_die(
            "rank %d: its local variables take %td KiB before MPI_Init, and its stack has %d: raise it with "
            "--cfg=contexts/stack-size:KIB",
            rank, used / 1024, room);
}
