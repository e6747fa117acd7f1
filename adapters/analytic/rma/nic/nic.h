/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "adapters/analytic/rma/memory/window.h"

/* One-sided communication by the NICs (`windows = nic`). */

/* Fill the table of native functions: active and passive target. */
void an_epoch_install(struct pf_own_fn *fn);
void an_lock_install(struct pf_own_fn *fn);

/* Starts an access that moves bytes. */
void an_nic_start(struct an_access *a);

/* The lock is granted: starts the accesses that waited for it. */
void an_nic_start_deferred(struct an_window *win, struct an_peer *peer);
