/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdio.h>

#include <stdbool.h>

#include "tools/pfrun/hosts.h"
#include "tools/pfrun/options.h"

/* pfrun -replay: makes the program that plays traces the application. */
void replay_prepare(struct options *options);

/* The job whose first rank is `first` plays a trace; its computation takes `scale` times as long (less than
 * 0: as long as it says). Sets the two words of the program that does it; returns the number of ranks. */
int replay_job(const char *trace, double scale, int first, char **words);

/* Opens the trace, which has as many ranks as there will be. Ends the process with one line when that cannot
 * be. If the only model is analytic, and nothing is asked for that needs ranks, the trace is played without
 * them, by one actor; then the result is true. `again` starts this process once more. */
bool replay_open(struct options *options, unsigned models, void (*again)(void));

/* Once the platform is there: on which hosts ranks would be; without `hosts` on all in their order. */
void replay_place(const struct hosts *hosts);

/* Where no rank can go on: returns if the ranks' own calls say why. */
void replay_stuck(void);

/* When SimGrid has read its settings: what a rank computes is in its trace, and what it takes to read that is
 * no rank's computation. */
void replay_choose_time(void);

/* Where in their traces the ranks are that cannot go on. */
void replay_print_places(FILE *out);
