/* SPDX-License-Identifier: BSD-3-Clause */
/* The parameters of the analytic model from the rows of the simulated NIC: what a fit to model portals would
 * find. The steps of a message and their times are in docs/accuracy.md. */
#include "adapters/analytic/cost/parameters/derive.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/config.h"

/* How many bytes osc/pt2pt gathers in one message, likewise. */
#define WINDOW_BUFFER 8192

/* The rows as durations, and one way of a message: the network, or the NIC's loopback. */
struct machine {
    double command, event, bus, byte; /* one of each on PCIe, its latency, a byte on it */
    double packet;                    /* the largest on PCIe, in bytes */
    double sends, takes;              /* the NIC's two sides */
    double wire, latency;             /* a byte; of the path, where it is not the platform's */
    size_t short_limit;
};

struct target {
    struct pf_parameters *parameters;
    bool memory;
};

/* Keys of the memory follow those of the network in the same order. */
static void give(const struct target *t, enum pf_parameter key, size_t from, double value, const char *rows)
{
    int shift = t->memory && key >= PF_LATENCY ? (int)PF_MEMORY_LATENCY - (int)PF_LATENCY : 0;
    pf_parameters_give(t->parameters, (enum pf_parameter)((int)key + shift), from, fmax(0, value), rows);
}

static size_t from_environment(const char *name, size_t otherwise)
{
    const char *text = getenv(name);
    char *end;
    if (!text || !*text)
        return otherwise;
    unsigned long long value = strtoull(text, &end, 10);
    return *end || value > (1ULL << 40) ? otherwise : (size_t)value;
}

static void read_rows(struct machine *m, bool memory, double bandwidth)
{
    m->byte = pf_config.nic_pcie ? 1 / pf_config.nic_pcie_bw : 0;
    m->bus = pf_config.nic_pcie ? pf_config.nic_pcie_latency : 0;
    m->packet = (double)pf_config.nic_pcie_packet;
    bool commands = pf_config.nic_pcie && pf_config.nic_pcie_commands;
    m->command = commands ? (double)pf_config.nic_command_bytes * m->byte : 0;
    m->event = commands ? (double)pf_config.nic_event_bytes * m->byte + m->bus : 0;
    m->sends = pf_config.nic_tx_time;
    m->takes = pf_config.nic_rx_time;
    m->wire = memory ? 1 / pf_config.nic_loopback_bw : 1 / bandwidth;
    m->latency = memory ? pf_config.nic_loopback_latency : 0;
    m->short_limit = from_environment("OMPI_MCA_mtl_portals4_short_limit", pf_config.openmpi_short_limit);
}

/* From the call to where the payload may go on the wire. */
static double begin(const struct machine *m, size_t bytes)
{
    double call = m->command + (pf_config.nic_pcie && pf_config.nic_pcie_commands ? m->bus : 0) + m->sends;
    if (bytes > pf_config.nic_handshake_min)
        call += pf_config.nic_handshake_time;
    if (bytes > m->short_limit)
        call += m->command; /* a list entry for the fetch goes before it */
    if (bytes <= pf_config.nic_inline_max)
        return call + pf_config.nic_put_time;
    return call + 2 * m->bus + fmin((double)bytes, m->packet) * m->byte;
}

/* From the wire's end to the event in the target's memory. */
static double end(const struct machine *m, size_t bytes)
{
    double write = bytes ? m->bus + fmin((double)bytes, m->packet) * m->byte : 0;
    return m->takes + write + m->event;
}

/* What a byte takes where it does not only cross the path. */
static double side_byte(const struct machine *m, size_t from)
{
    if (from == 0 || (double)from > m->packet)
        return 0;
    return from <= pf_config.nic_inline_max ? m->byte : 2 * m->byte;
}

