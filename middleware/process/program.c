/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls and leaves main() of each rank. */
#include "middleware/process/program.h"

#include <alloca.h>
#include <dlfcn.h>
#include <errno.h>
#include <fenv.h>
#include <inttypes.h>
#include <link.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <simgrid/actor.h>

#include "base/child.h"
#include "base/log.h"
#include "base/memory.h"
#include "loader/image.h"
#include "lowlevel/portals/runtime.h"
#include "middleware/core/job_programs.h"
#include "middleware/core/workload.h"
#include "middleware/process/libc.h"
#include "middleware/process/libc_environment.h"
#include "middleware/process/libc_process.h"
#include "middleware/process/ranks.h"
#include "middleware/process/private.h"
#include "middleware/process/private_open.h"
#include "middleware/process/program_frame.h"
#include "middleware/process/worlds.h"

/* Whether the linker has noted that the program runs code on its stack: compilers put some there for a nested
 * function that is passed on, such as a reduction in a Fortran procedure that uses variables around it. */
static bool runs_its_stack(int (*program)(int, char **, char **))
{
    Dl_info info;
    if (!dladdr((void *)(uintptr_t)program, &info))
        return pf_image_code_on_stack((void *)(uintptr_t)program);
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

/* A return from main is a call of exit, whose functions may call that once more. */
static void end(int status, struct pf_program_frame *frame)
{
    frame->status = status;
    if (!pf_in_child())
        pf_process_finish(status);
}

/* A rank may write into it. */
static char **own_command_line(void)
{
    const struct pf_job_program *program = pf_job_program(pf_program_number());
    char **argv = pf_calloc((size_t)program->argc + 1, sizeof *argv);
    for (int i = 0; i < program->argc; i++)
        argv[i] = pf_strdup(program->argv[i]);
    return argv;
}

/* Calls the rank's main(); its status. */
static int run(int argc, char **argv, const char *path)
{
    struct pf_program_frame frame = {.status = 0};
    program_invocation_name = argv[0]; /* the C library believes that we are pfrun */
    const char *slash = strrchr(argv[0], '/');
    program_invocation_short_name = slash ? (char *)slash + 1 : argv[0];
    pf_proc_set(argc, argv, path);
    pf_program_set_frame(&frame);
    if (pf_account_returns)
        pf_account_returns();
    feclearexcept(FE_ALL_EXCEPT); /* of the simulator's arithmetic */
    if (sigsetjmp(frame.here, 0) == 0)
        end(pf_program_of_rank()(argc, argv, pf_environment()), &frame);
    if (pf_in_child())
        pf_end_process(frame.status);
    pf_program_set_frame(NULL);
    pf_job_rank_left(frame.status);
    return frame.status;
}

/* What SMPI calls as the rank's main. */
int pf_program_main(int argc, char **argv) __asm__("main") PF_EXPORT;

int pf_program_main(int argc, char **argv)
{
    /* Stacks begin at the same place of a page, so that the lines that all ranks use most would share few
     * sets of the processor's cache: each rank's begins in another of a page's 64 lines. */
    size_t shift = (size_t)sg_actor_self_get_pid() * 13 % 64 * 64;
    volatile char *colour = alloca(shift + 1);
    colour[0] = 0;
    pf_portals_set_identify(pf_job_identify);
    if (pf_workload_count())
        pf_job_start_early();
    pf_world_await((int)sg_actor_self_get_pid() - 1);
    pf_private_enter();
    pf_private_load();
    pf_private_leave();
    if (!pf_program_of_rank())
        pf_die("the program has no main() that pfcc or pfcxx linked; rebuild it");
    pf_libraries_lead_first();
    if (runs_its_stack(pf_program_of_rank()))
        allow_code_on_stack();
    const struct pf_job_program *program =
        pf_job_program_count() ? pf_job_program(pf_program_number()) : NULL;
    return program ? run(program->argc, own_command_line(), program->path) : run(argc, argv, argv[0]);
}
