/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Functions of the C library that wait: they wait in simulated time, in which the other ranks go on. Those
 * that wait for something or for a date look whether it is there, and otherwise again when the date has come.
 */
#include "middleware/process/libc.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <sched.h>
#include <semaphore.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#include <simgrid/actor.h>
#include <simgrid/engine.h>

#include "base/log.h"
#include "base/self.h"
#include "middleware/compute/compute.h"
#include "middleware/core/rank.h"
#include "middleware/process/libc_alarm.h"

/* SimGrid's side. Its headers rename the C library's functions, hence these declarations. */
unsigned int smpi_sleep(unsigned int seconds);
int smpi_usleep(useconds_t microseconds);
int smpi_nanosleep(const struct timespec *request, struct timespec *remain);

static bool valid(const struct timespec *time)
{
    return time->tv_sec >= 0 && time->tv_nsec >= 0 && time->tv_nsec < 1000000000;
}

static double seconds_of(const struct timespec *time)
{
    return (double)time->tv_sec + (double)time->tv_nsec * 1e-9;
}

/* Without a look at signals. */
static void sleep_on(const struct timespec *request)
{
    if (pf_libc_without_mpi()) {
        pf_libc_spend(seconds_of(request));
        return;
    }
    struct pf_rank *r = pf_libc_enter();
    smpi_nanosleep(request, NULL);
    pf_libc_leave(r);
}

/* Up to the rank's next SIGALRM whose handler is called (true: what is left then), or all of it. */
static bool sleep_up_to_signal(double *seconds)
{
    while (*seconds > 0) {
        double left = pf_alarm_left(), part = fmin(left, *seconds);
        const struct timespec wait = pf_libc_timespec(left <= *seconds ? part + 1e-9 : part); /* not before */
        sleep_on(&wait);
        *seconds -= part;
        if (pf_alarm_ring())
            return true;
    }
    return false;
}

unsigned int pf_libc_sleep(unsigned int seconds)
{
    if (!pf_libc_simulated())
        return sleep(seconds);
    double left = seconds;
    if (pf_alarm_left() <= left)
        return sleep_up_to_signal(&left) ? (unsigned int)round(left) : 0;
    if (pf_libc_without_mpi()) {
        pf_libc_spend(seconds);
        return 0;
    }
    struct pf_rank *r = pf_libc_enter();
    unsigned int rest = smpi_sleep(seconds);
    pf_libc_leave(r);
    return rest;
}

static int sleep_interruptibly(double *seconds)
{
    if (!sleep_up_to_signal(seconds))
        return 0;
    errno = EINTR;
    return -1;
}

int pf_libc_usleep(useconds_t microseconds)
{
    if (!pf_libc_simulated())
        return usleep(microseconds);
    double left = microseconds * 1e-6;
    if (pf_alarm_left() <= left)
        return sleep_interruptibly(&left);
    if (pf_libc_without_mpi()) {
        pf_libc_spend(microseconds * 1e-6);
        return 0;
    }
    struct pf_rank *r = pf_libc_enter();
    int result = smpi_usleep(microseconds);
    pf_libc_leave(r);
    return result;
}

int pf_libc_nanosleep(const struct timespec *request, struct timespec *remain)
{
    if (!pf_libc_simulated())
        return nanosleep(request, remain);
    if (!valid(request)) {
        errno = EINVAL;
        return -1;
    }
    double left = seconds_of(request);
    if (pf_alarm_left() > left) {
        sleep_on(request);
        return 0;
    }
    int result = sleep_interruptibly(&left);
    if (result != 0 && remain)
        *remain = pf_libc_timespec(left);
    return result;
}

/* Does a run that is compared with stock smpirun not see this wait? */
static bool unseen(void)
{
    const pf_self_t *self = pf_self();
    const struct pf_rank *r = self ? self->mpi : NULL;
    return r && r->state == PF_RANK_RUNNING && r->model == PF_MODEL_SMPI && !pf_compute_measures();
}

int pf_libc_clock_nanosleep(clockid_t clock, int flags, const struct timespec *request,
                            struct timespec *remain)
{
    if (!pf_libc_simulated())
        return clock_nanosleep(clock, flags, request, remain);
    if (!valid(request))
        return EINVAL;
    struct timespec wait = *request;
    if (flags & TIMER_ABSTIME)
        wait = pf_libc_timespec(pf_libc_until(request, unseen()));
    if (!unseen() || isfinite(pf_alarm_left()))
        return pf_libc_nanosleep(&wait, remain) ? errno : 0; /* it returns the code */
    pf_libc_drift((double)wait.tv_sec + (double)wait.tv_nsec / 1e9);
    return 0;
}

int pf_libc_thrd_sleep(const struct timespec *request, struct timespec *remain)
{
    return pf_libc_nanosleep(request, remain) == 0 ? 0 : errno == EINTR ? -1 : -2;
}

