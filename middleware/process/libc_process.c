/* SPDX-License-Identifier: BSD-3-Clause */
/* What each rank has of the C library. */
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include <simgrid/actor.h>

#include "base/child.h"
#include "base/log.h"
#include "base/memory.h"
#include "middleware/core/job_state.h"
#include "middleware/process/libc.h"
#include "middleware/process/libc_openmp.h"
#include "middleware/process/libc_process.h"
#include "middleware/process/locals.h"

static struct pf_process **processes; /* by rank */
static pthread_t thread;              /* in which ranks live */
static struct pf_process *last;       /* that has asked there: other threads of unknown origin are its own */
static pthread_key_t origin;          /* of another thread: the rank that has made it */

int pf_process_no_input(void)
{
    static int descriptor = -1;
    if (descriptor < 0) {
        int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
        descriptor = null >= 0 && null < PF_STREAMS ? fcntl(null, F_DUPFD_CLOEXEC, PF_STREAMS) : null;
    }
    return descriptor;
}

static struct pf_process *begin(int rank)
{
    if (!processes) {
        processes = pf_calloc((size_t)pf_job_state.size, sizeof *processes);
        thread = pthread_self();
        if (pthread_key_create(&origin, NULL) != 0)
            pf_die("the process has no more keys of thread-specific data");
        setvbuf(stdout, NULL, _IOLBF,
                0); /* what libraries of the system write stays among the ranks' lines */
    }
    struct pf_process *p = processes[rank] = pf_calloc(1, sizeof *p);
    p->rank = rank;
    p->mask = -1;
    p->optind = p->opterr = p->first_other = p->last_other = 1;
    p->optopt = '?';
    for (int i = 0; i < PF_STREAMS; i++)
        p->number[i] = p->behind[i] = i;
    if (rank > 0)
        p->behind[0] = pf_process_no_input();
    return p;
}

struct pf_process *pf_process_of(int rank)
{
    return processes ? processes[rank] : NULL;
}

bool pf_process_here(void)
{
    return !last || pthread_equal(thread, pthread_self());
}

struct pf_process *pf_process(void)
{
    if (!sg_actor_self()) {
        struct pf_process *of_team = pf_openmp_process();
        if (of_team || !last || pthread_equal(thread, pthread_self()))
            return of_team;
        struct pf_process *own = pthread_getspecific(origin);
        return own ? own : last;
    }
    long rank = sg_actor_self_get_pid() - 1;
    if (rank < 0 || rank >= pf_job_state.size)
        return NULL;
    return last = processes && processes[rank] ? processes[rank] : begin((int)rank);
}

int pf_process_rank_of_thread(void)
{
    const struct pf_process *of_team = pf_openmp_process();
    const struct pf_process *p = of_team || !last ? of_team : pthread_getspecific(origin);
    return p ? p->rank : -1;
}

void *pf_process_image(void)
{
    const struct pf_process *p = pf_process();
    return p ? p->image : NULL;
}

long pf_process_actor(void)
{
    if (sg_actor_self())
        return sg_actor_self_get_pid();
    const struct pf_process *own = pf_process_here() ? NULL : pthread_getspecific(origin);
    return own ? own->rank + 1 : 0;
}

struct start {
    void *(*function)(void *arg);
    void *arg;
    struct pf_process *origin;
};

static void *begin_thread(void *arg)
{
    const struct start start = *(struct start *)arg;
    free(arg);
    pthread_setspecific(origin, start.origin);
    return start.function(start.arg);
}

/* Other ranks may run while the thread does. */
int pf_libc_pthread_create(pthread_t *made, const pthread_attr_t *attributes, void *(*function)(void *arg),
                           void *arg)
{
    struct pf_process *p = pf_in_child() ? NULL : pf_process();
    if (!p)
        return pthread_create(made, attributes, function, arg);
    if (pf_locals_any())
        pf_die("a program with thread-local variables that pfcc has not built starts a thread "
               "(OMP_NUM_THREADS=1 "
               "where it would be OpenMP's); rebuild it with pfcc");
    struct start *start = pf_malloc(sizeof *start);
    *start = (struct start){function, arg, p};
    int error = pthread_create(made, attributes, begin_thread, start);
    if (error)
        free(start);
    return error;
}

/* A child that shares the memory would change what the rank has: it gets a copy, as with fork(). */
pid_t pf_libc_vfork(void)
{
    return fork();
}
