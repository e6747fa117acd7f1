/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PF_NETWORK_EXTERNAL_TOLD_H
#define PF_NETWORK_EXTERNAL_TOLD_H

#include <stdbool.h>
#include <stdint.h>

/* What a peer has told and whose date has not come: the earliest first, and of one date what came first. */
struct pf_told {
    double date;
    uint64_t number;    /* in the order of coming */
    uint64_t turn;      /* of what the upcall posts, 0: the next one */
    uint64_t id, count; /* of the message; of CREDIT: node and virtual network, and how many */
    double acknowledged;
    uint16_t type; /* enum pf_external_type */
};

void pf_told_add(const struct pf_told *told);
/* The next one, NULL without one; stays until another call. */
const struct pf_told *pf_told_first(void);
void pf_told_drop_first(void);

#endif
