/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Reports of a peer whose dates have not come: the earliest first, and of one date in the order of arrival.
 */
struct pf_peer_report {
    double date;
    uint64_t number;    /* in the order of arrival */
    uint64_t turn;      /* of what the upcall posts, 0: the next one */
    uint64_t id, count; /* of the message; of CREDIT: node and virtual network, and how many */
    double acknowledged;
    uint16_t type; /* enum pf_external_type */
};

void pf_peer_report_add(const struct pf_peer_report *report);
/* The next one, NULL without one; stays until another call. */
const struct pf_peer_report *pf_peer_report_first(void);
void pf_peer_report_drop_first(void);
