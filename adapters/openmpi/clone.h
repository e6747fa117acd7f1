/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "adapters/openmpi/family.h"

/*
 * Where clones live for the milliseconds between being written and being mapped: a directory of this process
 * on disk (memory file systems would keep them in RAM). Each file is unlinked as soon as the dynamic linker
 * has mapped it, so a killed process leaves at most one file behind, and the next run removes that.
 */

/* Creates the directory, after removing those of dead processes. `need` is the space in bytes that the clones
 * will take. */
bool pf_clone_dir_open(size_t need, char *why, size_t n);

/* Removes the directory when it is empty; a later pf_clone_load creates it again. */
void pf_clone_dir_close(void);

/* Removes the directories of dead processes under `base`. Returns how many. */
int pf_clone_dir_sweep(const char *base);

/* Writes the clone of a library for `rank`, opens it and unlinks it. Returns what loader/copy.h knows it by,
 * or NULL and a reason. */
void *pf_clone_load(struct pf_family *member, int rank, char *why, size_t n);
