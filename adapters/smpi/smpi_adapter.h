/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PF_ADAPTERS_SMPI_ADAPTER_H
#define PF_ADAPTERS_SMPI_ADAPTER_H

#include "adapters/adapter.h"

extern const struct pf_adapter pf_smpi_adapter;

/* The one that a rank has. */
struct pf_instance *pf_smpi_instance_of(int rank);

#endif
