/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PF_ADAPTERS_ANALYTIC_ADAPTER_H
#define PF_ADAPTERS_ANALYTIC_ADAPTER_H

#include "adapters/adapter.h"

/* The communication engine of model `analytic`. */
extern const struct pf_adapter pf_analytic_adapter;

#endif
