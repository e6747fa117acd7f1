/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "adapters/openmpi/stack.h"

/*
 * What Open MPI reads from its environment (OMPI_MCA_*): settings that the adapter depends on come from here,
 * whatever the real environment says; other OMPI_MCA_* variables of the user count, such as those that choose
 * a collective algorithm. Of other variables the real environment decides. The former are looked for once,
 * for all ranks.
 */
const char *pf_settings_get(const struct pf_ompi_stack *stack, const char *name);

/* Before any library of Open MPI is loaded: what libraries read that it brings once for the process. */
void pf_settings_of_process(void);
