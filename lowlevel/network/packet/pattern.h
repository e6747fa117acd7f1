/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lowlevel/topology/fabric.h"

/* Sources and destinations of traffic. */
struct pf_pattern;

/*
 * From a description (pf_pattern_help()). On failure NULL and one line in `error`. The caller ends it with
 * pf_pattern_free().
 */
struct pf_pattern *pf_pattern_make(const char *text, const struct pf_fabric *fabric, uint64_t seed,
                                   char *error, size_t error_size);
void pf_pattern_free(struct pf_pattern *pattern);

/* The destination of a packet of a node, from 64 random bits; -1: this node sends nothing. */
int32_t pf_pattern_destination(const struct pf_pattern *pattern, int32_t source, uint64_t random);

/* One line per pattern, NULL behind the last. */
const char *pf_pattern_help(int index);
