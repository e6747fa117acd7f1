/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Every clock there is shows the same time, and a loop that waits for it ends; every wait takes simulated
 * time. Prints what is wrong. Arguments: "silent" in a run that does not charge what stock SMPI does not see;
 * "early": waits before MPI_Init and after MPI_Finalize only.
 */
#pragma GCC diagnostic ignored "-Wdeprecated-declarations" /* ftime */
#include <mpi.h>

#include <chrono>
#include <cmath>
#include <cerrno>
#include <condition_variable>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <mutex>
#include <thread>

#include <omp.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/time.h>
#include <sys/timeb.h>
#include <sys/times.h>
#include <threads.h>
#include <unistd.h>

static int rank, wrong;
static bool silent;

static void check(bool good, const char *name, const char *what, double value)
{
    if (!good)
        std::printf("rank %d: %s %s %.9g\n", rank, name, what, value);
    wrong += !good;
}

static double seconds(const timespec &t)
{
    return double(t.tv_sec) + double(t.tv_nsec) * 1e-9;
}
static double seconds(const timeval &t)
{
    return double(t.tv_sec) + double(t.tv_usec) * 1e-6;
}

template <clockid_t ID> static double of_clock()
{
    timespec t;
    clock_gettime(ID, &t);
    return seconds(t);
}

template <class C> static double of_chrono()
{
    return std::chrono::duration<double>(C::now().time_since_epoch()).count();
}

template <int WHO> static double usage()
{
    rusage u;
    getrusage(WHO, &u);
    return seconds(u.ru_utime) + seconds(u.ru_stime);
}

static double day()
{
    timeval t;
    gettimeofday(&t, nullptr);
    return seconds(t);
}

static double base()
{
    timespec t;
    timespec_get(&t, TIME_UTC);
    return seconds(t);
}

static double ticks()
{
    tms t;
    clock_t now = times(&t);
    return now == t.tms_utime ? double(now) / double(sysconf(_SC_CLK_TCK)) : -1;
}

static double old_time()
{
    timeb t;
    ftime(&t);
    return double(t.time) + t.millitm * 1e-3;
}

static const struct a_clock {
    const char *name;
    double (*now)();
    double resolution;
    bool seen; /* by stock SMPI */
} clocks[] = {{"MPI_Wtime", MPI_Wtime, 1e-9, true},
              {"gettimeofday", day, 1e-6, true},
              {"CLOCK_REALTIME", of_clock<CLOCK_REALTIME>, 1e-9, true},
              {"CLOCK_MONOTONIC", of_clock<CLOCK_MONOTONIC>, 1e-9, true},
              {"CLOCK_MONOTONIC_RAW", of_clock<CLOCK_MONOTONIC_RAW>, 1e-9, true},
              {"CLOCK_BOOTTIME", of_clock<CLOCK_BOOTTIME>, 1e-9, true},
              {"CLOCK_PROCESS_CPUTIME_ID", of_clock<CLOCK_PROCESS_CPUTIME_ID>, 1e-9, true},
              {"CLOCK_THREAD_CPUTIME_ID", of_clock<CLOCK_THREAD_CPUTIME_ID>, 1e-9, true},
              {"steady_clock", of_chrono<std::chrono::steady_clock>, 1e-9, false},
              {"system_clock", of_chrono<std::chrono::system_clock>, 1e-9, false},
              {"high_resolution_clock", of_chrono<std::chrono::high_resolution_clock>, 1e-9, false},
              {"clock", [] { return double(std::clock()) / CLOCKS_PER_SEC; }, 1e-6, false},
              {"time", [] { return double(std::time(nullptr)); }, 1, false},
              {"times", ticks, 1e-2, false},
              {"getrusage", usage<RUSAGE_SELF>, 1e-6, false},
              {"getrusage of the thread", usage<RUSAGE_THREAD>, 1e-6, false},
              {"timespec_get", base, 1e-9, false},
              {"ftime", old_time, 1e-3, false},
              {"omp_get_wtime", omp_get_wtime, 1e-9, false}};

