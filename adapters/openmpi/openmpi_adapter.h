/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "adapters/adapter.h"

extern const struct pf_adapter pf_openmpi_adapter, pf_openmpi_ucx_adapter;
