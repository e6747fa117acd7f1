/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "adapters/adapter.h"
#include "adapters/analytic/rma/memory/window.h"

/* One-sided communication of the engine, as analytic_adapter.c uses it. */

/* Fill the table of native functions: an_rma_install() all of it, the other one with the calls that access.
 */
void an_rma_install(struct pf_own_fn *fn);
void an_access_install(struct pf_own_fn *fn);

/* See win_shadow, win_open, win_free and win_share in adapter.h. */
int an_rma_shadow(struct pf_instance *in, const struct pf_win_recipe *recipe, void **native);
int an_rma_open(struct pf_instance *in, void *native);
void an_rma_free(struct pf_instance *in, void *native);
int an_rma_share(struct pf_instance *in, void *comm, const void *mine, void *all_sizes, int bytes);
