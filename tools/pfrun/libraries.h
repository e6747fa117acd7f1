/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PF_PFRUN_LIBRARIES_H
#define PF_PFRUN_LIBRARIES_H

/*
 * The shared libraries that the application brings along: those that were linked with pfcc as well. Each rank
 * must have its own copy of them, as of the application, or the ranks would share their globals. Returns
 * their paths separated by semicolons, as SMPI wants them, or NULL when there is none.
 */
char *libraries_to_privatize(const char *application);

#endif
