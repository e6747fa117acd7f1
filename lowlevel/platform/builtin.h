/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "lowlevel/topology/fabric.h"

/*
 * Platforms that need no file: homogeneous clusters of any topology (topology/fabric.h) with figures of BXI
 * from the configuration (platform_*), written as SimGrid XML that stock smpirun reads too: one cluster where
 * SimGrid has that topology, otherwise a route for each pair of hosts. A name is KIND, KIND:HOSTS or
 * KIND:NUMBERS; without either it is made for `hosts`.
 */

/* Writes the platform. Host n, from 0, is node-(1000 + n) on up to 9,000 hosts and node-(1000000 + n) on
 * more. On failure returns false with one line in `error`. */
bool pf_platform_builtin_write(const char *name, int hosts, FILE *out, char *error, size_t error_size);

/*
 * The same platform as the description of a packet network (topology/fabric.h). Its links have the
 * latencies and rates of SimGrid's, and routers take no time of their own. Where hosts
 * are joined directly a node's link takes no time. The n-th host of the XML, from 0, is node n.
 */
bool pf_platform_builtin_fabric(const char *name, int hosts, char *text, size_t size,
                                struct pf_fabric_speeds *links, char *error, size_t error_size);

/* The name of a host whose name depended on the number of hosts, as it did until this version. False: `old`
 * is none of those. */
bool pf_platform_builtin_renamed(const char *old, long hosts, char *name, size_t size);
