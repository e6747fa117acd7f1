/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <dlfcn.h>
#include <getopt.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/time.h>
#include <sys/timeb.h>
#include <sys/times.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#include <simgrid/actor.h>

#include "base/child.h"
#include "base/export.h"

struct pf_rank;

/*
 * The C library of a rank's program, and of gfortran's run-time library: the functions that loader/libc.def
 * does not leave to the real one. Each means what its namesake does.
 */

/* The name under which the linker leads a reference to `name` here. */
#define WRAPPED(name) __asm__("__wrap_" #name) PF_EXPORT

pid_t pf_libc_getpid(void) WRAPPED(getpid);
int pf_libc_gethostname(char *name, size_t length) WRAPPED(gethostname);
void pf_libc_exit(int status) WRAPPED(exit) __attribute__((noreturn));
int pf_libc_getopt(int argc, char *const *argv, const char *options) WRAPPED(getopt);
int pf_libc_getopt_long(int argc, char *const *argv, const char *options, const struct option *longs,
                        int *index) WRAPPED(getopt_long);
int pf_libc_getopt_long_only(int argc, char *const *argv, const char *options, const struct option *longs,
                             int *index) WRAPPED(getopt_long_only);
char *pf_libc_getenv(const char *name) WRAPPED(getenv);
char *pf_libc_secure_getenv(const char *name) WRAPPED(secure_getenv);
int pf_libc_setenv(const char *name, const char *value, int overwrite) WRAPPED(setenv);
int pf_libc_unsetenv(const char *name) WRAPPED(unsetenv);
int pf_libc_putenv(char *entry) WRAPPED(putenv);
int pf_libc_clearenv(void) WRAPPED(clearenv);
void *pf_libc_dlopen(const char *name, int flags) WRAPPED(dlopen);
char *pf_libc_dlerror(void);
/* Its last error is about a copy of the library at that path. */
void pf_linker_refused(const char *path);
int pf_libc_dladdr(const void *address, Dl_info *info);
void *pf_libc_dlsym(void *handle, const char *name) WRAPPED(dlsym);

/* Clocks (libc_clock.c). */
int pf_libc_gettimeofday(struct timeval *tv, void *tz) WRAPPED(gettimeofday);
int pf_libc_clock_gettime(clockid_t clock, struct timespec *ts) WRAPPED(clock_gettime);
time_t pf_libc_time(time_t *t) WRAPPED(time);
clock_t pf_libc_clock(void) WRAPPED(clock);
clock_t pf_libc_times(struct tms *buffer) WRAPPED(times);
int pf_libc_getrusage(int whose, struct rusage *usage) WRAPPED(getrusage);
int pf_libc_timespec_get(struct timespec *ts, int base) WRAPPED(timespec_get);
int pf_libc_ftime(struct timeb *tb) WRAPPED(ftime);
int64_t pf_libc__ZNSt6chrono3_V212system_clock3nowEv(void) WRAPPED(_ZNSt6chrono3_V212system_clock3nowEv);
int64_t pf_libc__ZNSt6chrono3_V212steady_clock3nowEv(void) WRAPPED(_ZNSt6chrono3_V212steady_clock3nowEv);

/* Waits (libc_wait.c). */
unsigned int pf_libc_sleep(unsigned int seconds) WRAPPED(sleep);
int pf_libc_usleep(useconds_t microseconds) WRAPPED(usleep);
int pf_libc_nanosleep(const struct timespec *request, struct timespec *remain) WRAPPED(nanosleep);
int pf_libc_clock_nanosleep(clockid_t clock, int flags, const struct timespec *request,
                            struct timespec *remain) WRAPPED(clock_nanosleep);
int pf_libc_thrd_sleep(const struct timespec *request, struct timespec *remain) WRAPPED(thrd_sleep);
int pf_libc_poll(struct pollfd *fds, nfds_t count, int timeout) WRAPPED(poll);
int pf_libc___poll_chk(struct pollfd *fds, nfds_t count, int timeout, size_t size) WRAPPED(__poll_chk);
int pf_libc_ppoll(struct pollfd *fds, nfds_t count, const struct timespec *timeout, const sigset_t *mask)
    WRAPPED(ppoll);
int pf_libc___ppoll_chk(struct pollfd *fds, nfds_t count, const struct timespec *timeout,
                        const sigset_t *mask, size_t size) WRAPPED(__ppoll_chk);
int pf_libc_select(int count, fd_set *reads, fd_set *writes, fd_set *others, struct timeval *timeout)
    WRAPPED(select);
int pf_libc_pselect(int count, fd_set *reads, fd_set *writes, fd_set *others, const struct timespec *timeout,
                    const sigset_t *mask) WRAPPED(pselect);
int pf_libc_epoll_wait(int epoll, struct epoll_event *events, int most, int timeout) WRAPPED(epoll_wait);
int pf_libc_epoll_pwait(int epoll, struct epoll_event *events, int most, int timeout, const sigset_t *mask)
    WRAPPED(epoll_pwait);
