/* SPDX-License-Identifier: BSD-3-Clause */
/* A layer on the bus: sees the steps between memory and NIC. A step that takes no time is not one of the
 * simulated machine (PCIe is switched off). */
#include "base/self.h"
#include "lowlevel/nic/bus.h"
#include "lowlevel/trace/layers.h"
#include "lowlevel/trace/places.h"
#include "lowlevel/trace/timeline.h"

static const struct pf_bus_ops *below;

/* The process that the step is for, as far as that is known. */
static int rank_of(const struct pf_bus *bus, const struct pf_bus_step *step)
{
    if (step->transfer)
        return step->kind == PF_BUS_PAYLOAD_WRITE ? step->transfer->dst_process : step->transfer->src_process;
    if (step->kind == PF_BUS_COMMAND && !pf_engine_inside() && pf_self())
        return pf_self()->rank;
    return pf_trace_rank_of_node(bus->node);
}

static void describe(const struct pf_bus *bus, const struct pf_bus_step *step, struct pf_trace_record *out)
{
    static const uint8_t types[] = {
        [PF_BUS_COMMAND] = PF_TRACE_COMMAND,  [PF_BUS_PIO] = PF_TRACE_PIO_PAYLOAD,
        [PF_BUS_EVENT] = PF_TRACE_EVENT,      [PF_BUS_READ_REQUEST] = PF_TRACE_DMA_REQUEST,
        [PF_BUS_READ] = PF_TRACE_DMA_PAYLOAD, [PF_BUS_PAYLOAD_WRITE] = PF_TRACE_PAYLOAD_WRITE,
    };
    struct pf_trace_party place = {bus->node, rank_of(bus, step)};
    *out = (struct pf_trace_record){
        .type = types[step->kind],
        .track = PF_TRACE_PCIE,
        .from = place,
        .to = place,
        .to_memory = step->kind == PF_BUS_EVENT || step->kind == PF_BUS_READ_REQUEST ||
                     step->kind == PF_BUS_PAYLOAD_WRITE,
        .start = step->start,
        .end = step->end,
        .bytes = step->bytes,
    };
}

static void note(const struct pf_bus *bus, const struct pf_bus_step *step)
{
    struct pf_trace_record what;
    if (step->end <= step->start)
        return;
    describe(bus, step, &what);
    pf_timeline_add(&what);
}

static void command(struct pf_bus *bus, struct pf_bus_step *step)
{
    below->command(bus, step);
    note(bus, step);
}

static void pio(struct pf_bus *bus, struct pf_bus_step *step)
{
    below->pio(bus, step);
    note(bus, step);
}

static void event(struct pf_bus *bus, struct pf_bus_step *step)
{
    below->event(bus, step);
    note(bus, step);
}

static void read_request(struct pf_bus *bus, struct pf_bus_step *step)
{
    below->read_request(bus, step);
    note(bus, step);
}

/* The payload follows the first packet at the pace of the wire: its end comes with read_done(). */
static void read(struct pf_bus *bus, struct pf_bus_step *step)
{
    struct pf_trace_record what;
    below->read(bus, step);
    if (step->end <= step->start || !step->transfer)
        return;
    describe(bus, step, &what);
    pf_trace_payload(step->transfer)->read = pf_timeline_begin(&what);
}

static void read_done(struct pf_bus *bus, const struct pf_bus_step *step)
{
    struct pf_trace_payload *payload = step->transfer ? pf_trace_payload(step->transfer) : NULL;
    if (payload && payload->read)
        pf_timeline_end(payload->read, step->end, PF_TRACE_DONE);
    if (payload)
        payload->read = 0;
    below->read_done(bus, step);
}

/* Of a stream the record has begun when it was matched (messages.c). */
static void write(struct pf_bus *bus, struct pf_bus_step *step)
{
    below->write(bus, step);
    struct pf_trace_payload *payload = pf_trace_payload(step->transfer);
    if (payload->write)
        pf_timeline_end(payload->write, step->end, PF_TRACE_DONE);
    else if (!step->transfer->streams)
        note(bus, step);
    payload->write = 0;
}

void pf_trace_stack_bus(void)
{
    static struct pf_bus_ops layer;
    below = pf_bus();
    layer = *below; /* what this layer has no interest in goes straight on */
    layer.command = command;
    layer.pio = pio;
    layer.event = event;
    layer.read_request = read_request;
    layer.read = read;
    layer.read_done = read_done;
    layer.write = write;
    pf_bus_use(&layer);
}