/* Waits by the clock; one that counts seconds or hundredths is near its next one when the loop begins. */
static void wait_by(const a_clock &clock, bool measures)
{
    double length = std::fmax(200e-6, clock.resolution), rest = 0;
    if (clock.resolution > 1e-3) {
        double now = of_chrono<std::chrono::steady_clock>();
        rest = (std::floor(now / clock.resolution) + 1) * clock.resolution - now - 300e-6;
        usleep(useconds_t(rest > 0 ? rest * 1e6 : 0));
    }
    double begin = MPI_Wtime(), first = clock.now(), before = first, now;
    while ((now = clock.now()) - first < length - 1e-12 && now >= before)
        before = now;
    double took = MPI_Wtime() - begin;
    check(now >= before, clock.name, "goes back by", before - now);
    if (!measures)
        return;
    if (clock.resolution > 1e-3)
        check(silent || (took > 20e-6 && took < 1e-3), clock.name, "ends a wait after", took);
    else if (silent && !clock.seen)
        check(took < 1e-6, clock.name, "costs", took);
    else
        check(std::fabs(took - length) < clock.resolution + (clock.seen ? 5e-6 : 80e-6), clock.name,
              "waits for", took);
}

static void slept(const a_clock &clock)
{
    double first = clock.now();
    usleep(300000);
    double shown = clock.now() - first;
    check(std::fabs(shown - 0.3) < std::fmin(clock.resolution, 0.7) + 1e-5, clock.name, "shows a sleep of",
          shown);
}

static timespec in(double length)
{
    double date = of_clock<CLOCK_REALTIME>() + length;
    return {time_t(date), long((date - std::floor(date)) * 1e9)};
}

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER, held = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static const timespec quarter = {0, 250000000};

static const struct a_wait {
    const char *name;
    int (*wait)();
    int result;
} waits[] = {{"sleep_for",
              [] {
                  std::this_thread::sleep_for(std::chrono::milliseconds(250));
                  return 0;
              },
              0},
             {"sleep_until",
              [] {
                  std::this_thread::sleep_until(std::chrono::steady_clock::now() +
                                                std::chrono::milliseconds(250));
                  return 0;
              },
              0},
             {"nanosleep", [] { return nanosleep(&quarter, nullptr); }, 0},
             {"thrd_sleep", [] { return thrd_sleep(&quarter, nullptr); }, 0},
             {"select",
              [] {
                  timeval t = {0, 250000};
                  return select(0, nullptr, nullptr, nullptr, &t);
              },
              0},
             {"pselect", [] { return pselect(0, nullptr, nullptr, nullptr, &quarter, nullptr); }, 0},
             {"poll", [] { return poll(nullptr, 0, 250); }, 0},
             {"ppoll", [] { return ppoll(nullptr, 0, &quarter, nullptr); }, 0},
             {"epoll_wait",
              [] {
                  epoll_event e;
                  int f = epoll_create1(0), n = epoll_wait(f, &e, 1, 250);
                  close(f);
                  return n;
              },
              0},
             {"epoll_pwait",
              [] {
                  epoll_event e;
                  int f = epoll_create1(0), n = epoll_pwait(f, &e, 1, 250, nullptr);
                  close(f);
                  return n;
              },
              0},
             {"pthread_cond_timedwait",
              [] {
                  timespec t = in(0.25);
                  pthread_mutex_lock(&mutex);
                  int e = pthread_cond_timedwait(&condition, &mutex, &t);
                  pthread_mutex_unlock(&mutex);
                  return e;
              },
              ETIMEDOUT},
             {"pthread_mutex_timedlock",
              [] {
                  timespec t = in(0.25);
                  return pthread_mutex_timedlock(&held, &t);
              },
              ETIMEDOUT},
             {"sem_timedwait",
              [] {
                  sem_t s;
                  sem_init(&s, 0, 0);
                  timespec t = in(0.25);
                  int e = sem_timedwait(&s, &t);
                  return e ? errno : 0;
              },
              ETIMEDOUT},
             {"sem_timedwait of one that is free",
              [] {
                  sem_t s;
                  sem_init(&s, 0, 1);
                  timespec t = in(0);
                  usleep(250000);
                  return sem_timedwait(&s, &t);
              },
              0},
             {"wait_for",
              [] {
                  std::mutex m;
                  std::condition_variable c;
                  std::unique_lock<std::mutex> l(m);
                  return int(c.wait_for(l, std::chrono::milliseconds(250)));
              },
              int(std::cv_status::timeout)},
             {"clock_nanosleep", [] { return clock_nanosleep(CLOCK_MONOTONIC, 0, &quarter, nullptr); }, 0},
             {"clock_nanosleep until",
              [] {
                  timespec t = in(0.25);
                  return clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &t, nullptr);
              },
              0}};

