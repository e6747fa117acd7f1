/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "middleware/account/clock.h"

static char *program;

static uint64_t thread_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* As an account does it, see pf_account_leave(). */
static uint64_t begin(void)
{
    uint64_t now = pf_clock_ticks();
    return pf_clock_undisturbed(now) ? now : pf_clock_ask();
}

static uint64_t end(uint64_t mark)
{
    return pf_clock_slice(mark, pf_clock_ticks());
}

static void work(uint64_t ns)
{
    for (uint64_t until = thread_ns() + ns; thread_ns() < until;)
        ;
}

/* Work without system calls, of a length that is not known before. */
static void spin(unsigned rounds)
{
    for (volatile unsigned i = 0; i < rounds; i++)
        ;
}

/* The speed of the counter is known only after a while. */
static enum pf_clock_source use(enum pf_clock_source wanted)
{
    enum pf_clock_source source = pf_clock_use(wanted);
    for (int i = 0; i < 40; i++) {
        work(500000);
        end(begin());
    }
    return source;
}

/* Another process that wants the same processor. */
static pid_t compete(void)
{
    cpu_set_t all, one;
    int cpu = 0;
    sched_getaffinity(0, sizeof all, &all);
    while (!CPU_ISSET(cpu, &all))
        cpu++;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    sched_setaffinity(0, sizeof one, &one);
    pid_t child = fork();
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        for (;;)
            ;
    }
    return child;
}

static long interruptions(void)
{
    struct rusage usage;
    getrusage(RUSAGE_THREAD, &usage);
    return usage.ru_nivcsw;
}

/* Slices of all lengths while another process takes the processor away: each is what the system's clock of
 * the thread says, and no time of the other one is in it. */
static void agrees(enum pf_clock_source wanted)
{
    enum { ENOUGH = 25, LONGEST = 400000 };
    const int64_t close = 20000, turn = 1000000; /* ns */
    const struct timespec nap = {0, 200000};
    use(wanted);
    pid_t other = compete();
    long before = interruptions();
    int slices = 0, apart = 0, far = 0;
    int64_t worst = 0, sum = 0;
    unsigned random = 12345;
    for (; slices < 2000 || (interruptions() - before < ENOUGH && slices < 1000000); slices++) {
        random = random * 1103515245u + 12345u;
        uint64_t first = thread_ns(), mark = begin();
        spin((random >> 8) % LONGEST);
        if (random >> 28 == 0)
            nanosleep(&nap, NULL);
        uint64_t slice = end(mark), last = thread_ns();
        int64_t off = (int64_t)slice - (int64_t)(last - first);
        sum += off;
        off = off < 0 ? -off : off;
        apart += off > close;
        far += off > turn;
        worst = off > worst ? off : worst;
    }
    long taken = interruptions() - before;
    kill(other, SIGKILL);
    waitpid(other, NULL, 0);
    print_message(
        "%d slices, interrupted %ld times: %d more than 20 us apart, at most %.1f us, on average %.2f "
        "us\n",
        slices, taken, apart, (double)worst * 1e-3, (double)sum * 1e-3 / slices);
    assert_true(taken >= ENOUGH);
    /* A processor that is itself virtual has interruptions that cannot be seen here, so bounds are for most
     * slices. A clock that counts the other process's turns, which last some milliseconds, is far off in
     * each. */
    assert_true(apart <= slices / 2);
    assert_true(far <= taken / 4);
    assert_true(sum < slices * close && -sum < slices * close);
}

static void test_agrees(void **state)
{
    (void)state;
    agrees(PF_CLOCK_COUNTER);
}

static void test_system_agrees(void **state)
{
    (void)state;
    agrees(PF_CLOCK_SYSTEM);
}

static void test_sleep_does_not_count(void **state)
{
    const struct timespec nap = {0, 50000000};
    (void)state;
    use(PF_CLOCK_COUNTER);
    uint64_t mark = begin();
    nanosleep(&nap, NULL);
    assert_true(end(mark) < 10000000);
}

/* The system is asked when something has happened, and after a fifth of a millisecond. */
static void test_seldom_asks(void **state)
{
    (void)state;
    if (use(PF_CLOCK_COUNTER) != PF_CLOCK_COUNTER) {
        print_message("the counter cannot be used here: nothing to see\n");
        return;
    }
    uint64_t before = pf_clock_asked, from = thread_ns();
    long taken = interruptions();
    for (int i = 0; i < 100000; i++)
        end(begin());
    uint64_t fifths = (thread_ns() - from) / 200000;
    assert_true(pf_clock_asked - before <= fifths + 10 + 4 * (uint64_t)(interruptions() - taken));
    work(1000000);
    before = pf_clock_asked;
    begin();
    assert_int_equal(pf_clock_asked, before + 1);
}

static void test_system_is_asked_each_time(void **state)
{
    (void)state;
    assert_int_equal(use(PF_CLOCK_SYSTEM), PF_CLOCK_SYSTEM);
    uint64_t before = pf_clock_asked;
    for (int i = 0; i < 100; i++)
        end(begin());
    assert_int_equal(pf_clock_asked, before + 200);
}

static void test_none(void **state)
{
    (void)state;
    assert_int_equal(pf_clock_use(PF_CLOCK_NONE), PF_CLOCK_NONE);
    uint64_t before = pf_clock_asked, mark = begin();
    work(2000000);
    assert_int_equal(end(mark), 0);
    assert_int_equal(pf_clock_asked, before);
}

/* glibc registers no restartable sequences here, as under valgrind and on old kernels. */
static void test_without_sequences(void **state)
{
    (void)state;
    pid_t child = fork();
    if (child == 0) {
        setenv("GLIBC_TUNABLES", "glibc.pthread.rseq=0", 1);
        execl(program, program, "without", NULL);
        _exit(99);
    }
    int status;
    waitpid(child, &status, 0);
    assert_int_equal(status, 0);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_agrees),
        cmocka_unit_test(test_system_agrees),
        cmocka_unit_test(test_sleep_does_not_count),
        cmocka_unit_test(test_seldom_asks),
        cmocka_unit_test(test_system_is_asked_each_time),
        cmocka_unit_test(test_none),
        cmocka_unit_test(test_without_sequences),
    };
    program = argv[0];
    if (argc > 1 && strcmp(argv[1], "without") == 0)
        return pf_clock_use(PF_CLOCK_COUNTER) != PF_CLOCK_SYSTEM;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
