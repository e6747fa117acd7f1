/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/export.h"

/*
 * Asks addr2line for functions and source lines ("file.c:12") in an object file. Starts a child process for
 * each 32 places, so it is meant for the end of a run. Allocates nothing.
 */
struct pf_source_place {
    unsigned long offset; /* in the object */
    char function[256];   /* empty: the tool is not there, or knows nothing */
    char line[128];       /* empty: only the function is known */
};
PF_EXPORT void pf_source_lines(const char *object, struct pf_source_place *places, int count);
