/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "adapters/adapter.h"

/* The communication engine of model `analytic`. */
extern const struct pf_adapter pf_analytic_adapter;
