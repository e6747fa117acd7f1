/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

/* Writes the page that shows `summary` (docs/summary.md), which needs no other file. Returns false when
 * something could not be written. */
bool pf_page_print(const json_t *summary, FILE *out);
