/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

/*
 * How much processor time the thread has used between two readings of the processor's counter. The system's
 * own clock of the thread is a system call that costs more than many an MPI call. But the thread has used
 * exactly the time that has passed, as long as it was not preempted, and that the kernel reports without a
 * call: it clears the descriptor of a restartable sequence (rseq(2)) that the thread has left,
 * when it preempts or moves the thread or delivers a signal. Then, and a fifth of a millisecond after it was
 * asked last, the system's clock is asked, so that the two can never be further apart than that.
 */
struct pf_clock {
    const volatile uint64_t *armed; /* holds `mark` until the kernel clears it */
    uint64_t mark;
    uint64_t expires;  /* ticks at which the system must be asked again */
    uint64_t scale;    /* nanoseconds in 2^32 ticks */
    uint64_t question; /* ns that it takes to ask the system, of late and on average */
};
extern struct pf_clock pf_clock;

/* The counter: ticks of the fastest clock that never stops while the thread runs. */
static inline uint64_t pf_clock_ticks(void)
{
    return __builtin_ia32_rdtsc();
}

/* From pf_clock_ticks() that said `now` back to the last question to the system, has the thread kept its
 * processor? */
static inline bool pf_clock_undisturbed(uint64_t now)
{
    return __builtin_expect(*pf_clock.armed == pf_clock.mark && now < pf_clock.expires, 1);
}

/* Asks the system. Returns the counter from which on slices may be measured. */
uint64_t pf_clock_ask(void);

/* Nanoseconds of processor time between two readings of the counter, the first of which was undisturbed or
 * came from pf_clock_ask(); `now` has just been read, and was not. */
uint64_t pf_clock_disturbed(uint64_t mark, uint64_t now);

/* The same, in any case. */
static inline uint64_t pf_clock_slice(uint64_t mark, uint64_t now)
{
    if (pf_clock_undisturbed(now))
        return (now - mark) * pf_clock.scale >> 32;
    return pf_clock_disturbed(mark, now);
}

/* Whose clock it is. */
enum pf_clock_source {
    PF_CLOCK_NONE,   /* not wanted: slices are 0 and cost nothing */
    PF_CLOCK_SYSTEM, /* the system is asked each time */
    PF_CLOCK_COUNTER /* as above */
};

/* Early in the run: from now on the counter is compared with the system's time. Later calls do nothing. */
void pf_clock_compare(void);

/* Chooses, for the calling thread. Returns what can be had: the system's clock where the counter does not run
 * evenly or the kernel does not report preemptions (valgrind, other systems). The first calls after
 * pf_clock_compare() may ask the system, until the counter's speed is known. */
enum pf_clock_source pf_clock_use(enum pf_clock_source wanted);

/* Has a clock been chosen? */
static inline bool pf_clock_measures(void)
{
    return pf_clock.armed != &pf_clock.mark;
}

/* How often the system was asked (for tests). */
extern uint64_t pf_clock_asked;
