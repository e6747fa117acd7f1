/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>

/* Numbers for texts, from 0 in the order in which they come; for formats that define a text before they use
 * it. */
struct pf_trace_names {
    struct pf_trace_entry *first, **by_number;
    int count;
    struct {
        const char *text, *more;
        int number;
    } recent[64]; /* of texts that stay, by where they are */
};

/* The text of a number. */
const char *pf_trace_named(const struct pf_trace_names *names, int number);

/* The text's number; says whether it is a new one. */
int pf_trace_number(struct pf_trace_names *names, const char *text, bool *is_new);

/* The same for a text that stays where it is until the end of the run, or "text (more)" of two of them. */
int pf_trace_number_of_lasting(struct pf_trace_names *names, const char *text, const char *more,
                               bool *is_new);

void pf_trace_names_free(struct pf_trace_names *names);
