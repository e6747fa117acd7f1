/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>

#include "adapters/model.h"

struct pf_rank;
struct pf_trace_record;

/* One call, on the stack of the entry that the application has called. */
struct pf_observed {
    int fn;                         /* PF_FN_... */
    enum pf_model model;            /* to which it is counted */
    const void *site;               /* where it comes from */
    bool entered;                   /* the middleware has begun with it */
    struct pf_rank *rank;           /* NULL: a call that is not traced, or inside one */
    struct pf_trace_record *record; /* NULL until it has entered, and without a trace */
};
