/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/export.h"

/*
 * What it costs to read and write files: each host has a file system of its own, and all share another one
 * (rows file_... and shared_file_... of base/config.def). Ranks that use one at the same time
 * share its bandwidth, max-min fairly. The folder of a file decides which one it is in.
 */
enum pf_storage { PF_STORAGE_OWN, PF_STORAGE_SHARED, PF_STORAGE_COUNT };

struct pf_storage_counters {
    unsigned long accesses[2]; /* reads, writes */
    double bytes[2];
    double seconds; /* that ranks have waited, of all ranks together */
};

/* Whether any file costs time in this run. */
PF_EXPORT bool pf_storage_on(void);

/* The calling actor, of a rank, has read or written so many bytes of an open file: waits for as long as that
 * takes in simulated time. Nothing for what is no regular file, nor in folders of the system (/dev, /proc,
 * /sys). errno stays. */
PF_EXPORT void pf_storage_access(int descriptor, size_t bytes, bool writes);

/* What has been accessed so far. */
PF_EXPORT const struct pf_storage_counters *pf_storage_counters(enum pf_storage which);