/* All of it, whatever signals come meanwhile. */
static void pass(double seconds)
{
    struct timespec wait = pf_libc_timespec(seconds);
    while (pf_libc_nanosleep(&wait, &wait) != 0) {
    }
}

/* Up to a date, which the clocks, in whole nanoseconds, show then. */
static void pass_to_date(double left)
{
    pass(left + 1e-9);
}

/* ---- descriptors: they are real, and processes outside the simulation may have them ---- */

int pf_libc_poll(struct pollfd *fds, nfds_t count, int timeout)
{
    if (!pf_libc_simulated() || timeout <= 0)
        return poll(fds, count, timeout);
    int found = poll(fds, count, 0);
    if (found != 0)
        return found;
    pass(timeout * 1e-3);
    return poll(fds, count, 0);
}

int pf_libc___poll_chk(struct pollfd *fds, nfds_t count, int timeout, size_t size)
{
    return pf_libc_poll(fds, count, timeout);
}

static const struct timespec at_once;

static bool waits(const struct timespec *timeout)
{
    return pf_libc_simulated() && timeout && valid(timeout) && (timeout->tv_sec || timeout->tv_nsec);
}

int pf_libc_ppoll(struct pollfd *fds, nfds_t count, const struct timespec *timeout, const sigset_t *mask)
{
    if (!waits(timeout))
        return ppoll(fds, count, timeout, mask);
    int found = ppoll(fds, count, &at_once, mask);
    if (found != 0)
        return found;
    pf_libc_nanosleep(timeout, NULL);
    return ppoll(fds, count, &at_once, mask);
}

int pf_libc___ppoll_chk(struct pollfd *fds, nfds_t count, const struct timespec *timeout,
                        const sigset_t *mask, size_t size)
{
    return pf_libc_ppoll(fds, count, timeout, mask);
}

int pf_libc_pselect(int count, fd_set *reads, fd_set *writes, fd_set *others, const struct timespec *timeout,
                    const sigset_t *mask)
{
    if (!waits(timeout))
        return pselect(count, reads, writes, others, timeout, mask);
    fd_set *sets[3] = {reads, writes, others}, asked[3];
    for (int i = 0; i < 3; i++)
        if (sets[i])
            asked[i] = *sets[i];
    int found = pselect(count, reads, writes, others, &at_once, mask);
    if (found != 0)
        return found;
    pf_libc_nanosleep(timeout, NULL);
    for (int i = 0; i < 3; i++)
        if (sets[i])
            *sets[i] = asked[i];
    return pselect(count, reads, writes, others, &at_once, mask);
}

int pf_libc_select(int count, fd_set *reads, fd_set *writes, fd_set *others, struct timeval *timeout)
{
    if (!pf_libc_simulated() || !timeout || timeout->tv_sec < 0 || timeout->tv_usec < 0)
        return select(count, reads, writes, others, timeout);
    const struct timespec wait = {.tv_sec = timeout->tv_sec + timeout->tv_usec / 1000000,
                                  .tv_nsec = timeout->tv_usec % 1000000 * 1000};
    int found = pf_libc_pselect(count, reads, writes, others, &wait, NULL);
    if (found == 0)
        *timeout = (struct timeval){0}; /* what is left, as Linux does */
    return found;
}

int pf_libc_epoll_pwait(int epoll, struct epoll_event *events, int most, int timeout, const sigset_t *mask)
{
    if (!pf_libc_simulated() || timeout <= 0)
        return epoll_pwait(epoll, events, most, timeout, mask);
    int found = epoll_pwait(epoll, events, most, 0, mask);
    if (found != 0)
        return found;
    pass(timeout * 1e-3);
    return epoll_pwait(epoll, events, most, 0, mask);
}

int pf_libc_epoll_wait(int epoll, struct epoll_event *events, int most, int timeout)
{
    return pf_libc_epoll_pwait(epoll, events, most, timeout, NULL);
}

/* ---- threads: those that the program has made next to its rank live in real time ---- */

/* Dates of the monotonic clock come from std::chrono, those of the other one from clock_gettime(). */
static double left_until(const struct timespec *date, clockid_t clock)
{
    return pf_libc_until(date, clock == CLOCK_MONOTONIC);
}

/* Only another thread can end the wait of a rank early. */
static bool has_threads(void)
{
    struct stat tasks;
    return stat("/proc/self/task", &tasks) == 0 && tasks.st_nlink > 2 + 1;
}

/* The date `seconds` from now on the system's own clock. */
static struct timespec real_date(double seconds)
{
    struct timespec now, wait = pf_libc_timespec(seconds);
    clock_gettime(CLOCK_MONOTONIC, &now);
    now.tv_sec += wait.tv_sec + (now.tv_nsec + wait.tv_nsec) / 1000000000;
    now.tv_nsec = (now.tv_nsec + wait.tv_nsec) % 1000000000;
    return now;
}

