/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Functions of the C library that must answer from the simulated world: the first column of loader/libc.def.
 * pfcc links applications with --wrap=sleep and so on (tools/pfcc/libc_names.ld), so their references arrive
 * here; nothing is redefined in a header, and C++ and static libraries are covered too. Our own libraries and
 * SimGrid keep the real functions.
 *
 * In a program that runs without pfrun (a test of configure) every function is the C library's.
 */
#include "middleware/process/libc.h"

#include <dlfcn.h>
#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include <simgrid/actor.h>
#include <simgrid/engine.h>
#include <xbt/config.h>

#include "base/child.h"
#include "base/log.h"
#include "base/self.h"
#include "middleware/account/compute.h"
#include "middleware/core/call.h"
#include "middleware/core/rank.h"
#include "middleware/process/private_open.h"
#include "middleware/process/program.h"

/* SimGrid's side. Its headers rename the C library's functions, hence these declarations. */
double smpi_wtime(void) __asm__("PMPI_Wtime"); /* mpi.h gives that name to the hub's */
unsigned int smpi_sleep(unsigned int seconds);
int smpi_usleep(useconds_t microseconds);
int smpi_nanosleep(const struct timespec *request, struct timespec *remain);
int smpi_getopt(int argc, char *const *argv, const char *options);
int smpi_getopt_long(int argc, char *const *argv, const char *options, const struct option *longs,
                     int *index);
int smpi_getopt_long_only(int argc, char *const *argv, const char *options, const struct option *longs,
                          int *index);
void smpi_exit(int status) __attribute__((noreturn));

/* Whether the caller is a simulated process. */
static int simulated(void)
{
    return sg_actor_self() != NULL && !pf_in_child();
}

/* A rank that has called Portals and not MPI: SMPI must not charge it for computation, which it would measure
 * from the beginning of the process on. */
static int portals_only(void)
{
    pf_self_t *self = pf_self();
    return self && self->mpi && self->mpi->state == PF_RANK_NEW;
}

/* No MPI call, so it is not counted, but what the rank has computed before ends here. */
static struct pf_rank *enter(void)
{
    struct pf_rank *r = pf_compute_call();
    if (r && pf_compute_on)
        pf_compute_point(r, NULL, true);
    return r;
}

static void leave(struct pf_rank *r)
{
    if (r && pf_compute_on)
        pf_compute_slept(r);
    pf_compute_return(r);
}

/* For a rank that has not called MPI. Returns the date before; what it has computed is charged when it has
 * called an interface beside MPI. */
static double spend(double seconds)
{
    struct pf_rank *r = enter();
    if (r)
        pf_compute_charge(r);
    double now = simgrid_get_clock();
    sg_actor_sleep_for(seconds);
    leave(r);
    return now;
}

unsigned int pf_libc_sleep(unsigned int seconds)
{
    if (!simulated())
        return sleep(seconds);
    if (portals_only()) {
        spend(seconds);
        return 0;
    }
    struct pf_rank *r = enter();
    unsigned int rest = smpi_sleep(seconds);
    leave(r);
    return rest;
}

int pf_libc_usleep(useconds_t microseconds)
{
    if (!simulated())
        return usleep(microseconds);
    if (portals_only()) {
        spend(microseconds * 1e-6);
        return 0;
    }
    struct pf_rank *r = enter();
    int result = smpi_usleep(microseconds);
    leave(r);
    return result;
}

int pf_libc_nanosleep(const struct timespec *request, struct timespec *remain)
{
    if (!simulated())
        return nanosleep(request, remain);
    if (request->tv_sec < 0 || request->tv_nsec < 0 || request->tv_nsec > 999999999) {
        errno = EINVAL;
        return -1;
    }
    if (portals_only()) {
        spend((double)request->tv_sec + (double)request->tv_nsec * 1e-9);
        return 0;
    }
    struct pf_rank *r = enter();
    int result = smpi_nanosleep(request, remain);
    leave(r);
    return result;
}

/* The rank may be ahead of the clock in the analytic model. */
static void settle(void)
{
    const pf_self_t *self = pf_self();
    if (self && self->mpi)
        pf_call_settle(self->mpi);
}

/* What MPI_Wtime of SMPI returns and costs; also before MPI_Init, when it costs nothing. smpi_gettimeofday
 * would answer with the real time there. */
static double charged_clock(void)
{
    if (portals_only()) /* the same price, so that a program that waits for a date gets there */
        return spend(sg_cfg_get_double("smpi/wtime"));
    struct pf_rank *r = enter();
    settle();
    double now = smpi_wtime();
    leave(r);
    return now;
}

/*
 * For clocks that stock SMPI leaves to the C and C++ libraries. Nobody pays, so that a run agrees with stock
 * smpirun: the answer is where the simulated time will be when what the rank has computed is charged, which
 * its next call does and not this one. A program that waits for the clock to advance would wait for ever;
 * after many equal answers its own clock runs ahead by a little with each, which costs nobody anything
 * either.
 */
static double free_clock(void)
{
    enum { PATIENCE = 1000 };
    const double STEP = 1e-7;
    static struct pf_free_clock early; /* of whoever has not called MPI_Init yet: they can only sleep */
    const pf_self_t *self = pf_self();
    struct pf_rank *r = self ? self->mpi : NULL, *running = pf_compute_call();
    struct pf_free_clock *clock = r ? &r->free_clock : &early;
    double now = simgrid_get_clock();
    if (running)
        now += pf_compute_due(running);
    if (running && running->ahead)
        now += running->ahead->ops->ahead(running->ahead);
    clock->repeats = now == clock->last ? clock->repeats + 1 : 0;
    clock->last = now;
    if (clock->repeats > PATIENCE && r)
        clock->ahead += STEP;
    else if (clock->repeats > PATIENCE)
        sg_actor_sleep_for(STEP);
    pf_compute_return(running);
    return now + clock->ahead;
}