/* A range from `from` on, in which `typical` stands for all sizes where a step is not worth a term. */
static void give_range(const struct machine *m, const struct target *t, size_t from, size_t typical)
{
    bool reads = from > pf_config.nic_inline_max, packets = (double)from > m->packet;
    double overhead = (double)pf_config.nic_packet_overhead, side = side_byte(m, from);
    double factor = packets ? m->packet / (m->packet + overhead) : 1;
    double header = (double)pf_config.nic_header_bytes - (packets ? overhead : 0);
    double slowest = reads ? fmax(m->wire, m->byte) : m->wire;
    double latency = m->latency + begin(m, from) + end(m, from) - side * (double)from;
    size_t further = (typical ? typical - 1 : 0) / pf_config.nic_pcie_packet;
    double bytes = (double)pf_config.nic_header_bytes + (double)typical + (double)further * overhead;
    bool streams = reads && bytes > (double)pf_config.net_small_max;
    give(t, PF_LATENCY, from, latency + (t->memory ? fmax(0, header) * slowest : 0),
         "nic_command_bytes, nic_event_bytes, nic_pcie_*, nic_tx_time, nic_rx_time, nic_put_time");
    give(t, PF_BUS_BANDWIDTH, from, side > 0 ? 1 / side : INFINITY, "nic_pcie_bw, nic_pcie_packet");
    give(t, PF_HEAD_LATENCY, from,
         m->latency + begin(m, typical) + m->takes + (streams ? 0 : bytes * slowest),
         "as latency and header, up to the target's NIC; net_small_max");
    if (t->memory) {
        give(t, PF_BANDWIDTH, from, factor / slowest, "nic_loopback_bw, nic_pcie_bw, nic_packet_overhead");
        return;
    }
    give(t, PF_HEADER, from, header, "nic_header_bytes, nic_packet_overhead");
    give(t, PF_BANDWIDTH_FACTOR, from, factor, "nic_pcie_packet, nic_packet_overhead");
    give(t, PF_BANDWIDTH_MAX, from, reads && m->byte > 0 ? 1 / m->byte : INFINITY, "nic_pcie_bw");
}

static int compare_sizes(const void *a, const void *b)
{
    size_t x = *(const size_t *)a, y = *(const size_t *)b;
    return (x > y) - (x < y);
}

/* The sizes at which a step begins or ends, and some between them for what lies on no line. */
static void give_ranges(const struct machine *m, const struct target *t)
{
    size_t sizes[] = {0,
                      1,
                      pf_config.nic_inline_max + 1,
                      128,
                      256,
                      pf_config.nic_pcie_packet + 1,
                      1024,
                      1536,
                      m->short_limit + 1,
                      pf_config.nic_handshake_time > 0 ? pf_config.nic_handshake_min + 1 : 0,
                      3072,
                      pf_config.net_small_max + 1 > pf_config.nic_header_bytes
                          ? pf_config.net_small_max + 1 - pf_config.nic_header_bytes
                          : 0};
    int n = sizeof sizes / sizeof sizes[0];
    qsort(sizes, (size_t)n, sizeof *sizes, compare_sizes);
    for (int i = 0; i < n; i++) {
        if (i + 1 < n && sizes[i] == sizes[i + 1])
            continue;
        size_t next = i + 1 < n ? sizes[i + 1] - 1 : 2 * sizes[i];
        give_range(m, t, sizes[i], sizes[i] + (next > sizes[i] ? (next - sizes[i]) / 2 : 0));
    }
}

static void give_transport(const struct machine *m, const struct target *t)
{
    static const char ack_rows[] =
        "nic_tx_time, nic_response_time, nic_ack_bytes, nic_rx_time, nic_event_bytes";
    double response = m->sends + pf_config.nic_response_time + m->takes + m->latency + m->event +
                      (double)pf_config.nic_ack_bytes * m->wire;
    double gap = fmax(fmax(pf_config.nic_tx_gap, pf_config.nic_rx_gap),
                      pf_config.nic_match_gap / (double)pf_config.nic_match_engines);
    give_ranges(m, t);
    give(t, PF_OVERHEAD_SEND, 0, pf_config.openmpi_message_cost + pf_config.openmpi_send_time,
         "openmpi_message_cost, openmpi_send_time");
    if (pf_config.openmpi_receive_time > 0)
        give(t, PF_OVERHEAD_RECEIVE, 0, pf_config.openmpi_receive_time, "openmpi_receive_time");
    if (!pf_config.nic_quick_acks) {
        double both = pf_config.nic_pcie_commands ? (double)pf_config.nic_event_bytes * m->byte : 0;
        give(t, PF_ACK_LATENCY, 0, response, ack_rows);
        give(t, PF_ACK_LATENCY, pf_config.nic_early_send + 1, response + both,
             ack_rows); /* SEND goes first */
    }
    give(t, PF_CONTROL_LATENCY, 0,
         m->sends + pf_config.nic_get_time + m->takes + m->latency +
             (double)pf_config.nic_header_bytes * m->wire - m->command,
         "nic_tx_time, nic_get_time, nic_header_bytes, nic_rx_time");
    if (t->memory) {
        double busy = fmax(m->wire, m->byte);
        give(t, PF_NIC_BANDWIDTH, 0, busy > 0 ? 1 / busy : INFINITY, "nic_loopback_bw, nic_pcie_bw");
        gap = fmax(gap, (double)pf_config.nic_header_bytes * busy);
    }
    give(t, PF_GAP, 0, gap, "nic_tx_gap, nic_rx_gap, nic_match_gap, nic_match_engines");
}

