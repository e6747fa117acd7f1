/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "lowlevel/nic/nic.h"

/*
 * Flow control by the NIC (not in today's hardware): at most nic_max_in_flight messages on their way to one
 * node, to one process, or from one process to another. A message is on its way until its BXI acknowledgement
 * is back. Portals acknowledgements do not count: they are small, and must not wait behind data.
 */
struct pf_window;

/* Whether m may go on now. If not, `go(m)` is called when its turn has come, in the order of this call. */
bool pf_window_enter(struct pf_nic_message *m, void (*go)(struct pf_nic_message *m));

/* The message stops counting at `date`. */
void pf_window_leave(struct pf_nic_message *m, double date);
