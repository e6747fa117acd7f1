/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "lowlevel/nic/nic.h"

/*
 * End-to-end reliability. Every message occupies an entry in the table of the source's NIC (entries.h) until
 * the BXI acknowledgement of the target's NIC is back. What is not acknowledged in time is sent again, with
 * everything of its channel that came after it and did not arrive (go back N). The target's NIC takes the
 * messages of a channel in the order of their sequence numbers: it refuses what comes after a gap, and
 * acknowledges again what it has had already.
 *
 * The acknowledgement is arithmetic: it loads the way back, and its fate is known when it is sent. So a
 * message costs no event and no timer as long as nothing is lost.
 */
/* The target: whether the header is the next one of its channel. */
bool pf_e2e_header(struct pf_nic_message *m);
/* The last byte is there. False: the message was no news, and is not the caller's any more. */
bool pf_e2e_tail(struct pf_nic_message *m);

/* The network has lost it; it will be sent again, or its client gets `lost`. */
void pf_e2e_lost(struct pf_nic_message *m);
