/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "adapters/adapter.h"

extern const struct pf_adapter pf_smpi_adapter;

/* The one that a rank has. */
struct pf_instance *pf_smpi_instance_of(int rank);
