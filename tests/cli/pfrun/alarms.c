/* SPDX-License-Identifier: BSD-3-Clause */
/* alarms WHAT: signals in simulated time, and what rank 1 sees of them. */
#include <errno.h>
#include <mpi.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t rings;
static sigjmp_buf out;

static void on_alarm(int signal)
{
    rings += signal == SIGALRM;
}

static void on_jump(int signal)
{
    (void)signal;
    siglongjmp(out, 1);
}

static void on_slow(int signal)
{
    rings += signal == SIGALRM;
    usleep(150000); /* longer than until the next one, which comes when this has returned */
}

static double now(void)
{
    static double first = -1;
    struct timespec date;
    clock_gettime(CLOCK_MONOTONIC, &date);
    double seconds = (double)date.tv_sec + 1e-9 * (double)date.tv_nsec;
    first = first < 0 ? seconds : first;
    return seconds - first;
}

static void say(const char *what, int left)
{
    double date = now(); /* which may ring */
    printf("%s: %.3f s, %d rings, %d left\n", what, date, rings, left);
}

static void in_sleep(void)
{
    struct timespec two = {2, 0}, rest = {0, 0};
    alarm(3);
    say("sleep", (int)sleep(10));
    alarm(1);
    int result = nanosleep(&two, &rest);
    say(result == -1 && errno == EINTR ? "nanosleep" : "not interrupted",
        (int)(rest.tv_sec * 1000 + rest.tv_nsec / 1000000));
    alarm(5);
    sleep(1);
    say("changed", (int)alarm(0));
    sleep(5);
    alarm(2);
    pause();
    say("pause", 0);
}

static void periodic(void)
{
    struct itimerval often = {{0, 250000}, {0, 500000}}, left;
    setitimer(ITIMER_REAL, &often, NULL);
    usleep(100000);
    getitimer(ITIMER_REAL, &left);
    say("armed", (int)(left.it_value.tv_usec / 1000));
    for (int i = 0; i < 4; i++)
        usleep(2000000);
    say("periodic", 0);
    signal(SIGALRM, SIG_IGN);
    sleep(2);
    setitimer(ITIMER_REAL, &(struct itimerval){{0, 0}, {0, 0}}, NULL);
    say("ignored", 0);
}

/* The other rank sends after 2 s. */
static void in_mpi(int me)
{
    int flag = 0, number = me;
    alarm(1);
    MPI_Recv(&number, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    say("received", 0);
    alarm(1);
    while (rings < 2)
        MPI_Iprobe(0, 5, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    say("polled", 0);
    alarm(1);
    while (rings < 3)
        now();
    say("read the clock", 0);
    signal(SIGALRM, on_jump);
    alarm(1);
    if (sigsetjmp(out, 1) == 0)
        sleep(100);
    say("jumped", 0);
}

static void slow(void)
{
    struct itimerval often = {{0, 100000}, {0, 100000}}, off = {{0, 0}, {0, 0}};
    signal(SIGALRM, on_slow);
    setitimer(ITIMER_REAL, &often, NULL);
    sleep(1);
    say("slow", 0);
    setitimer(ITIMER_REAL, &off, NULL);
}

static void sleep_deep(int depth)
{
    if (depth > 0)
        sleep_deep(depth - 1);
    sleep(5);
}

/* Out of the handler, also from calls that are deeper than the last one. */
static void jumps(void)
{
    struct itimerval often = {{0, 500000}, {0, 500000}}, off = {{0, 0}, {0, 0}};
    volatile int depth = 0;
    signal(SIGALRM, on_jump);
    setitimer(ITIMER_REAL, &often, NULL);
    if (depth < 3 && (sigsetjmp(out, 1) == 0 || ++depth < 3))
        sleep_deep(4 * depth);
    setitimer(ITIMER_REAL, &off, NULL);
    say("jumps", depth);
}

static void blocked(void)
{
    sigset_t alarms, before;
    sigemptyset(&alarms);
    sigaddset(&alarms, SIGALRM);
    sigprocmask(SIG_BLOCK, &alarms, &before);
    alarm(1);
    sleep(2);
    say("blocked", 0);
    sigsuspend(&before);
    say("suspended", 0);
    alarm(1);
    sigsuspend(&before);
    say("suspended", 0);
    sigprocmask(SIG_SETMASK, &before, NULL);
}

/* Taken without a handler. */
static void taken(void)
{
    struct itimerval often = {{0, 250000}, {0, 250000}}, off = {{0, 0}, {0, 0}};
    const struct timespec half = {0, 500000000};
    siginfo_t info;
    int came = 0;
    sigset_t alarms, before;
    sigemptyset(&alarms);
    sigaddset(&alarms, SIGALRM);
    sigprocmask(SIG_BLOCK, &alarms, &before);
    alarm(1);
    sigwait(&alarms, &came);
    say("sigwait", came);
    say("none", sigtimedwait(&alarms, &info, &half));
    alarm(1);
    say("not yet", sigtimedwait(&alarms, &info, &half));
    say("sigtimedwait", sigtimedwait(&alarms, &info, &half) == info.si_signo);
    setitimer(ITIMER_REAL, &often, NULL);
    for (int i = 0; i < 3; i++)
        came = sigwaitinfo(&alarms, &info);
    say("sigwaitinfo", came);
    setitimer(ITIMER_REAL, &off, NULL);
    sigprocmask(SIG_SETMASK, &before, NULL);
}

int main(int argc, char **argv)
{
    int me, number = 7;
    if (!strcmp(argv[1], "early"))
        alarm(1);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    now();
    signal(SIGALRM, on_alarm);
    if (me == 0 && !strcmp(argv[1], "mpi")) {
        sleep(2);
        MPI_Send(&number, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
    }
    if (me == 1 && !strcmp(argv[1], "sleep"))
        in_sleep();
    if (me == 1 && !strcmp(argv[1], "periodic"))
        periodic();
    if (me == 1 && !strcmp(argv[1], "slow"))
        slow();
    if (me == 1 && !strcmp(argv[1], "jumps"))
        jumps();
    if (me == 1 && !strcmp(argv[1], "blocked"))
        blocked();
    if (me == 1 && !strcmp(argv[1], "taken"))
        taken();
    if (me == 1 && !strcmp(argv[1], "mpi"))
        in_mpi(me);
    if (me == 1 && !strcmp(argv[1], "early"))
        say("early", (int)sleep(3));
    if (me == 1 && !strcmp(argv[1], "default")) {
        signal(SIGALRM, SIG_DFL);
        alarm(1);
        sleep(3);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
