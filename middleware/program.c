/* SPDX-License-Identifier: BSD-3-Clause */
#include "middleware/program.h"

#include <setjmp.h>
#include <stdlib.h>
#include <unistd.h>

#include <simgrid/actor.h>

#include "base/log.h"
#include "lowlevel/portals/runtime.h"
#include "middleware/job_state.h"
#include "middleware/private.h"

/* Where main() of one rank was called. Lives on that rank's stack. */
struct frame {
    sigjmp_buf here;
    int status;
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
        struct frame **larger = realloc(frames, count * sizeof *larger);
        if (!larger)
            pf_die("out of memory");
        for (size_t i = frame_count; i < count; i++)
            larger[i] = NULL;
        frames = larger;
        frame_count = count;
    }
    frames[actor] = frame;
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
    set_frame(actor, &frame);
    if (sigsetjmp(frame.here, 0) == 0)
        frame.status = loaded(argc, argv, environ);
    set_frame((size_t)sg_actor_self_get_pid(), NULL);
    pf_job_rank_left(frame.status);
    return frame.status;
}

void pf_program_exit(int status)
{
    size_t actor = (size_t)sg_actor_self_get_pid();
    if (actor >= frame_count || !frames[actor])
        return;
    frames[actor]->status = status & 0377; /* what the shell would see */
    siglongjmp(frames[actor]->here, 1);
}
