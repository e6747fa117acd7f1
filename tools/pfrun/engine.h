/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/* The parts of SimGrid's engine that have no C interface in 3.32. */

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Calls `configured` at the platform's first host, when all settings have been read, those in the platform's
 * file too, `begin` when a rank or another
 * actor has been made, and all files have been read, `advance` when the simulated time has advanced,
 * `deadlock` when no actor can go on. */
void engine_watch(void (*configured)(void), void (*begin)(void), void (*advance)(void),
                  void (*deadlock)(void));

/* smpi_main(), with an error thrown by SimGrid turned into a text: returns the exit status, or -1 and the
 * text. */
int engine_run(const char *executable, int argc, char **argv, const char **error);

/* The name of the running actor, NULL for the simulator itself. May be called at any time, also before the
 * run. */
const char *engine_actor_name(void);

/* Simulated time, 0 before the run. */
double engine_clock(void);

/* Whether the user has not set the speed of the machine that simulates (smpi/host-speed). */
bool engine_lacks_speed(void);

/* Whether SimGrid takes this setting; only when it has read its arguments, and sets it. */
bool engine_takes(const char *key, const char *value);

/* Whether a computation takes its work divided by the speed of its host, if it has a core of its own; calls
 * `changed` when that speed changes. Once the settings have been read. */
bool engine_computes_plainly(void (*changed)(void));

#ifdef __cplusplus
}
#endif