static struct timespec to_timespec(double seconds)
{
    double whole = trunc(seconds);
    return (struct timespec){.tv_sec = (time_t)whole, .tv_nsec = (long)((seconds - whole) * 1e9)};
}

int pf_libc_clock_nanosleep(clockid_t clock, int flags, const struct timespec *request,
                            struct timespec *remain)
{
    if (!simulated())
        return clock_nanosleep(clock, flags, request, remain);
    const pf_self_t *self = pf_self();
    struct pf_rank *r = self ? self->mpi : NULL;
    double ahead = r ? r->free_clock.ahead : 0;
    struct timespec wait = *request;
    if (flags & TIMER_ABSTIME) {
        double left = (double)request->tv_sec + (double)request->tv_nsec / 1e9 - simgrid_get_clock() - ahead;
        wait = to_timespec(left > 0 ? left : 0);
    }
    if (!r || r->state != PF_RANK_RUNNING || r->model != PF_MODEL_SMPI)
        return pf_libc_nanosleep(&wait, remain) ? errno : 0;                 /* it returns the code */
    r->free_clock.ahead += (double)wait.tv_sec + (double)wait.tv_nsec / 1e9; /* stock SMPI does not see it */
    return 0;
}

int pf_libc_gettimeofday(struct timeval *tv, void *tz)
{
    if (!simulated())
        return gettimeofday(tv, tz);
    double now = charged_clock();
    if (tv) {
        tv->tv_sec = (time_t)trunc(now);
        tv->tv_usec = (suseconds_t)((now - trunc(now)) * 1e6);
    }
    if (tz)
        memset(tz, 0, sizeof(struct timezone));
    return 0;
}

/* There is one time in the simulation, so every clock shows it. */
int pf_libc_clock_gettime(clockid_t clock, struct timespec *ts)
{
    if (!ts) {
        errno = EFAULT;
        return -1;
    }
    if (!simulated())
        return clock_gettime(clock, ts);
    *ts = to_timespec(charged_clock());
    return 0;
}

time_t pf_libc_time(time_t *t)
{
    if (!simulated())
        return time(t);
    time_t now = (time_t)free_clock();
    if (t)
        *t = now;
    return now;
}

clock_t pf_libc_clock(void)
{
    return simulated() ? (clock_t)(free_clock() * CLOCKS_PER_SEC) : clock();
}

/* std::chrono's clocks: nanoseconds, returned like the time points that they are. Stock SMPI charges for
 * clock_gettime() where the application calls it, and not for what libstdc++ does in its name. */
static int64_t chrono(void)
{
    double now = free_clock(), whole = trunc(now);
    return (int64_t)whole * 1000000000 + (int64_t)((now - whole) * 1e9);
}

static int64_t real_clock(clockid_t clock)
{
    struct timespec ts;
    clock_gettime(clock, &ts);
    return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

int64_t pf_libc__ZNSt6chrono3_V212system_clock3nowEv(void)
{
    return simulated() ? chrono() : real_clock(CLOCK_REALTIME);
}

int64_t pf_libc__ZNSt6chrono3_V212steady_clock3nowEv(void)
{
    return simulated() ? chrono() : real_clock(CLOCK_MONOTONIC);
}

/* The actor's number, as under stock smpirun. */
pid_t pf_libc_getpid(void)
{
    return simulated() ? (pid_t)sg_actor_self_get_pid() : getpid();
}

int pf_libc_gethostname(char *name, size_t length)
{
    if (!simulated())
        return gethostname(name, length);
    const char *host = sg_host_get_name(sg_host_self());
    if (strlen(host) >= length) {
        errno = ENAMETOOLONG;
        return -1;
    }
    strcpy(name, host);
    return 0;
}

/* Ends this rank, not the simulation. A child's exit handlers would be the simulator's. */
void pf_libc_exit(int status)
{
    if (pf_in_child())
        pf_end_process(status);
    if (!simulated())
        exit(status);
    leave(enter());
    pf_program_exit(status);
    smpi_exit(status); /* an actor that is no rank */
}

/* Each rank opens libraries of its own. */
void *pf_libc_dlopen(const char *name, int flags)
{
    return simulated() ? pf_private_open(name, flags) : dlopen(name, flags);
}

/* All ranks share the C library's optind; SMPI keeps one for each. */
int pf_libc_getopt(int argc, char *const *argv, const char *options)
{
    return simulated() ? smpi_getopt(argc, argv, options) : getopt(argc, argv, options);
}

int pf_libc_getopt_long(int argc, char *const *argv, const char *options, const struct option *longs,
                        int *index)
{
    return simulated() ? smpi_getopt_long(argc, argv, options, longs, index)
                       : getopt_long(argc, argv, options, longs, index);
}

int pf_libc_getopt_long_only(int argc, char *const *argv, const char *options, const struct option *longs,
                             int *index)
{
    return simulated() ? smpi_getopt_long_only(argc, argv, options, longs, index)
                       : getopt_long_only(argc, argv, options, longs, index);
}
