/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PF_ADAPTERS_TRACED_H
#define PF_ADAPTERS_TRACED_H

#include "adapters/adapter.h"

/* The table with a layer that tells the trace what a rank has computed between two calls; the table itself in
 * a run without a trace. For adapters whose `enter` charges the simulated time of that. One at a time. */
const struct pf_adapter_ops *pf_adapter_traced(const struct pf_adapter_ops *ops);

#endif