int pf_libc_pthread_cond_timedwait(pthread_cond_t *condition, pthread_mutex_t *mutex,
                                   const struct timespec *date) WRAPPED(pthread_cond_timedwait);
int pf_libc_pthread_cond_clockwait(pthread_cond_t *condition, pthread_mutex_t *mutex, clockid_t clock,
                                   const struct timespec *date) WRAPPED(pthread_cond_clockwait);
int pf_libc_pthread_mutex_timedlock(pthread_mutex_t *mutex, const struct timespec *date)
    WRAPPED(pthread_mutex_timedlock);
int pf_libc_pthread_mutex_clocklock(pthread_mutex_t *mutex, clockid_t clock, const struct timespec *date)
    WRAPPED(pthread_mutex_clocklock);
int pf_libc_sem_timedwait(sem_t *semaphore, const struct timespec *date) WRAPPED(sem_timedwait);
int pf_libc_sem_clockwait(sem_t *semaphore, clockid_t clock, const struct timespec *date)
    WRAPPED(sem_clockwait);
int pf_libc_cnd_timedwait(cnd_t *condition, mtx_t *mutex, const struct timespec *date) WRAPPED(cnd_timedwait);
int pf_libc_mtx_timedlock(mtx_t *mutex, const struct timespec *date) WRAPPED(mtx_timedlock);
int pf_libc_sched_yield(void) WRAPPED(sched_yield);
void pf_libc_thrd_yield(void) WRAPPED(thrd_yield);
unsigned int pf_libc_alarm(unsigned int seconds) WRAPPED(alarm);
useconds_t pf_libc_ualarm(useconds_t value, useconds_t interval) WRAPPED(ualarm);
int pf_libc_setitimer(int which, const struct itimerval *value, struct itimerval *old) WRAPPED(setitimer);
int pf_libc_timer_create(clockid_t clock, struct sigevent *event, timer_t *timer) WRAPPED(timer_create);
int pf_libc_timerfd_create(int clock, int flags) WRAPPED(timerfd_create);
int pf_libc_pause(void) WRAPPED(pause);

/* The date of the rank, with what it has computed and will be charged. */
double pf_libc_now(void);

/* Whether the caller is a simulated process. */
static inline bool pf_libc_simulated(void)
{
    return sg_actor_self() != NULL && !pf_in_child();
}

/* A rank that has called an interface next to MPI and not MPI: SMPI must not charge it for computation, which
 * it would measure from the beginning of the process on. */
bool pf_libc_without_mpi(void);

/* No MPI call, so it is not counted, but what the rank has computed before ends here. */
struct pf_rank *pf_libc_enter(void);
void pf_libc_leave(struct pf_rank *r);

/* For a rank that has not called MPI. Returns the date before; what it has computed is charged when it has
 * called an interface next to MPI. */
double pf_libc_spend(double seconds);

/* Whether the caller is another thread than that of the ranks, during the run, and the date that it sees,
 * later each time. */
bool pf_libc_in_thread(void);
double pf_libc_clock_of_thread(void);

/* A charged clock has shown this date. Where the read has cost nothing, a rank that waits for the clock must
 * get there all the same. Returns the date. */
double pf_libc_clock_read(double shown);

/* MPI_Wtime, in its call. */
double pf_libc_wtime(struct pf_rank *r);

/* The same for a rank that waits by yielding. */
void pf_libc_yielded(void);

/* Seconds to a date that a clock has shown, 0 if it has passed; `drifted`: one that stock SMPI does not see.
 */
double pf_libc_until(const struct timespec *date, bool drifted);
struct timespec pf_libc_timespec(double seconds);

/* The clocks that stock SMPI does not see advance, and simulated time does not. */
void pf_libc_drift(double seconds);

/* Where stock SMPI sees the call of the program, and not that of a library. */
int pf_unseen_gettimeofday(struct timeval *tv, void *tz);
int pf_unseen_clock_gettime(clockid_t clock, struct timespec *ts);

/* Of middleware/process/imports.def, where others need them. */
int pf_libc_close(int descriptor);
int pf_libc_raise(int signal);
void pf_libc__exit(int status) __attribute__((noreturn));

/* In gfortran's library only. */
void *pf_libc_pthread_getspecific(pthread_key_t key);
int pf_libc_pthread_setspecific(pthread_key_t key, const void *value);
int pf_libc_pthread_key_delete(pthread_key_t key);

/* The function of this name for a program that the linker of pfcc has not led here, NULL where the C
 * library's own is right. */
void *pf_libc_of_program(const char *name);

/* Leads what a copy of gfortran's library in an image imports to those functions. */
void pf_libc_lead_runtime(void *loaded);

/* The function of this name for gfortran's library, NULL where the C library's own is right. */
void *pf_libc_of_runtime(const char *name);
