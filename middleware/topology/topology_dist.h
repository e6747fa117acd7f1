/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "middleware/topology/topology.h"

/* Does this argument name an array? */
static inline bool pf_topology_weights_given(const int *weights)
{
    return weights && weights != MPI_UNWEIGHTED && weights != MPI_WEIGHTS_EMPTY;
}
