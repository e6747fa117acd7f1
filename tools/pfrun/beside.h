/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TOOLS_PFRUN_BESIDE_H
#define TOOLS_PFRUN_BESIDE_H

/* Programs that pfrun needs and nobody types. */

/* Where the helper `name` is: beside pfrun in the build directory, or where it was installed, which may have
 * been moved as a whole. The caller frees the path. NULL: it is nowhere. */
char *beside_find(const char *name);

/* Becomes pfsample with the same arguments when they ask for -sample, which is several runs; returns
 * otherwise. `words` tells how many words a flag takes, itself included: what stands behind the flags belongs
 * to the application. */
void beside_hand_over(char **argv, int (*words)(const char *flag));

#endif
