/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PF_MIDDLEWARE_SAMPLING_SPANS_H
#define PF_MIDDLEWARE_SAMPLING_SPANS_H

#include <stdbool.h>
#include <stddef.h>

/* Stretches between two marks, as PARFOCAL_WINDOWS names them: a line FIRST LAST each. */
struct pf_span {
    unsigned first, last;
};

struct pf_spans {
    struct pf_span *span; /* freed by the caller */
    unsigned count;
};

/* Opens the file. Also a pipe by name: it is not waited for who writes it. */
void pf_spans_open(void);

/* Reads the spans up to the end of the file, or with `batch` up to the next empty line; `overlap`: one may
 * begin before the one above ends. What cannot be read or is wrong there ends the process with one line.
 * Returns false at the end of the file. */
bool pf_spans_read(struct pf_spans *spans, bool overlap, bool batch);

void pf_spans_close(void);

#endif
