/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>

/*
 * The run's temporary files are in one directory, which is locked while the process lives. It is removed at
 * every end that leaves a chance to do so; what a killed run left behind is removed by the next run of the
 * same user.
 */

/* Makes the directory under `base` and returns its name; the process ends with one line when that fails. */
const char *workdir_make(const char *base);

/* The directory survives the coming exec of this process, which must begin with workdir_adopt. */
void workdir_hand_over(void);

/* Takes over the directory of workdir_hand_over. Returns its name, or NULL when there is none. */
const char *workdir_adopt(void);

/* Keeps the directory at the end of the run and prints its name. */
void workdir_keep(void);

/* The directory's name, or NULL before workdir_make. */
const char *workdir_name(void);

/* Removes the directory and its files. Uses system calls only, so that a signal handler may call it. */
void workdir_remove(void);
