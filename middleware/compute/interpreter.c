/* SPDX-License-Identifier: BSD-3-Clause */
/* Looks now and then where a rank computes. */
#include "middleware/compute/interpreter.h"

#include <dlfcn.h>
#include <signal.h>
#include <stdint.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include <simgrid/actor.h>

#include "base/memory.h"
#include "middleware/compute/compute.h"
#include "middleware/core/job_state.h"

#ifndef sigev_notify_thread_id /* older headers of the C library */
#define sigev_notify_thread_id _sigev_un._tid
#endif

enum { INTERVAL_NS = 1000000, ENOUGH = 20 };

static struct {
    struct dl_find_object *of_ranks; /* each one's copy; size 0: it has none */
    bool measures;
    unsigned long samples, own;
} all;

/* Changes nothing else, and makes no call that may wait. */
static void look(int signal, siginfo_t *info, void *context)
{
    const struct pf_account *account = pf_account_computing;
    if (pf_job_state.over || !account || account->inside ||
        !pf_compute_counts(&pf_job_state.ranks[account->rank]))
        return;
    const struct dl_find_object *copy = &all.of_ranks[account->rank];
    uintptr_t at = (uintptr_t)((const ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];
    all.samples++;
    all.own += at >= (uintptr_t)copy->dlfo_map_start && at < (uintptr_t)copy->dlfo_map_end;
}

/* Without one there is no share. */
static void start_timer(void)
{
    timer_t timer;
    struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGSTKFLT};
    const struct sigaction action = {.sa_sigaction = look, .sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK};
    const struct timespec interval = {.tv_nsec = INTERVAL_NS};
    event.sigev_notify_thread_id = gettid();
    if (sigaction(SIGSTKFLT, &action, NULL) == 0 &&
        timer_create(CLOCK_THREAD_CPUTIME_ID, &event, &timer) == 0)
        timer_settime(timer, 0, &(struct itimerspec){interval, interval}, NULL);
}

static void start_once(void)
{
    static bool started;
    if (started || !all.of_ranks || !all.measures)
        return;
    started = true;
    start_timer();
}

void pf_interpreter_measures(void)
{
    all.measures = true;
    start_once();
}

void pf_interpreter_begin(const void *function)
{
    long rank = sg_actor_self_get_pid() - 1; /* also known before MPI_Init */
    if (rank < 0 || rank >= pf_job_state.size)
        return;
    if (!all.of_ranks)
        all.of_ranks = pf_calloc((size_t)pf_job_state.size, sizeof *all.of_ranks);
    _dl_find_object((void *)function, &all.of_ranks[rank]);
    start_once();
}

bool pf_interpreter_share(double *share, unsigned long *samples)
{
    if (all.samples < ENOUGH)
        return false;
    *share = (double)all.own / (double)all.samples;
    *samples = all.samples;
    return true;
}
