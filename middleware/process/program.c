/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls and leaves main() of each rank. */
#include "middleware/process/program.h"

#include <dlfcn.h>
#include <errno.h>
#include <inttypes.h>
#include <link.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <simgrid/actor.h>

#include "base/child.h"
#include "base/log.h"
#include "base/memory.h"
#include "lowlevel/portals/runtime.h"
#include "middleware/process/libc_environment.h"
#include "middleware/process/ranks.h"
#include "middleware/process/private.h"

/* Where main() of one rank was called. Lives on that rank's stack. */
struct frame {
    sigjmp_buf here;
    int status;
    int (*program)(int, char **, char **);
};

/* By number of the actor: shared libraries that are not private to a rank call exit() too, so the copy cannot
 * tell. */
static struct frame **frames;
static size_t frame_count;

/* SMPI loads a copy and calls its main() at once, so one variable is enough. */
static int (*loaded)(int, char **, char **);

void pf_program_loaded(int (*program)(int, char **, char **))
{
    loaded = program;
}

static void set_frame(size_t actor, struct frame *frame)
{
    if (actor >= frame_count) {
        size_t count = 2 * actor + 16;
        struct frame **larger = pf_realloc(frames, count * sizeof *larger);
        for (size_t i = frame_count; i < count; i++)
            larger[i] = NULL;
        frames = larger;
        frame_count = count;
    }
    frames[actor] = frame;
}

/* Whether the linker has noted that the program runs code on its stack: compilers put some there for a nested
 * function that is passed on, such as a reduction in a Fortran procedure that uses variables around it. */
static bool runs_its_stack(void)
{
    Dl_info info;
    if (!dladdr((void *)(uintptr_t)loaded, &info))
        return false;
    const ElfW(Ehdr) *header = info.dli_fbase;
    const ElfW(Phdr) *segment = (const void *)((const char *)info.dli_fbase + header->e_phoff);
    for (int i = 0; i < header->e_phnum; i++)
        if (segment[i].p_type == PT_GNU_STACK)
            return segment[i].p_flags & PF_X;
    return false;
}

/* The dynamic linker allows that on the stacks that it knows. SimGrid's are not among them. */
static void allow_code_on_stack(void)
{
    char *line = NULL;
    size_t room = 0;
    uintptr_t begin = 0, end = 0, here = (uintptr_t)&line;
    FILE *maps = fopen("/proc/self/maps", "re");
    bool found = false;
    while (maps && !found && getline(&line, &room, maps) > 0)
        found = sscanf(line, "%" SCNxPTR "-%" SCNxPTR, &begin, &end) == 2 && begin <= here && here < end;
    if (maps)
        fclose(maps);
    free(line);
    if (!found || mprotect((void *)begin, end - begin, PROT_READ | PROT_WRITE | PROT_EXEC) != 0)
        pf_die("the program needs a stack that may hold code, which the system does not allow: %s",
               strerror(errno));
}

/* What SMPI calls as the rank's main. */
int pf_program_main(int argc, char **argv) __asm__("main") PF_EXPORT;

int pf_program_main(int argc, char **argv)
{
    struct frame frame = {.status = 0};
    size_t actor = (size_t)sg_actor_self_get_pid();
    pf_portals_set_identify(pf_job_identify);
    const char *name = pf_private_load();
    if (name)
        argv[0] = (char *)name; /* SMPI believes that we are the application */
    if (!loaded)
        pf_die("the program has no main() that pfcc or pfcxx linked; rebuild it");
    if (runs_its_stack())
        allow_code_on_stack();
    frame.program = loaded;
    set_frame(actor, &frame);
    if (sigsetjmp(frame.here, 0) == 0)
        frame.status = loaded(argc, argv, pf_environment());
    if (pf_in_child())
        pf_end_process(frame.status);
    set_frame((size_t)sg_actor_self_get_pid(), NULL);
    pf_job_rank_left(frame.status);
    return frame.status;
}

const void *pf_program_of_caller(void)
{
    size_t actor = (size_t)sg_actor_self_get_pid();
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
