/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PF_TESTS_SELF_ADAPTER_H
#define PF_TESTS_SELF_ADAPTER_H

#include "adapters/adapter.h"

/* MPI for one rank that is alone: the example that a new adapter begins with. No model uses it. */
extern const struct pf_adapter pf_self_adapter;

#endif
