/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stddef.h>

#include "base/export.h"
#include "lowlevel/engine/chain.h"

/*
 * The links that messages of critical paths cross: in the packet network of a description those of routing
 * `minimal`, else those of the platform's route. A bounded table keeps what it has asked for.
 */
PF_EXPORT int pf_network_crossed(const struct pf_chain_message *message, const struct pf_chain_link **links,
                                 int *transfer);

/* The platform is about to go: what is not known yet has no route. */
PF_EXPORT void pf_network_crossed_close(void);

/* How users know a link (enum pf_chain_link_kind and number); of one that is not seen, why. */
PF_EXPORT void pf_network_crossed_name(int kind, int number, char *text, size_t size);
