/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The clocks of the C and C++ libraries. A rank has one clock, which all of them show: simulated time, and
 * what the rank has computed and spent on reading clocks that is not charged yet.
 *
 * Every read advances it, or a program that waits for a date would never get there. Those that stock SMPI
 * sees cost what it charges for them, at once unless owes(). It does not see the others, so in `smpi` they
 * cost nothing: they run ahead of simulated time, each rank's on its own (`drift`). There, a rank that does
 * nothing but read waits for a date, and pays as far as it pays for computation. In the other models each
 * read is a debt (pf_rank.owed), paid with the next call, or when it has become long.
 */
#include "middleware/process/libc.h"

#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <string.h>
#include <sys/time.h>
#include <sys/timeb.h>
#include <sys/times.h>
#include <time.h>
#include <unistd.h>

#include <simgrid/actor.h>
#include <simgrid/engine.h>
#include <xbt/config.h>

#include "base/memory.h"
#include "base/self.h"
#include "middleware/compute/compute.h"
#include "middleware/comm/routing.h"
#include "middleware/core/job_state.h"
#include "middleware/process/libc_alarm.h"
#include "middleware/process/libc_openmp.h"

/* SimGrid's side. Its headers rename the C library's functions, hence the declaration. */
double smpi_wtime(void) __asm__("PMPI_Wtime"); /* mpi.h gives that name to the middleware's */

#define STEP 1e-8 /* s, of a read without a price: the default of smpi/wtime */
#define DEBT 1e-6 /* s, that a rank owes at most */

/* So many reads between which nothing happens, computation of so many ns at most: the rank waits. */
enum { PATIENCE = 1000, NOTHING_NS = 1000 };

/* Of each actor, from its start on, which may be long before MPI_Init. */
struct rank_clock {
    double drift;      /* s that its answers are ahead of what is charged */
    double date;       /* of the last read, in simulated time */
    uint64_t computed; /* of the rank at the last read */
    unsigned row;      /* reads since anything else happened */
};

/* The last answer to anybody, and to a rank: they differ when a thread has read since. */
static double latest, to_rank;

static struct rank_clock *clock_of_caller(void)
{
    static struct rank_clock **all;
    static size_t count;
    size_t pid = (size_t)sg_actor_self_get_pid();
    if (pid >= count) {
        all = pf_reallocarray(all, pid + 1, sizeof *all);
        while (count <= pid)
            all[count++] = pf_calloc(1, sizeof **all);
    }
    return all[pid];
}

static struct pf_rank *rank_of_caller(void)
{
    const pf_self_t *self = pf_self();
    return self ? self->mpi : NULL;
}

static double wtime(void)
{
    static double price = -1;
    if (price < 0)
        price = sg_cfg_get_double("smpi/wtime");
    return price;
}

/* Where the simulation is for the rank, which may be ahead of it in the analytic model. */
static double date_of(const struct pf_rank *r)
{
    return simgrid_get_clock() + (r && r->ahead ? r->ahead->ops->ahead(r->ahead) : 0);
}

/* A read begins: has anything happened since the last one? An interrupt may look like computation. */
static void count_read(struct rank_clock *clock, const struct pf_rank *r)
{
    uint64_t computed = r && r->account ? r->account->computed : 0;
    if (date_of(r) != clock->date)
        clock->row = 0;
    else if (computed - clock->computed >= NOTHING_NS)
        clock->row -= (clock->row + 3) / 4;
    else if (clock->row < 4 * PATIENCE)
        clock->row++;
    clock->computed = computed;
}

static bool waits(void)
{
    struct rank_clock *clock = clock_of_caller();
    const struct pf_rank *r = rank_of_caller();
    count_read(clock, r);
    clock->date = date_of(r);
    return clock->row > PATIENCE;
}

/* A call that stands still while the rank waits: simulated time has to pass. */
static void pass_step(void)
{
    sg_actor_sleep_for(10 * STEP);
    clock_of_caller()->date = date_of(rank_of_caller());
}

/* A charged clock has shown a date: what the read has cost is nothing that has happened. */
static double show(struct rank_clock *clock, double shown)
{
    clock->date = date_of(rank_of_caller());
    if (clock->row > PATIENCE && simgrid_get_clock() == shown)
        pass_step();
    return shown;
}

double pf_libc_clock_read(double shown)
{
    if (sg_actor_self() && simgrid_get_clock() == shown && waits())
        pass_step();
    return shown;
}

void pf_libc_yielded(void)
{
    if (waits())
        pass_step();
}

bool pf_libc_without_mpi(void)
{
    const pf_self_t *self = pf_self();
    return self && self->mpi && self->mpi->state == PF_RANK_NEW;
}

struct pf_rank *pf_libc_enter(void)
{
    struct pf_rank *r = pf_compute_call();
    if (r && pf_compute_on)
        pf_compute_point(r, NULL, true);
    return r;
}

