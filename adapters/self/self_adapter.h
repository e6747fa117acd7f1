/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PF_ADAPTERS_SELF_ADAPTER_H
#define PF_ADAPTERS_SELF_ADAPTER_H

#include "adapters/adapter.h"

/* MPI for one rank that is alone. No model uses it: an example, and under test (tests/e2e/self). */
extern const struct pf_adapter pf_self_adapter;

#endif
