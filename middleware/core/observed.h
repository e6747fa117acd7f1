/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>

#include "adapters/model.h"
#include "lowlevel/trace/record.h"

struct pf_rank;

/* One call, on the stack of the entry that the application has called. */
struct pf_observed {
    int fn;               /* PF_FN_... */
    enum pf_model model;  /* to which it is counted */
    const void *site;     /* where it comes from */
    bool entered;         /* the middleware has begun with it */
    struct pf_rank *rank; /* NULL: a call that is not traced, or inside one */
    pf_trace_span span;   /* 0 until it has entered, and without a trace */
};
