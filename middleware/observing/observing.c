/* SPDX-License-Identifier: BSD-3-Clause */
/* The layer around every call that counts and traces it. */
#include "middleware/observing/observing.h"

#include "middleware/observing/counting.h"
#include "middleware/observing/tracing.h"
#include "pf_fn.h"

void pf_observe_begin(struct pf_observed *call, int fn, const void *site)
{
    *call = (struct pf_observed){.fn = fn, .site = site, .model = PF_MODEL_NONE};
    if (pf_counting_on)
        call->model = pf_counting_model();
    if (pf_counting_on && fn == PF_FN_Abort)
        pf_counting_add(fn, call->model, MPI_SUCCESS);
    if (pf_tracing_on)
        pf_tracing_begin(call);
}

void pf_observe_end(struct pf_observed *call, int code)
{
    if (call->rank)
        pf_tracing_end(call);
    if (pf_counting_on)
        pf_counting_add(call->fn, call->model, code);
}
