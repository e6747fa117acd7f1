/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stddef.h>

#include "base/export.h"
#include "lowlevel/network/network.h"

/*
 * PCIe between the memory and the NIC of one node, behind a table so that it can be left out (fidelity
 * switches) or observed (a layer that calls the table below it and looks at the step).
 */
enum pf_bus_kind {
    PF_BUS_COMMAND,       /* processor to NIC: a command */
    PF_BUS_PIO,           /* processor to NIC: payload that comes with a command */
    PF_BUS_EVENT,         /* NIC to memory: an event or the value of a counter */
    PF_BUS_READ_REQUEST,  /* NIC to memory: the NIC asks for payload */
    PF_BUS_READ,          /* memory to NIC: payload of a DMA */
    PF_BUS_PAYLOAD_WRITE, /* NIC to memory: payload that has come over the network */
};

/* One step. The caller fills the first part; the bus sets both dates. */
struct pf_bus_step {
    enum pf_bus_kind kind;
    size_t bytes;
    const struct pf_transfer *transfer; /* the message that it belongs to, or NULL */
    double start;                       /* in: not before; out: when the bus takes it */
    double end;                         /* out: when it has arrived */
};

/* The state of one node's bus: one queue per direction for what is short. Streams share the two directions as
 * resources of the network (network/path.h). */
struct pf_bus {
    int node;
    double to_nic_free, from_nic_free;
    double last_write; /* when the latest payload write is in memory: the next one is not there before */
};

struct pf_bus_ops {
    size_t size; /* of this structure, for versions to come */
    const char *name;

    /* Bytes per second that the bus gives to streams, per direction; infinite when it is no limit. */
    double (*stream_rate)(void);
    void (*command)(struct pf_bus *bus, struct pf_bus_step *step);
    void (*pio)(struct pf_bus *bus, struct pf_bus_step *step); /* `end`: fenced, the command may follow */
    void (*event)(struct pf_bus *bus, struct pf_bus_step *step);
    void (*read_request)(struct pf_bus *bus, struct pf_bus_step *step);
    /* `end`: the first packet is in the NIC and may leave it. The rest streams. */
    void (*read)(struct pf_bus *bus, struct pf_bus_step *step);
    /* The last byte of a read has left the NIC: a step with all that is known of it, for observers. */
    void (*read_done)(struct pf_bus *bus, const struct pf_bus_step *step);
    /* Called when the last byte is in the NIC. A stream began at `start`, and all but its last packet has
     * been written since. */
    void (*write)(struct pf_bus *bus, struct pf_bus_step *step);
};

extern const struct pf_bus_ops pf_bus_pcie;             /* everything costs */
extern const struct pf_bus_ops pf_bus_pcie_no_commands; /* commands and events are free, payload is not */
extern const struct pf_bus_ops pf_bus_none;             /* everything is free */

/* The bus in force: the configured one, or what pf_bus_use() has set. A layer asks for it first and calls it.
 * The stream rate is asked for once per node, when its NIC is created. */
PF_EXPORT void pf_bus_use(const struct pf_bus_ops *ops);
PF_EXPORT const struct pf_bus_ops *pf_bus_choose(void);
extern const struct pf_bus_ops *pf_bus_in_force; /* NULL before the first use */

static inline const struct pf_bus_ops *pf_bus(void)
{
    return pf_bus_in_force ? pf_bus_in_force : pf_bus_choose();
}

/*
 * Takes the next turn at a server with one gap per customer, not before `date`. The backlog is counted from
 * the present date, so that a turn taken for the future does not hold up others that come before it.
 */
static inline double pf_take_turn(double *server_free, double date, double gap)
{
    double start = pf_engine_now();
    if (*server_free > start)
        start = *server_free;
    *server_free = start + gap;
    return date > start ? date : start;
}