int pf_libc_pthread_cond_clockwait(pthread_cond_t *condition, pthread_mutex_t *mutex, clockid_t clock,
                                   const struct timespec *date)
{
    if (!pf_libc_simulated() || !valid(date))
        return pthread_cond_clockwait(condition, mutex, clock, date);
    double left = left_until(date, clock);
    if (has_threads()) {
        const struct timespec real = real_date(left);
        int error = pthread_cond_clockwait(condition, mutex, CLOCK_MONOTONIC, &real);
        if (error != ETIMEDOUT)
            return error;
    }
    pthread_mutex_unlock(mutex);
    pass_to_date(left);
    pthread_mutex_lock(mutex);
    return ETIMEDOUT;
}

int pf_libc_pthread_cond_timedwait(pthread_cond_t *condition, pthread_mutex_t *mutex,
                                   const struct timespec *date)
{
    if (!pf_libc_simulated())
        return pthread_cond_timedwait(condition, mutex, date);
    return pf_libc_pthread_cond_clockwait(condition, mutex, CLOCK_REALTIME, date);
}

int pf_libc_pthread_mutex_clocklock(pthread_mutex_t *mutex, clockid_t clock, const struct timespec *date)
{
    if (!pf_libc_simulated() || !valid(date))
        return pthread_mutex_clocklock(mutex, clock, date);
    int error = pthread_mutex_trylock(mutex);
    if (error != EBUSY)
        return error;
    double left = left_until(date, clock);
    if (has_threads()) {
        const struct timespec real = real_date(left);
        error = pthread_mutex_clocklock(mutex, CLOCK_MONOTONIC, &real);
        if (error != ETIMEDOUT)
            return error;
    }
    pass_to_date(left);
    return pthread_mutex_trylock(mutex) == 0 ? 0 : ETIMEDOUT;
}

int pf_libc_pthread_mutex_timedlock(pthread_mutex_t *mutex, const struct timespec *date)
{
    if (!pf_libc_simulated())
        return pthread_mutex_timedlock(mutex, date);
    return pf_libc_pthread_mutex_clocklock(mutex, CLOCK_REALTIME, date);
}

int pf_libc_sem_clockwait(sem_t *semaphore, clockid_t clock, const struct timespec *date)
{
    if (!pf_libc_simulated() || !valid(date))
        return sem_clockwait(semaphore, clock, date);
    int taken = sem_trywait(semaphore);
    if (taken == 0 || errno != EAGAIN)
        return taken;
    double left = left_until(date, clock);
    if (has_threads()) {
        const struct timespec real = real_date(left);
        taken = sem_clockwait(semaphore, CLOCK_MONOTONIC, &real);
        if (taken == 0 || errno != ETIMEDOUT)
            return taken;
    }
    pass_to_date(left);
    if (sem_trywait(semaphore) == 0)
        return 0;
    errno = ETIMEDOUT;
    return -1;
}

int pf_libc_sem_timedwait(sem_t *semaphore, const struct timespec *date)
{
    if (!pf_libc_simulated())
        return sem_timedwait(semaphore, date);
    return pf_libc_sem_clockwait(semaphore, CLOCK_REALTIME, date);
}

/* The C library's own types for these are those of pthread. */
static int of_c11(int error)
{
    return error == 0 ? thrd_success : error == ETIMEDOUT ? thrd_timedout : thrd_error;
}

int pf_libc_cnd_timedwait(cnd_t *condition, mtx_t *mutex, const struct timespec *date)
{
    return of_c11(
        pf_libc_pthread_cond_timedwait((pthread_cond_t *)condition, (pthread_mutex_t *)mutex, date));
}

int pf_libc_mtx_timedlock(mtx_t *mutex, const struct timespec *date)
{
    return of_c11(pf_libc_pthread_mutex_timedlock((pthread_mutex_t *)mutex, date));
}

/* A rank that yields to another rank, which needs time to pass, and not to a thread. */
int pf_libc_sched_yield(void)
{
    int result = sched_yield();
    if (pf_libc_simulated() && !has_threads())
        pf_libc_yielded();
    return result;
}

void pf_libc_thrd_yield(void)
{
    pf_libc_sched_yield();
}

/* ---- these come in real time ---- */

void pf_alarm_warn(const char *function)
{
    static const char *warned[8];
    size_t i = 0;
    if (!function || !pf_libc_simulated())
        return;
    while (i < sizeof warned / sizeof warned[0] - 1 && warned[i] && strcmp(warned[i], function) != 0)
        i++;
    if (warned[i])
        return;
    warned[i] = function;
    pf_warn(
        "rank %d calls %s, which counts real time, and not that of the simulation, for the process of all "
        "ranks",
        (int)sg_actor_self_get_pid() - 1, function);
}

int pf_libc_timer_create(clockid_t clock, struct sigevent *event, timer_t *timer)
{
    pf_alarm_warn("timer_create()");
    return timer_create(clock, event, timer);
}

int pf_libc_timerfd_create(int clock, int flags)
{
    pf_alarm_warn("timerfd_create()");
    return timerfd_create(clock, flags);
}
