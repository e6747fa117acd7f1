/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * All PEs share one thread. A PE that waits for a variable in a loop without calls keeps all others from
 * running, and looks like one that computes for long. So a thread of its own prints after a while what may be
 * wrong. Where the PE is, a signal to its thread finds out: one that does nothing to a
 * process that has no handler for it.
 */
#include <errno.h>
#include <execinfo.h>
#include <pthread.h>
#include <signal.h>
#include <time.h>
#include <ucontext.h>

#include "base/log.h"
#include "middleware/process/layer.h"
#include "openshmem/internal.h"

enum { FRAMES = 40 };

static double patience; /* seconds */
static struct {
    void *frames[FRAMES]; /* from the innermost on */
    int count;
    bool there;
} seen;

static void look(int number, siginfo_t *info, void *context)
{
    int before = errno, count = 0;
    seen.frames[count++] = (void *)((const ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];
    seen.count = count + backtrace(seen.frames + count, FRAMES - count);
    __atomic_store_n(&seen.there, true, __ATOMIC_RELEASE);
    errno = before;
}

static void pause_for(double time)
{
    double whole = (double)(time_t)time;
    struct timespec rest = {(time_t)whole, (long)((time - whole) * 1e9)};
    while (nanosleep(&rest, &rest) != 0 && errno == EINTR)
        ;
}

/* The innermost line of the program that runs now, NULL when it is unknown. A program with a handler of its
 * own for the signal keeps it. */
static const char *place(const struct pf_shmem *me, char *text, size_t size)
{
    struct sigaction action = {.sa_sigaction = look, .sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK}, old;
    if (sigaction(SIGURG, NULL, &old) != 0 || old.sa_handler != SIG_DFL ||
        sigaction(SIGURG, &action, NULL) != 0)
        return NULL;
    __atomic_store_n(&seen.there, false, __ATOMIC_RELAXED);
    bool there = pthread_kill(pf_shmem_thread, SIGURG) == 0;
    for (int i = 0; there && !__atomic_load_n(&seen.there, __ATOMIC_ACQUIRE) && i < 100; i++)
        pause_for(0.01);
    there = there && __atomic_load_n(&seen.there, __ATOMIC_ACQUIRE);
    if (!there)
        return NULL; /* its handler stays: the signal may still come */
    sigaction(SIGURG, &old, NULL);
    for (int i = 0; i < seen.count; i++)
        if ((size_t)((char *)seen.frames[i] - me->program.base) < me->program.length)
            return pf_layer_site((char *)seen.frames[i] + (i == 0), text, size); /* others are behind calls */
    return NULL;
}

static void say(const struct pf_shmem *me)
{
    char site[256], now[256];
    const char *at = place(me, now, sizeof now);
    pf_warn("PE %d has computed for %g s since its %s at %s%s%s: if it waits for a variable, let it call "
            "shmem_wait_until or shmem_test (PARFOCAL_SPIN_HINT)",
            me->rank, patience, me->call, pf_layer_site(me->site, site, sizeof site),
            at ? ", and is at " : "", at ? at : "");
}

static void *watch(void *unused)
{
    uint64_t before = 0, said = 0, turn;
    for (;;) {
        pause_for(patience);
        const pf_self_t *self = pf_layer_computing(&turn);
        if (self && self->shmem && turn == before && turn != said) {
            say(self->shmem);
            said = turn;
        }
        before = turn;
    }
    return unused;
}

/* All signals are for the thread of the simulation. The thread ends with the process. */
void pf_shmem_watch(void)
{
    static bool watches;
    sigset_t all, kept;
    pthread_t thread;
    patience = pf_layer_spin_hint();
    if (watches || !(patience > 0))
        return;
    watches = true;
    seen.count = backtrace(seen.frames, FRAMES); /* loads what it needs, which a handler must not */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &kept);
    if (pthread_create(&thread, NULL, watch, NULL) == 0)
        pthread_detach(thread);
    pthread_sigmask(SIG_SETMASK, &kept, NULL);
}
