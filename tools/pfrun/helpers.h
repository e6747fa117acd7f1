/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TOOLS_PFRUN_HELPERS_H
#define TOOLS_PFRUN_HELPERS_H

/* Helper programs of pfrun and pfinfo, which users do not type. */

/* Where the helper `name` is: near the tool in the build directory, or where it was installed, which may
 * have been moved as a whole. The caller frees the path. NULL: it is nowhere. */
char *helper_find(const char *name);

/* Becomes pfsample, with arguments that begin with the tool's name; `flag` names it in errors. */
void helper_sample(const char *flag, char **argv) __attribute__((noreturn));

#endif
