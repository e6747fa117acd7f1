/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stddef.h>

#include "base/export.h"

/* Levels of a host's memory (nic_loopback_levels): how messages between ranks of one host move by their size,
 * because buffers that fit into a cache are copied faster than others. */
struct pf_nic_level {
    size_t from;      /* bytes of payload from which it is in force */
    double bandwidth; /* B/s, of one message */
    double latency;   /* s */
};

/* Besides the first one. */
enum { PF_NIC_MOST_LEVELS = 8 };

/* The level of a payload; the first one, from 0 on, has nic_loopback_bw and nic_loopback_latency. The process
 * ends with one line when the setting cannot be read or the loopback is not the host's memory. */
PF_EXPORT const struct pf_nic_level *pf_nic_level_of(size_t payload);

/* All of them in order of size; how many. */
PF_EXPORT int pf_nic_levels(const struct pf_nic_level **levels);
