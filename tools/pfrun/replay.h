/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PF_PFRUN_REPLAY_H
#define PF_PFRUN_REPLAY_H

#include <stdio.h>

#include "tools/pfrun/options.h"

/* pfrun -replay: opens the trace, and makes the program that plays it the application, with as many ranks as
 * the trace has. Ends the process with one line when that cannot be. */
void replay_prepare(struct options *options);

/* When SimGrid has read its settings: what the program computes is in the trace, and what it takes to read
 * that is no rank's computation. */
void replay_choose_time(void);

/* Where in the trace the ranks are that cannot go on. */
void replay_print_places(FILE *out);

#endif
