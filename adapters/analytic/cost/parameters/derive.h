/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "adapters/analytic/cost/parameters/parameters.h"

/*
 * Gives all parameters that follow from the configuration of the simulated NIC (rows nic_*, net_*,
 * openmpi_*): those with which model analytic is the machine of model portals. Each names the rows that it is
 * derived from. Parameters that are given already stay. `bandwidth` in B/s is that of a typical path, for
 * terms of a few bytes; 0: that of the built-in platforms. All other terms use the bandwidth of each path.
 */
void pf_cost_derive(struct pf_parameters *parameters, double bandwidth);
