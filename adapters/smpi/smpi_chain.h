/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "base/self.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * The critical path in SMPI (lowlevel/engine/chain.h): the communications of SimGrid carry it, also those
 * inside collectives.
 */

/* At the first call, `replace` leads libsimgrid's calls of a function elsewhere. Says so where this SimGrid
 * does not show them. */
void pf_smpi_chain_install(void (*replace)(const char *name, void *ours, void **stock));

/* The calling rank starts an SMPI request. */
void pf_smpi_chain_starts(const pf_self_t *self, const void *request);

/* The calling rank goes on after the communication of an SMPI request. */
void pf_smpi_chain_finished(pf_self_t *self, const void *request);

#ifdef __cplusplus
}
#endif
