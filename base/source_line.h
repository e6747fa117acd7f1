/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/export.h"

/*
 * Asks addr2line for the function and the source line ("file.c:12") at `offset` in an object file. False
 * without the tool or without any answer; `line` is empty when only the function is known. Starts a child
 * process, so it is meant for diagnoses at the end of a run.
 */
PF_EXPORT bool pf_source_line(const char *object, unsigned long offset, char *function, size_t function_size,
                              char *line, size_t line_size);
