/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "lowlevel/nic/bus.h"
#include "lowlevel/nic/entries.h"
#include "lowlevel/nic/nic.h"

/* The state of one node's interface: until when its units are busy. */
struct pf_nic {
    int node;
    struct pf_bus bus;
    double tx_free[PF_VN_COUNT]; /* per virtual network */
    double rx_free[PF_VN_COUNT];
    double *engines_free; /* list-matching engines; they take requests in turn */
    int next_engine;
    struct pf_entries entries;
    struct pf_event_fifo tx_fifos[PF_NIC_ACK + 1]; /* a kind of message takes the same time, mostly */
    struct pf_event_fifo rx_fifos[PF_VN_COUNT];
};
