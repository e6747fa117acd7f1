/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * SIGALRM of a rank in simulated time: alarm(), ualarm() and setitimer(ITIMER_REAL). The date of the next one
 * stands with the rank, and whatever makes the rank's time pass looks at it: sleeps end there, calls of MPI
 * and reads of clocks run the handler before they begin. The handler is called as a function.
 */
#include "middleware/process/libc.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/self.h"
#include "middleware/core/rank.h"
#include "middleware/process/libc_alarm.h"
#include "middleware/process/libc_process.h"

#define SAME 1e-9 /* s: clocks show whole nanoseconds */

static struct pf_process *of_rank(void)
{
    return pf_libc_simulated() ? pf_process() : NULL;
}

/* Its calls go the slow way, which looks at the date. */
static void close_calls(struct pf_rank *r, bool close)
{
    if (!r || r->alarmed == close)
        return;
    r->alarmed = close;
    if (close)
        r->open_without_alarm = r->open;
    r->open = !close && r->open_without_alarm && r->state == PF_RANK_RUNNING;
}

static struct pf_rank *rank(void)
{
    const pf_self_t *self = pf_self();
    return self ? self->mpi : NULL;
}

static void set(struct pf_process *p, double date, double interval)
{
    p->alarm = date;
    p->alarm_interval = interval;
    close_calls(rank(), date > 0);
}

void pf_alarm_begin(struct pf_rank *r)
{
    const struct pf_process *p = of_rank();
    close_calls(r, p && p->alarm > 0);
}

static int
    ringing; /* ranks whose handler runs: it is these that have blocked the signal, and for themselves */

static void leave_handler(struct pf_process *p)
{
    p->rings = false;
    ringing--;
}

static bool is_blocked(struct pf_process *p)
{
    bool blocked = pf_signal_is_blocked(SIGALRM);
    if (!blocked && p->rings) /* the handler has jumped out of itself, or has unblocked the signal */
        leave_handler(p);
    return blocked && (p->rings || ringing == 0);
}

static void set_mask(int how)
{
    sigset_t alarm;
    sigemptyset(&alarm);
    sigaddset(&alarm, SIGALRM);
    sigprocmask(how, &alarm, NULL);
}

double pf_alarm_left(void)
{
    struct pf_process *p = of_rank();
    return p && p->alarm > 0 && !is_blocked(p) ? fmax(p->alarm - pf_libc_now(), 0) : INFINITY;
}

/* The signal that was due: the next one, if it comes again. Those that were missed come once. */
static void take(struct pf_process *p, double now)
{
    double missed = p->alarm_interval > 0 ? floor((now - p->alarm) / p->alarm_interval) : 0;
    set(p, p->alarm_interval > 0 ? p->alarm + (missed + 1) * p->alarm_interval : 0, p->alarm_interval);
}

bool pf_alarm_ring(void)
{
    struct pf_process *p = of_rank();
    double now = p && p->alarm > 0 ? pf_libc_now() + SAME : 0;
    if (!p || p->alarm <= 0 || now < p->alarm || is_blocked(p))
        return false;
    take(p, now);
    set_mask(SIG_BLOCK);
    p->rings = true;
    ringing++;
    bool came = pf_signal_come(p, SIGALRM);
    if (p->rings)
        leave_handler(p);
    if (ringing == 0)
        set_mask(SIG_UNBLOCK);
    return came;
}

void pf_alarm_look(void)
{
    pf_alarm_ring();
}

/* ---- the functions ---- */

static double seconds_of(const struct timeval *value)
{
    return (double)value->tv_sec + 1e-6 * (double)value->tv_usec;
}

static struct timeval timeval_of(double seconds)
{
    double us = ceil(fmax(seconds - SAME, 0) * 1e6);
    return (struct timeval){.tv_sec = (time_t)(us / 1e6), .tv_usec = (suseconds_t)fmod(us, 1e6)};
}

static double left_of(const struct pf_process *p)
{
    return p->alarm > 0 ? fmax(p->alarm - pf_libc_now(), SAME) : 0;
}

/* What is left of the last one. */
static double again(struct pf_process *p, double seconds, double interval)
{
    double left = left_of(p);
    set(p, seconds > 0 ? pf_libc_now() + seconds : 0, interval);
    return left;
}

unsigned int pf_libc_alarm(unsigned int seconds)
{
    struct pf_process *p = of_rank();
    return p ? (unsigned int)ceil(again(p, seconds, 0) - SAME) : alarm(seconds);
}

