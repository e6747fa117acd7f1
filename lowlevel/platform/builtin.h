/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PF_LOWLEVEL_PLATFORM_BUILTIN_H
#define PF_LOWLEVEL_PLATFORM_BUILTIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "lowlevel/network/packet/fabric.h"

/*
 * Platforms that need no file: homogeneous clusters with figures of BXI from the configuration (platform_*),
 * written as SimGrid XML that stock smpirun reads too. A name is TOPOLOGY or TOPOLOGY:HOSTS; without HOSTS it
 * is made for the number of ranks. A topology may round the number of hosts up to fill its shape.
 */

/* Whether the word before a colon names a built-in topology. */
bool pf_platform_builtin_known(const char *name);

/* Writes the platform. On failure returns false with one line in `error`. */
bool pf_platform_builtin_write(const char *name, int hosts, FILE *out, char *error, size_t error_size);

/* The topologies' names and one-line descriptions, for `index` from 0; NULL past the last. */
const char *pf_platform_builtin_name(int index);
const char *pf_platform_builtin_help(int index);

/*
 * The same platform as the description of a packet network (network/packet/fabric.h), with its figures:
 * latencies and rates of the cables are those of SimGrid's links, and routers take no time of their own.
 * Torus: hosts are joined directly, so that a node's cable takes no time. The n-th host of the XML, from 0,
 * is node n.
 */
bool pf_platform_builtin_fabric(const char *name, int hosts, char *text, size_t size,
                                struct pf_fabric_cables *cables, char *error, size_t error_size);

#endif
