/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>

/* Numbers for texts, from 0 in the order in which they come; for formats that define a text before they use
 * it. */
struct pf_trace_names {
    struct pf_trace_entry *first, **by_number;
    int count;
};

/* The text of a number. */
const char *pf_trace_named(const struct pf_trace_names *names, int number);

/* The text's number; says whether it is a new one. */
int pf_trace_number(struct pf_trace_names *names, const char *text, bool *is_new);

void pf_trace_names_free(struct pf_trace_names *names);