static void wait_for(const a_wait &wait)
{
    bool seen = !silent || std::strncmp(wait.name, "clock_nanosleep", 15) != 0;
    double first = MPI_Wtime(), shown = of_chrono<std::chrono::steady_clock>();
    int result = wait.wait();
    double now = MPI_Wtime();
    shown = of_chrono<std::chrono::steady_clock>() - shown;
    check(result == wait.result, wait.name, "returns", result);
    check(!seen || (now - first > 0.2499 && now - first < 0.2502), wait.name, "takes", now - first);
    if (seen || !std::strstr(wait.name, "until")) /* its date is not that of std::chrono then */
        check(shown > 0.2499 && shown < 0.2502, wait.name, "shows", shown);
}

/* What is ready at once takes no time, and descriptors are as they were. */
static void look_at_descriptors()
{
    int ends[2];
    fd_set set;
    timeval wait = {5, 0};
    if (pipe(ends) != 0)
        return;
    FD_ZERO(&set);
    FD_SET(ends[0], &set);
    double first = MPI_Wtime();
    timeval none = {0, 250000};
    check(select(ends[0] + 1, &set, nullptr, nullptr, &none) == 0 && !FD_ISSET(ends[0], &set), "select",
          "finds", 0);
    FD_SET(ends[0], &set);
    check(write(ends[1], "x", 1) == 1 && select(ends[0] + 1, &set, nullptr, nullptr, &wait) == 1, "select",
          "misses", 0);
    pollfd one = {ends[0], POLLIN, 0};
    check(poll(&one, 1, 5000) == 1, "poll", "misses", 0);
    double took = MPI_Wtime() - first;
    check(took > 0.2499 && took < 0.2502, "a look at descriptors", "takes", took);
    close(ends[0]);
    close(ends[1]);
}

/* A loop on a clock in which messages are looked for ends as well. */
static void poll_for_messages()
{
    int found = 0;
    double first = of_chrono<std::chrono::steady_clock>();
    while (!found && of_chrono<std::chrono::steady_clock>() - first < 1e-3)
        MPI_Iprobe(MPI_ANY_SOURCE, 77, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
    check(!found, "MPI_Iprobe", "finds", found);
}

static void outside_of_mpi()
{
    for (const a_clock &clock : clocks)
        if (clock.now != &MPI_Wtime && clock.resolution < 1e-3)
            wait_by(clock, false);
}

int main(int argc, char **argv)
{
    bool early = argc > 1 && !std::strcmp(argv[1], "early");
    silent = argc > 1 && !std::strcmp(argv[1], "silent");
    if (early)
        outside_of_mpi();
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    pthread_mutex_lock(&held);
    if (!early) {
        for (const a_clock &clock : clocks) {
            MPI_Barrier(MPI_COMM_WORLD);
            wait_by(clock, true);
            slept(clock);
        }
        for (const a_wait &wait : waits) {
            MPI_Barrier(MPI_COMM_WORLD);
            wait_for(wait);
        }
        look_at_descriptors();
        poll_for_messages();
    }
    if (!silent) { /* clocks that need not equal stock smpirun's show one time */
        double last = 0;
        for (const a_clock &clock : clocks) {
            double now = clock.now();
            check(now >= last - clock.resolution && now - last < 1e-3 + (last ? 0 : now), clock.name,
                  "is behind by", last - now);
            last = clock.resolution < 1e-8 ? now : last;
        }
    }
    MPI_Finalize();
    if (early)
        outside_of_mpi();
    std::printf("rank %d: %d wrong\n", rank, wrong);
    return 0;
}