static void give_protocol(const struct machine *m, struct pf_parameters *p)
{
    static const char mtl[] = "mtl/portals4 of Open MPI 4.1.4";
    struct target t = {p, false};
    bool shared = strcmp(pf_config.net_model, "ideal") != 0;
    double posted = m->event > 0 ? m->command + m->bus + m->event : 0;
    pf_parameters_give_word(p, PF_PROTOCOL, "portals", mtl);
    pf_parameters_give_word(p, PF_EAGER_DONE, pf_config.nic_quick_acks ? "arrived" : "acknowledged",
                            "nic_quick_acks");
    pf_parameters_give_word(p, PF_RENDEZVOUS_DONE, pf_config.nic_quick_acks ? "arrived" : "acknowledged",
                            "nic_quick_acks");
    pf_parameters_give_word(p, PF_TOGETHER, "share", "net_model");
    size_t header = pf_config.nic_header_bytes;
    give(&t, PF_SHARE_ABOVE, 0,
         (double)(pf_config.net_small_max > header ? pf_config.net_small_max - header : 0),
         "net_small_max, nic_header_bytes");
    pf_parameters_give_word(p, PF_WINDOWS, strcmp(pf_config_osc(), "portals4") == 0 ? "nic" : "pt2pt",
                            "openmpi_osc");
    give(&t, PF_WINDOW_BUFFER, 0, (double)from_environment("OMPI_MCA_osc_pt2pt_buffer_size", WINDOW_BUFFER),
         "OMPI_MCA_osc_pt2pt_buffer_size");
    pf_parameters_give_word(p, PF_CONTENTION, shared ? "nic" : "none", "net_model");
    if (!shared)
        give(&t, PF_NIC_BANDWIDTH, 0, INFINITY, "net_model");
    give(&t, PF_CALL, 0, pf_config.openmpi_call_cost, "openmpi_call_cost");
    if (pf_config.openmpi_combine_bw > 0)
        give(&t, PF_COMBINE_BANDWIDTH, 0, pf_config.openmpi_combine_bw, "openmpi_combine_bw");
    if (pf_config.openmpi_buffered_max > 0)
        give(&t, PF_BUFFERED_MAX, 0, (double)pf_config.openmpi_buffered_max, "openmpi_buffered_max");
    give(&t, PF_EAGER_MAX, 0, (double)m->short_limit,
         "openmpi_short_limit, OMPI_MCA_mtl_portals4_short_limit");
    give(&t, PF_POST, 0, posted, "nic_command_bytes, nic_event_bytes, nic_pcie_*: long receives wait for it");
    give(&t, PF_RECEIVE_LATENCY, 0, posted, "nic_command_bytes, nic_event_bytes, nic_pcie_*");
    give(&t, PF_EVENT_LATENCY, 0, m->event, "nic_event_bytes, nic_pcie_*");
    give(&t, PF_WRITE_LATENCY, 0, m->bus + m->packet * m->byte, "nic_pcie_latency, nic_pcie_packet");
}

void pf_cost_derive(struct pf_parameters *parameters, double bandwidth)
{
    struct target network = {parameters, false}, memory = {parameters, true};
    struct machine m;
    if (!(bandwidth > 0))
        bandwidth = pf_config.platform_link_bw;
    read_rows(&m, false, bandwidth);
    give_protocol(&m, parameters);
    give_transport(&m, &network);
    read_rows(&m, true, bandwidth);
    give_transport(&m, &memory);
    give(&memory, PF_LATENCY_FACTOR, 0, 0, "nic_loopback_latency stands in its place");
}
