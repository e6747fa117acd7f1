/* SPDX-License-Identifier: BSD-3-Clause */
/* The thread's processor time without a system call per reading. */
#include "middleware/account/clock.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <sys/rseq.h>

#define ASK_AFTER_NS   200000 /* bounds every error, at 0.3 % of the processor time */
#define COMPARE_FOR_NS 10000000

static const uint64_t nothing;
static uint64_t *sequence; /* the thread's field that the kernel clears, NULL without */

/* A sequence that is never run, as the kernel wants it: two instructions, and outside of them one to go
 * on at, with the signature that glibc has registered before it. */
__asm__(".pushsection .text\n"
        ".type pf_clock_sequence, @function\n"
        "pf_clock_sequence: ud2\n"
        "ud2\n"
        ".long 0x53053053\n"
        ".type pf_clock_abort, @function\n"
        "pf_clock_abort: ud2\n"
        ".popsection");
extern const char pf_clock_sequence[] __attribute__((visibility("hidden")));
extern const char pf_clock_abort[] __attribute__((visibility("hidden")));

static const struct rseq_cs descriptor __attribute__((aligned(32))) = {
    .start_ip = (uintptr_t)pf_clock_sequence, .post_commit_offset = 2, .abort_ip = (uintptr_t)pf_clock_abort};
#define MARK (uintptr_t) & descriptor

struct pf_clock pf_clock = {.armed = &pf_clock.mark, .mark = MARK, .expires = UINT64_MAX};
uint64_t pf_clock_asked;

/* The last answer of the system, and the counter at that moment. */
static struct {
    uint64_t ns, ticks;
    uint64_t valid_for; /* ticks; 0 while the speed of the counter is not known */
} last;

static uint64_t system_ns(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* What the counter showed at some date. */
struct pair {
    uint64_t ns, ticks;
};

static struct pair first;

/* The closest of some tries: another process may have its turn between the two readings. */
static struct pair compare(void)
{
    struct pair best = {0, 0};
    uint64_t shortest = UINT64_MAX;
    for (int i = 0; i < 5; i++) {
        uint64_t before = pf_clock_ticks(), ns = system_ns(CLOCK_MONOTONIC_RAW),
                 took = pf_clock_ticks() - before;
        if (took < shortest) {
            shortest = took;
            best = (struct pair){ns, before + took / 2};
        }
    }
    return best;
}

void pf_clock_compare(void)
{
    if (!first.ticks)
        first = compare();
}

/* The counter's speed, once it can be compared with the system's clock. */
static void calibrate(void)
{
    if (system_ns(CLOCK_MONOTONIC_RAW) < first.ns + COMPARE_FOR_NS)
        return;
    struct pair now = compare();
    double ratio = (double)(now.ns - first.ns) / (double)(now.ticks - first.ticks);
    pf_clock.scale = (uint64_t)(ratio * 4294967296.0);
    last.valid_for = (uint64_t)(ASK_AFTER_NS / ratio);
    if (sequence)
        pf_clock.armed = sequence;
}

/* How long a question takes among the work of the program: longer than in a loop of questions. */
static void learn_question(uint64_t ticks)
{
    enum { INTERRUPTED_NS = 10000, LAST = 16 };
    uint64_t ns = ticks * pf_clock.scale >> 32;
    if (ns < INTERRUPTED_NS)
        pf_clock.question = pf_clock.question ? (pf_clock.question * (LAST - 1) + ns) / LAST : ns;
}

uint64_t pf_clock_ask(void)
{
    uint64_t before, ns, after;
    int tries = 0;
    pf_clock_asked++;
    do { /* once again, if the thread was interrupted meanwhile */
        if (sequence)
            *(volatile uint64_t *)sequence = MARK;
        before = pf_clock_ticks();
        ns = system_ns(CLOCK_THREAD_CPUTIME_ID);
        after = pf_clock_ticks();
    } while (sequence && *(volatile uint64_t *)sequence != MARK && ++tries < 3);
    last.ns = ns;
    last.ticks = before + (after - before) / 2;
    if (!last.valid_for)
        calibrate();
    learn_question(after - before);
    pf_clock.expires = last.ticks + last.valid_for;
    return after;
}

/* Nanoseconds between two readings, at most some milliseconds apart, in either direction. */
static int64_t ns_between(uint64_t from, uint64_t to)
{
    return (int64_t)((double)(int64_t)(to - from) * (double)pf_clock.scale / 4294967296.0);
}

uint64_t pf_clock_disturbed(uint64_t mark, uint64_t now)
{
    enum { QUESTION_NS = 5000 }; /* more than the system's answer takes: the thread has lost its processor */
    int64_t begin = (int64_t)last.ns + ns_between(last.ticks, mark);
    pf_clock_ask();
    int64_t since = ns_between(now, last.ticks);
    int64_t used = (int64_t)last.ns - begin - (since < QUESTION_NS ? since : 0);
    return used > 0 ? (uint64_t)used : 0;
}

/* Does the counter run at one speed? The kernel knows. */
static bool counter_is_even(void)
{
    FILE *file = fopen("/proc/cpuinfo", "r");
    char line[8192];
    bool even = false;
    while (file && !even && fgets(line, sizeof line, file))
        even = strncmp(line, "flags", 5) == 0 && strstr(line, " constant_tsc ");
    if (file)
        fclose(file);
    return even;
}

/* glibc has registered the thread's area, unless GLIBC_TUNABLES or the system forbids. */
static uint64_t *find_sequence(void)
{
    if (__rseq_size == 0)
        return NULL;
    struct rseq *area = (struct rseq *)((char *)__builtin_thread_pointer() + __rseq_offset);
    return (uint64_t *)(void *)&area->rseq_cs;
}

/* Not every kernel clears the field when a thread sleeps in the kernel: tried, not believed. */
static bool kernel_tells(uint64_t *field)
{
    const struct timespec moment = {0, 1000};
    *(volatile uint64_t *)field = MARK;
    nanosleep(&moment, NULL);
    return *(volatile uint64_t *)field == 0;
}

enum pf_clock_source pf_clock_use(enum pf_clock_source wanted)
{
    sequence = NULL;
    pf_clock.armed = &pf_clock.mark;
    pf_clock.expires = UINT64_MAX;
    pf_clock.scale = 0;
    last.valid_for = 0;
    if (wanted == PF_CLOCK_NONE)
        return wanted;
    uint64_t *field = wanted == PF_CLOCK_COUNTER ? find_sequence() : NULL;
    if (field && counter_is_even() && kernel_tells(field))
        sequence = field;
    pf_clock.armed = &nothing;
    pf_clock_compare();
    pf_clock_ask();
    return sequence ? PF_CLOCK_COUNTER : PF_CLOCK_SYSTEM;
}