useconds_t pf_libc_ualarm(useconds_t value, useconds_t interval)
{
    struct pf_process *p = of_rank();
    return p ? (useconds_t)(1e6 * again(p, 1e-6 * value, 1e-6 * interval)) : ualarm(value, interval);
}

int pf_libc_getitimer(int which, struct itimerval *value)
{
    struct pf_process *p = which == ITIMER_REAL ? of_rank() : NULL;
    if (!p)
        return getitimer((__itimer_which_t)which, value);
    *value = (struct itimerval){.it_value = timeval_of(left_of(p)),
                                .it_interval = timeval_of(p->alarm_interval + SAME)};
    return 0;
}

int pf_libc_setitimer(int which, const struct itimerval *value, struct itimerval *old)
{
    struct pf_process *p = which == ITIMER_REAL ? of_rank() : NULL;
    if (!p) {
        pf_alarm_warn(value && (value->it_value.tv_sec || value->it_value.tv_usec)
                          ? "setitimer() of processor time"
                          : NULL);
        return setitimer((__itimer_which_t)which, value, old);
    }
    if (old)
        pf_libc_getitimer(which, old);
    if (value && (value->it_value.tv_usec < 0 || value->it_value.tv_usec > 999999 ||
                  value->it_interval.tv_usec < 0 || value->it_interval.tv_usec > 999999)) {
        errno = EINVAL;
        return -1;
    }
    if (value)
        again(p, seconds_of(&value->it_value), seconds_of(&value->it_interval));
    return 0;
}

/* Until a handler has been called; others may be ignored. */
static int wait_for_alarm(void)
{
    int result = 0;
    while (result == 0 && isfinite(pf_alarm_left())) {
        const struct timespec rest = pf_libc_timespec(pf_alarm_left() + 2 * SAME);
        result = pf_libc_nanosleep(&rest, NULL);
    }
    errno = EINTR;
    return -1;
}

int pf_libc_pause(void)
{
    if (isfinite(pf_alarm_left()))
        return wait_for_alarm();
    pf_alarm_warn("pause()");
    return pause();
}

/* A program blocks SIGALRM up to here, so that none comes before it waits. */
int pf_libc_sigsuspend(const sigset_t *set)
{
    const struct pf_process *p = of_rank();
    sigset_t before;
    if (!p || p->alarm <= 0 || sigismember(set, SIGALRM))
        return sigsuspend(set);
    sigprocmask(SIG_SETMASK, set, &before);
    int result = wait_for_alarm();
    sigprocmask(SIG_SETMASK, &before, NULL);
    return result;
}

static void sleep_for(double seconds)
{
    const struct timespec rest = pf_libc_timespec(seconds + 2 * SAME);
    if (seconds > 0)
        pf_libc_nanosleep(&rest, NULL);
}

/* A program has blocked SIGALRM, and takes it without a handler. Other signals come from outside of the
 * simulation: they are looked for, and waited for where nothing else can come. */
int pf_libc_sigtimedwait(const sigset_t *set, siginfo_t *info, const struct timespec *timeout)
{
    struct pf_process *p = of_rank();
    bool alarm = p && p->alarm > 0 && sigismember(set, SIGALRM) == 1;
    if (!p || (!alarm && !timeout)) {
        pf_alarm_warn(p ? "sigwait()" : NULL);
        return sigtimedwait(set, info, timeout);
    }
    const struct timespec at_once = {0, 0};
    double limit = timeout ? (double)timeout->tv_sec + 1e-9 * (double)timeout->tv_nsec : INFINITY;
    int other = sigtimedwait(set, info, &at_once);
    if (other > 0 || errno != EAGAIN)
        return other;
    double due = alarm ? fmax(p->alarm - pf_libc_now(), 0) : INFINITY;
    sleep_for(fmin(due, limit));
    if (due > limit) {
        errno = EAGAIN;
        return -1;
    }
    take(p, pf_libc_now() + SAME);
    if (info)
        *info = (siginfo_t){.si_signo = SIGALRM, .si_code = SI_KERNEL};
    return SIGALRM;
}

int pf_libc_sigwaitinfo(const sigset_t *set, siginfo_t *info)
{
    return pf_libc_sigtimedwait(set, info, NULL);
}

int pf_libc_sigwait(const sigset_t *set, int *signal)
{
    int came = pf_libc_sigtimedwait(set, NULL, NULL);
    if (came > 0)
        *signal = came;
    return came > 0 ? 0 : errno;
}
