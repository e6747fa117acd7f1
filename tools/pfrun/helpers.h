/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/* Helper programs of pfrun and pfinfo, which users do not type. */

/* Where the helper `name` is: near the tool in the build directory, or where it was installed, which may
 * have been moved as a whole. The caller frees the path. NULL: it is nowhere. */
char *helper_find(const char *name);

/* Becomes pfsample: the options that pfrun has read as `given`, its command line, of which the first
 * `options` words are its name and these options. */
void helper_sample(char *given, char **argv, int options) __attribute__((noreturn));
