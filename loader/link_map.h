/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PF_LOADER_LINK_MAP_H
#define PF_LOADER_LINK_MAP_H

/*
 * The dynamic linker finds a library by walking the list of all that are loaded and comparing names, several
 * times for each library that is opened. With twenty clones for each of many ranks that is most of the
 * start-up, and grows with the square of the number of ranks. While a clone is opened, the list therefore
 * shows what is no clone and the clones of its own rank, which are all that it may need. Only the links
 * between the maps change, those of <link.h>; afterwards all are in the list again, the clones of a rank side
 * by side.
 *
 * Clones are never closed, so a map that is remembered here stays. Nothing is hidden when an error in dlopen
 * could be expected: the linker counts its list when it takes a half-opened library back.
 */

/* Hides the clones of all other ranks. */
void pf_link_map_hide(int rank);

/* Shows them again. What has been loaded meanwhile from files in `directory` are clones of the rank. */
void pf_link_map_show(int rank, const char *directory);

#endif
