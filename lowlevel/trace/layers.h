/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "lowlevel/network/network.h"
#include "lowlevel/trace/record.h"

/* Of the layer on the network (messages.c) for the one on the bus: the payload's way through memory, which
 * ends when the message has moved on. 0: none. */
struct pf_trace_payload {
    pf_trace_span read;  /* by DMA at the source */
    pf_trace_span write; /* at the destination, while it streams */
};
struct pf_trace_payload *pf_trace_payload(const struct pf_transfer *t);
/* Puts the layer on top of the network in force. */
void pf_trace_stack_network(void);

/* Puts the layer on top of the bus in force. */
void pf_trace_stack_bus(void);
