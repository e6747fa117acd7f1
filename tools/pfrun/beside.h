/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TOOLS_PFRUN_BESIDE_H
#define TOOLS_PFRUN_BESIDE_H

/* Programs that pfrun and pfinfo start. */

/* Where the helper `name` is: beside the tool in the build directory, or where it was installed, which may
 * have been moved as a whole. The caller frees the path. NULL: it is nowhere. */
char *beside_find(const char *name);

/* Becomes pfsample, with arguments that begin with the tool's name; `flag` asked for it and names it in
 * errors. */
void beside_sample(const char *flag, char **argv) __attribute__((noreturn));

#endif
