/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Signals of each rank: its own handlers, for what it sends itself and for what its own instructions cause.
 * Signals from outside the simulation reach the rank that runs.
 */
#include "middleware/process/libc.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include <simgrid/engine.h>

#include "base/child.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/streams.h"
#include "middleware/core/job_state.h"
#include "middleware/process/libc_process.h"

static struct sigaction usual[NSIG]; /* of the process, as the first rank that sets a handler finds them */
static bool is_set[NSIG];

static const struct sigaction *action_of(const struct pf_process *p, int signal)
{
    return p && p->actions && p->actions[signal].sa_flags != -1 ? &p->actions[signal] : NULL;
}

static void call(const struct sigaction *action, int signal, siginfo_t *info, void *context)
{
    if (action->sa_flags & SA_SIGINFO)
        action->sa_sigaction(signal, info, context);
    else if (action->sa_handler != SIG_IGN)
        action->sa_handler(signal);
}

/* Of the process. A rank without a handler: what the process did before. */
static void on_signal(int signal, siginfo_t *info, void *context)
{
    struct pf_process *p = pf_process();
    const struct sigaction *action = action_of(p, signal);
    if (!action)
        action = &usual[signal];
    if (action->sa_handler != SIG_DFL) {
        struct sigaction now = *action;
        if (p && action == &p->actions[signal] && now.sa_flags & (int)SA_RESETHAND)
            p->actions[signal].sa_handler = SIG_DFL;
        call(&now, signal, info, context);
        return;
    }
    sigaction(signal, &(struct sigaction){.sa_handler = SIG_DFL}, NULL);
    raise(signal); /* when this function returns */
}

static void watch(int signal, const struct sigaction *wanted)
{
    struct sigaction ours = *wanted;
    ours.sa_flags = (ours.sa_flags | SA_SIGINFO | SA_ONSTACK) & ~(int)SA_RESETHAND;
    ours.sa_sigaction = on_signal;
    sigaction(signal, &ours, is_set[signal] ? NULL : &usual[signal]);
    is_set[signal] = true;
}

int pf_libc_sigaction(int signal, const struct sigaction *wanted, struct sigaction *before)
{
    struct pf_process *p = pf_in_child() ? NULL : pf_process();
    if (!p || signal <= 0 || signal >= NSIG || signal == SIGKILL || signal == SIGSTOP)
        return sigaction(signal, wanted, before);
    if (!p->actions) {
        p->actions = pf_calloc(NSIG, sizeof *p->actions);
        for (int i = 0; i < NSIG; i++)
            p->actions[i].sa_flags = -1;
    }
    const struct sigaction *now = action_of(p, signal);
    if (before)
        *before = now ? *now : (struct sigaction){.sa_handler = SIG_DFL};
    if (wanted) {
        p->actions[signal] = *wanted;
        if (wanted->sa_handler != SIG_DFL)
            watch(signal, wanted);
    }
    return 0;
}

static __sighandler_t set(int signal, __sighandler_t handler, int flags)
{
    struct sigaction before;
    const struct sigaction wanted = {.sa_handler = handler, .sa_flags = flags};
    return pf_libc_sigaction(signal, &wanted, &before) == 0 ? before.sa_handler : SIG_ERR;
}

__sighandler_t pf_libc_signal(int number, __sighandler_t handler)
{
    return set(number, handler, SA_RESTART);
}

__sighandler_t pf_libc___sysv_signal(int number, __sighandler_t handler)
{
    return set(number, handler, (int)(SA_RESETHAND | SA_NODEFER));
}

bool pf_signal_is_blocked(int signal)
{
    sigset_t blocked;
    return sigprocmask(SIG_SETMASK, NULL, &blocked) == 0 && sigismember(&blocked, signal);
}

/* A handler of the rank is called as a function: nothing of it depends on the system. */
static void call_own(struct pf_process *p, int signal, int code)
{
    siginfo_t info = {.si_signo = signal, .si_code = code};
    struct sigaction now = p->actions[signal];
    if (now.sa_flags & (int)SA_RESETHAND)
        p->actions[signal].sa_handler = SIG_DFL;
    call(&now, signal, &info, NULL);
}

int pf_libc_raise(int signal)
{
    struct pf_process *p = pf_in_child() ? NULL : pf_process();
    const struct sigaction *action = signal > 0 && signal < NSIG ? action_of(p, signal) : NULL;
    if (!p || !action || action->sa_handler == SIG_DFL || pf_signal_is_blocked(signal))
        return raise(signal);
    call_own(p, signal, SI_TKILL);
    return 0;
}

bool pf_signal_come(struct pf_process *p, int signal)
{
    const struct sigaction *action = action_of(p, signal);
    if (action && action->sa_handler == SIG_IGN)
        return false;
    if (action && action->sa_handler != SIG_DFL) {
        call_own(p, signal, SI_TIMER);
        return true;
    }
    char name[200];
    pf_flush_all();
    fprintf(stderr, "parfocal: error: %s: %s (SIG%s) at simulated time %.9g s, for which it has no handler\n",
            pf_workload_rank_name(p->rank, name, sizeof name), sigdescr_np(signal), sigabbrev_np(signal),
            simgrid_get_clock());
    pf_job_blame(pf_self(), 128 + signal, "%s (SIG%s), without a handler", sigdescr_np(signal),
                 sigabbrev_np(signal));
    pf_job_abort(p->rank, 128 + signal);
}

/* Numbers of processes that the rank sees are those of ranks, and not of processes of the system. */
int pf_libc_kill(pid_t process, int signal)
{
    struct pf_process *p = pf_in_child() ? NULL : pf_process();
    if (!p || process > pf_job_state.size || process < -1)
        return kill(process, signal);
    if (process == pf_libc_getpid())
        return signal == 0 ? 0 : pf_libc_raise(signal);
    if (signal == 0)
        return 0;
    pf_warn("rank %d sends signal %d to %s, which the simulation cannot do", p->rank, signal,
            process > 0 ? "another rank" : "a group of processes");
    errno = EPERM;
    return -1;
}
