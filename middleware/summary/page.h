/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

/* Writes an object, all digits of its numbers. */
bool pf_page_print_json(const json_t *object, size_t flags, FILE *out);

/* Writes the page that shows `summary` (docs/summary.md), which needs no other file. Returns false when
 * something could not be written. */
bool pf_page_print(const json_t *summary, FILE *out);