void pf_libc_leave(struct pf_rank *r)
{
    if (r && pf_compute_on)
        pf_compute_slept(r);
    pf_compute_return(r);
}

double pf_libc_spend(double seconds)
{
    struct pf_rank *r = pf_libc_enter();
    if (r) {
        pf_compute_charge(r);
        pf_compute_pay(r);
    }
    double now = simgrid_get_clock();
    sg_actor_sleep_for(seconds);
    pf_libc_leave(r);
    return now;
}

/* What MPI_Wtime of SMPI returns and costs; before MPI_Init and after MPI_Finalize it costs nothing, and
 * stock SMPI shows the real time in the other clocks. */
static double charged_clock(void)
{
    struct rank_clock *clock = clock_of_caller();
    double now;
    count_read(clock, rank_of_caller());
    if (pf_libc_without_mpi()) { /* the same price, so that a program that waits for a date gets there */
        now = pf_libc_spend(wtime());
    } else {
        struct pf_rank *r = pf_libc_enter();
        if (r)
            pf_call_settle(r);
        now = smpi_wtime();
        pf_libc_leave(r);
    }
    return show(clock, now);
}

/* The step of a read that is not charged at once, of a clock that stock SMPI sees or not. */
static void advance(struct rank_clock *clock, struct pf_rank *r, bool seen)
{
    double price = r && (seen || r->model != PF_MODEL_SMPI) ? wtime() : 0;
    if (r && price > 0) {
        double now = simgrid_get_clock(); /* the sum is rounded as if each read were charged at once */
        r->owed = now + r->owed + price - now;
    } else {
        clock->drift += STEP;
        if (r && r->model == PF_MODEL_SMPI && pf_compute_measures() && clock->row > PATIENCE) {
            r->owed += clock->drift;
            clock->drift = 0;
        }
    }
    if (r && r->owed >= DEBT)
        pf_compute_pay(r);
    if (!r && clock->row > PATIENCE && clock->drift >= DEBT) { /* before MPI_Init, after MPI_Finalize */
        sg_actor_sleep_for(clock->drift);
        clock->drift = 0;
    }
}

static double read_free(struct pf_rank *r, bool seen)
{
    struct rank_clock *clock = clock_of_caller();
    double drift = seen && r && r->model == PF_MODEL_SMPI ? 0 : clock->drift; /* as stock SMPI shows it */
    double now = date_of(r) + drift + (r ? r->owed + pf_compute_due(r) : 0);
    if (latest != to_rank && now <= latest) { /* it sees what its threads have seen */
        clock->drift += latest - now + STEP;
        now = latest + STEP;
    }
    latest = to_rank = now;
    count_read(clock, r);
    advance(clock, r, seen);
    clock->date = date_of(r);
    return now;
}

static double free_clock(bool seen)
{
    struct pf_rank *r = pf_compute_call();
    double now = read_free(r, seen);
    pf_compute_return(r);
    return now;
}

