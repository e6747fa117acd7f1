/* SPDX-License-Identifier: BSD-3-Clause */
/* PCIe as the NIC uses it, and the two simpler buses. */
#include "lowlevel/nic/bus.h"

#include <math.h>

#include "base/config.h"
#include "base/log.h"

const struct pf_bus_ops *pf_bus_in_force;

static double pcie_time(size_t bytes)
{
    return (double)bytes / pf_config.nic_pcie_bw;
}

/* Pipelining: only the first packet on one side and the last on the other are not hidden behind the wire. */
static double packet_time(size_t bytes)
{
    return pcie_time(bytes < pf_config.nic_pcie_packet ? bytes : pf_config.nic_pcie_packet);
}

/* A posted write: it queues for its direction, and arrives one latency after its last byte. */
static void post_write(double *direction_free, struct pf_bus_step *step)
{
    double occupancy = pcie_time(step->bytes);
    step->start = pf_take_turn(direction_free, step->start, occupancy);
    step->end = step->start + occupancy + pf_config.nic_pcie_latency;
}

static double pcie_stream_rate(void)
{
    return pf_config.nic_pcie_bw;
}

static void pcie_command(struct pf_bus *bus, struct pf_bus_step *step)
{
    post_write(&bus->to_nic_free, step);
}

/* The processor goes on when the fence has passed; the latency of the bus is paid once, by the command. */
static void pcie_pio(struct pf_bus *bus, struct pf_bus_step *step)
{
    double occupancy = pcie_time(step->bytes);
    step->start = pf_take_turn(&bus->to_nic_free, step->start, occupancy);
    step->end = step->start + occupancy + pf_config.nic_pio_fence;
}

static void pcie_event(struct pf_bus *bus, struct pf_bus_step *step)
{
    post_write(&bus->from_nic_free, step);
}

static void pcie_read_request(struct pf_bus *bus, struct pf_bus_step *step)
{
    step->end = step->start + pf_config.nic_pcie_latency;
}

static void pcie_read(struct pf_bus *bus, struct pf_bus_step *step)
{
    step->end = step->start + pf_config.nic_pcie_latency + packet_time(step->bytes);
}

static void pcie_write(struct pf_bus *bus, struct pf_bus_step *step)
{
    if (step->transfer->streams)
        step->end = pf_engine_now() + pf_config.nic_pcie_latency + packet_time(step->bytes);
    else
        post_write(&bus->from_nic_free, step);
    if (step->end < bus->last_write)
        step->end = bus->last_write; /* posted writes do not overtake each other */
    bus->last_write = step->end;
}

static void no_notice(struct pf_bus *bus, const struct pf_bus_step *step)
{
}

static double no_limit(void)
{
    return INFINITY;
}

static void at_once(struct pf_bus *bus, struct pf_bus_step *step)
{
    double now = pf_engine_now();
    if (step->start < now)
        step->start = now;
    step->end = step->start;
}

static void written_at_once(struct pf_bus *bus, struct pf_bus_step *step)
{
    step->end = pf_engine_now();
}

const struct pf_bus_ops pf_bus_pcie = {
    .size = sizeof(struct pf_bus_ops),
    .name = "pcie",
    .stream_rate = pcie_stream_rate,
    .command = pcie_command,
    .pio = pcie_pio,
    .event = pcie_event,
    .read_request = pcie_read_request,
    .read = pcie_read,
    .read_done = no_notice,
    .write = pcie_write,
};

const struct pf_bus_ops pf_bus_pcie_no_commands = {
    .size = sizeof(struct pf_bus_ops),
    .name = "pcie without commands",
    .stream_rate = pcie_stream_rate,
    .command = at_once,
    .pio = pcie_pio,
    .event = at_once,
    .read_request = pcie_read_request,
    .read = pcie_read,
    .read_done = no_notice,
    .write = pcie_write,
};

const struct pf_bus_ops pf_bus_none = {
    .size = sizeof(struct pf_bus_ops),
    .name = "none",
    .stream_rate = no_limit,
    .command = at_once,
    .pio = at_once,
    .event = at_once,
    .read_request = at_once,
    .read = at_once,
    .read_done = no_notice,
    .write = written_at_once,
};

void pf_bus_use(const struct pf_bus_ops *ops)
{
    if (ops->size < sizeof *ops)
        pf_die("bus \"%s\" was built for another version of Parfocal", ops->name);
    pf_bus_in_force = ops;
}

const struct pf_bus_ops *pf_bus_choose(void)
{
    pf_config_load();
    if (!pf_bus_in_force)
        pf_bus_in_force = !pf_config.nic_pcie            ? &pf_bus_none
                          : !pf_config.nic_pcie_commands ? &pf_bus_pcie_no_commands
                                                         : &pf_bus_pcie;
    return pf_bus_in_force;
}
