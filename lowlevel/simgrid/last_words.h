/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "base/export.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Where SimGrid cannot go on it prints a critical message, perhaps with a backtrace, and aborts. From this
 * call on the message is kept instead, for the handler of SIGABRT. Messages of a category to which the user
 * has given a layout of its own are printed as usual.
 */
PF_EXPORT void pf_simgrid_keep_last_words(void);

/* The first line of that message; empty while there is none. */
PF_EXPORT const char *pf_simgrid_last_words(void);

#ifdef __cplusplus
}
#endif