/* A thread that the program has made next to its rank goes on where a rank has read last. */
double pf_libc_clock_of_thread(void)
{
    double now = pf_openmp_date(), last;
    if (now > 0)
        return now;
    __atomic_load(&latest, &last, __ATOMIC_RELAXED);
    do
        now = fmax(last, simgrid_get_clock()) + STEP;
    while (!__atomic_compare_exchange(&latest, &last, &now, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
    return now;
}

/* A read that is seen can be a debt like the others: the price is the same, and 100 reads stop the simulation
 * once. Not where the run must equal stock smpirun, or a computation ends with the read, unless the rank does
 * nothing but read. */
static bool owes(const struct pf_rank *r)
{
    return r && pf_compute_counts(r) && !pf_compute_on && wtime() > 0 &&
           ((r->model != PF_MODEL_SMPI && !pf_compute_measures()) || clock_of_caller()->row > PATIENCE);
}

double pf_libc_wtime(struct pf_rank *r)
{
    if (owes(r))
        return read_free(r, true);
    struct rank_clock *clock = clock_of_caller();
    count_read(clock, r);
    pf_call_settle(r);
    return show(clock, r->base->fn->Wtime());
}

bool pf_libc_in_thread(void)
{
    return pf_job_state.ranks && !pf_job_state.over && !pf_in_child() &&
           !pthread_equal(pthread_self(), pf_job_state.thread);
}

/* Whose clock the caller sees. */
enum caller { REAL, RANK, THREAD };

static enum caller who_asks(void)
{
    if (pf_libc_simulated())
        return RANK;
    return pf_libc_in_thread() ? THREAD : REAL;
}

/* False: the real clocks are asked. */
static bool read_clock(bool seen, double *now)
{
    enum caller caller = who_asks();
    if (caller == THREAD)
        *now = pf_libc_clock_of_thread();
    else if (caller == RANK)
        pf_alarm_look();
    if (caller == RANK)
        *now = seen && !owes(rank_of_caller()) ? charged_clock() : free_clock(seen);
    return caller != REAL;
}

double pf_libc_now(void)
{
    const struct pf_rank *r = rank_of_caller();
    return date_of(r) + (r ? r->owed + pf_compute_due(r) : 0);
}

void pf_libc_drift(double seconds)
{
    clock_of_caller()->drift += seconds;
}

double pf_libc_until(const struct timespec *date, bool drifted)
{
    struct pf_rank *r = rank_of_caller();
    double now = date_of(r) + (r ? r->owed : 0) + (drifted ? clock_of_caller()->drift : 0);
    double left = (double)date->tv_sec + (double)date->tv_nsec / 1e9 - now;
    return left > 0 ? left : 0;
}

struct timespec pf_libc_timespec(double seconds)
{
    double whole = trunc(seconds);
    return (struct timespec){.tv_sec = (time_t)whole, .tv_nsec = (long)((seconds - whole) * 1e9)};
}

static struct timeval to_timeval(double seconds)
{
    double whole = trunc(seconds);
    return (struct timeval){.tv_sec = (time_t)whole, .tv_usec = (suseconds_t)((seconds - whole) * 1e6)};
}

static int get_time_of_day(struct timeval *tv, void *tz, bool seen)
{
    double now;
    if (!read_clock(seen, &now))
        return gettimeofday(tv, tz);
    if (tv)
        *tv = to_timeval(now);
    if (tz)
        memset(tz, 0, sizeof(struct timezone));
    return 0;
}

int pf_libc_gettimeofday(struct timeval *tv, void *tz)
{
    return get_time_of_day(tv, tz, true);
}

int pf_unseen_gettimeofday(struct timeval *tv, void *tz)
{
    return get_time_of_day(tv, tz, false);
}

/* There is one time in the simulation, so every clock shows it, those of processor time too. */
static int get_clock(clockid_t clock, struct timespec *ts, bool seen)
{
    double now;
    if (!ts) {
        errno = EFAULT;
        return -1;
    }
    if ((clock > CLOCK_TAI && clock_getres(clock, NULL) != 0) || !read_clock(seen, &now))
        return clock_gettime(clock, ts);
    *ts = pf_libc_timespec(now);
    return 0;
}

int pf_libc_clock_gettime(clockid_t clock, struct timespec *ts)
{
    return get_clock(clock, ts, true);
}

int pf_unseen_clock_gettime(clockid_t clock, struct timespec *ts)
{
    return get_clock(clock, ts, false);
}

time_t pf_libc_time(time_t *t)
{
    double now;
    if (!read_clock(false, &now))
        return time(t);
    if (t)
        *t = (time_t)now;
    return (time_t)now;
}

clock_t pf_libc_clock(void)
{
    double now;
    return read_clock(false, &now) ? (clock_t)(now * CLOCKS_PER_SEC) : clock();
}

clock_t pf_libc_times(struct tms *buffer)
{
    double now;
    struct pf_rank *r = pf_libc_simulated() ? pf_compute_call() : NULL;
    clock_t real = times(buffer); /* its children are real ones */
    pf_compute_return(r);
    if (!read_clock(false, &now))
        return real;
    clock_t ticks = (clock_t)(now * (double)sysconf(_SC_CLK_TCK));
    if (buffer) {
        buffer->tms_utime = ticks;
        buffer->tms_stime = 0;
    }
    return ticks;
}

int pf_libc_getrusage(int whose, struct rusage *usage)
{
    double now;
    struct pf_rank *r = pf_libc_simulated() ? pf_compute_call() : NULL;
    int error = getrusage((__rusage_who_t)whose, usage);
    pf_compute_return(r);
    if (error)
        return -1;
    if (whose != RUSAGE_CHILDREN && read_clock(false, &now)) {
        usage->ru_utime = to_timeval(now);
        usage->ru_stime = (struct timeval){0};
    }
    return 0;
}

int pf_libc_timespec_get(struct timespec *ts, int base)
{
    double now;
    if (base != TIME_UTC || !read_clock(false, &now))
        return timespec_get(ts, base);
    *ts = pf_libc_timespec(now);
    return base;
}

int pf_libc_ftime(struct timeb *tb)
{
    struct timespec now;
    pf_unseen_clock_gettime(CLOCK_REALTIME, &now);
    *tb = (struct timeb){.time = now.tv_sec, .millitm = (unsigned short)(now.tv_nsec / 1000000)};
    return 0;
}

/* std::chrono's clocks: nanoseconds, returned like the time points that they are. Stock SMPI charges for
 * clock_gettime() where the application calls it, and not for what libstdc++ does in its name. */
static int64_t chrono(clockid_t clock)
{
    struct timespec ts;
    pf_unseen_clock_gettime(clock, &ts);
    return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

int64_t pf_libc__ZNSt6chrono3_V212system_clock3nowEv(void)
{
    return chrono(CLOCK_REALTIME);
}

int64_t pf_libc__ZNSt6chrono3_V212steady_clock3nowEv(void)
{
    return chrono(CLOCK_MONOTONIC);
}
