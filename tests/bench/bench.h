/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef BENCH_H
#define BENCH_H

#include <stdio.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <mpi.h>

/* Wall-clock seconds. A system call of our own: simulators replace the C library's clocks by simulated time.
 */
static inline double bench_clock(void)
{
    struct timespec t;
    syscall(SYS_clock_gettime, CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* One result, for the runner: a name, and seconds per operation. */
static inline void bench_report(const char *name, double seconds, long operations)
{
    printf("BENCH %s %.9e\n", name, seconds / (double)operations);
}

#endif
