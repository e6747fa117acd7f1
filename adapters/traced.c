/* SPDX-License-Identifier: BSD-3-Clause */
#include "adapters/traced.h"

#include "lowlevel/trace/trace.h"

static const struct pf_adapter_ops *below;

static void enter(struct pf_instance *in)
{
    struct pf_trace_record *record = pf_trace_compute_begin(pf_self());
    below->enter(in);
    pf_trace_compute_end(record);
}

const struct pf_adapter_ops *pf_adapter_traced(const struct pf_adapter_ops *ops)
{
    static struct pf_adapter_ops layer;
    if (!pf_trace_on())
        return ops;
    below = ops;
    layer = *ops;
    layer.enter = enter;
    return &layer;
}
