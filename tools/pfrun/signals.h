/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * What happens when the process is stopped from outside (^C) or crashes: one line that names the rank, the
 * signal and the place, what is known of the run so far, cleaning up, exit status 128 + signal.
 */

/* Installs the handlers on a stack of their own. Called before SimGrid starts, and again when it has, because
 * SimGrid takes SIGINT. */
void signals_install(void);

/* Ends the run if it was stopped from outside: called often, where that is safe. */
void signals_check(void);

/* From here on a call of exit() by a rank is reported. */
void signals_watch_exit(void);

/* The run is over: exit() is ordinary again. */
void signals_unwatch_exit(void);
