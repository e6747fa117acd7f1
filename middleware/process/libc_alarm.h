/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>

/* SIGALRM of ranks, in simulated time. */
struct pf_rank;

/* The rank has begun with MPI: it may have asked for a signal before. */
void pf_alarm_begin(struct pf_rank *r);

/* Simulated seconds until the calling rank's next one; INFINITY: none. */
double pf_alarm_left(void);

/* Calls the handler if its date has come and the signal is not blocked; whether it has. Where there is none,
 * the job ends as by an uncaught signal. May not return: the handler may jump. */
bool pf_alarm_ring(void);
void pf_alarm_look(void);

/* Warns, once for each function, that it counts real time; NULL: does nothing. In a simulation. */
void pf_alarm_warn(const char *function);
