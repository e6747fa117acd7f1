/* SPDX-License-Identifier: BSD-3-Clause */
/* The parameters of the analytic model from the rows of the simulated NIC: what a fit to model portals would
 * find. The steps of a message and their times are in docs/accuracy.md. */
#include "adapters/analytic/cost/parameters/derive.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/config.h"
#include "lowlevel/nic/levels.h"
#include "lowlevel/nic/nic.h"
#include "lowlevel/ucx/settings.h"

/* How many bytes osc/pt2pt gathers in one message, likewise. */
#define WINDOW_BUFFER 8192

/* The rows as durations, and one way of a message: the network, or the NIC's loopback. */
struct machine {
    double command, event, bus, byte; /* one of each on PCIe, its latency, a byte on it */
    double packet;                    /* the largest on PCIe, in bytes */
    double sends, takes;              /* the NIC's two sides */
    double wire, latency;             /* a byte; of the path, where it is not the platform's */
    /* Of a put: bytes before its data, how many go in the command, and how many the processor writes. */
    size_t header, inside, written;
    bool past;  /* the NIC, through the host's memory */
    bool lists; /* a list entry for the fetch goes before a put above short_limit */
    size_t short_limit;
};

static bool is_over_ucx(void)
{
    return strcmp(pf_config.analytic_stack, "portals") != 0;
}

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
    m->past = memory && pf_config.nic_loopback_memory;
    bool bus = pf_config.nic_pcie && !m->past;
    m->byte = bus ? 1 / pf_config.nic_pcie_bw : 0;
    m->bus = bus ? pf_config.nic_pcie_latency : 0;
    m->packet = (double)pf_config.nic_pcie_packet;
    bool commands = bus && pf_config.nic_pcie_commands;
    m->command = commands ? (double)pf_config.nic_command_bytes * m->byte : 0;
    m->event = commands ? (double)pf_config.nic_event_bytes * m->byte + m->bus : 0;
    m->sends = m->past ? 0 : pf_config.nic_tx_time;
    m->takes = pf_config.nic_rx_time;
    m->wire = memory ? 1 / pf_config.nic_loopback_bw : 1 / bandwidth;
    m->latency = memory ? pf_config.nic_loopback_latency : 0;
    m->lists = !is_over_ucx();
    m->header = m->lists ? 0 : PF_UCX_EAGER_HEADER;
    m->inside = pf_config.nic_inline_max + (m->lists ? 0 : PF_NIC_MATCH_BITS);
    m->written = m->lists ? m->inside : pf_nic_volatile_max() + PF_NIC_MATCH_BITS;
    m->short_limit = from_environment("OMPI_MCA_mtl_portals4_short_limit", pf_config.openmpi_short_limit);
}

/* From the call to where a payload may go on the wire. */
static double begin(const struct machine *m, size_t payload)
{
    if (m->past)
        return 0;
    double call = m->command + (pf_config.nic_pcie && pf_config.nic_pcie_commands ? m->bus : 0) + m->sends;
    if (m->lists && payload > pf_config.nic_handshake_min)
        call += pf_config.nic_handshake_time;
    if (m->lists && payload > m->short_limit)
        call += m->command;
    if (payload <= m->inside)
        return call + pf_config.nic_put_time;
    if (payload <= m->written)
        return call + pf_config.nic_put_time + (double)(payload - m->inside) * m->byte +
               (pf_config.nic_pcie ? pf_config.nic_pio_fence : 0);
    return call + 2 * m->bus + fmin((double)payload, m->packet) * m->byte;
}

/* From the wire's end to the event in the target's memory. */
static double end(const struct machine *m, size_t payload)
{
    double write = payload ? m->bus + fmin((double)payload, m->packet) * m->byte : 0;
    return m->takes + write + m->event;
}

/* What a byte takes where it does not only cross the path. */
static double side_byte(const struct machine *m, size_t payload)
{
    if (payload == 0 || (double)payload > m->packet)
        return 0;
    return payload <= m->inside ? m->byte : 2 * m->byte;
}

/* The same with the level of the host's memory that payloads of this size are in. */
static struct machine at_level(const struct machine *m, size_t payload)
{
    struct machine at = *m;
    if (m->past) {
        at.wire = 1 / pf_nic_level_of(payload)->bandwidth;
        at.latency = pf_nic_level_of(payload)->latency;
    }
    return at;
}

/* A range from `from` on, in which `typical` stands for all sizes where a step is not worth a term. */
static void give_range(const struct machine *of, const struct target *t, size_t from, size_t typical)
{
    size_t payload = of->header + from;
    const struct machine at = at_level(of, payload), *m = &at;
    bool reads = payload > m->written, packets = (double)payload > m->packet;
    double overhead = (double)pf_config.nic_packet_overhead, side = side_byte(m, payload);
    double factor = packets ? m->packet / (m->packet + overhead) : 1;
    double header = (double)pf_config.nic_header_bytes + (double)m->header - (packets ? overhead : 0);
    double slowest = reads ? fmax(m->wire, m->byte) : m->wire;
    double latency = m->latency + begin(m, payload) + end(m, payload) - side * (double)from;
    size_t further = (typical ? typical - 1 : 0) / pf_config.nic_pcie_packet;
    double bytes = (double)pf_config.nic_header_bytes + (double)typical + (double)further * overhead;
    bool streams = reads && bytes > (double)pf_config.net_small_max;
    give(t, PF_LATENCY, from, latency + (t->memory ? fmax(0, header) * slowest : 0),
         "nic_command_bytes, nic_event_bytes, nic_pcie_*, nic_tx_time, nic_rx_time, nic_put_time");
    give(t, PF_BUS_BANDWIDTH, from, side > 0 ? 1 / side : INFINITY, "nic_pcie_bw, nic_pcie_packet");
    if (m->lists)
        give(t, PF_HEAD_LATENCY, from,
             m->latency + begin(m, typical) + m->takes + (streams ? 0 : bytes * slowest),
             "as latency and header, up to the target's NIC; net_small_max");
    if (t->memory) {
        give(t, PF_BANDWIDTH, from, factor / slowest,
             "nic_loopback_bw, nic_loopback_levels, nic_pcie_bw, nic_packet_overhead");
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

/* The shortest data of which the payload is longer than this. */
static size_t above(const struct machine *m, size_t payload)
{
    return payload >= m->header ? payload + 1 - m->header : 0;
}

/* The sizes at which a step begins or ends, and some between them for what lies on no line. */
static void give_ranges(const struct machine *m, const struct target *t)
{
    const struct pf_nic_level *levels;
    size_t sizes[13 + PF_NIC_MOST_LEVELS] = {
        0,
        1,
        above(m, m->inside),
        above(m, m->written),
        128,
        256,
        above(m, pf_config.nic_pcie_packet),
        1024,
        1536,
        m->lists ? m->short_limit + 1 : 0,
        m->lists && pf_config.nic_handshake_time > 0 ? pf_config.nic_handshake_min + 1 : 0,
        3072,
        pf_config.net_small_max + 1 > pf_config.nic_header_bytes
            ? above(m, pf_config.net_small_max - pf_config.nic_header_bytes)
            : 0};
    int n = sizeof sizes / sizeof sizes[0], count = m->past ? pf_nic_levels(&levels) : 1;
    for (int i = 1; i < count; i++)
        sizes[12 + i] = above(m, levels[i].from - 1);
    qsort(sizes, (size_t)n, sizeof *sizes, compare_sizes);
    for (int i = 0; i < n; i++) {
        if (i + 1 < n && sizes[i] == sizes[i + 1])
            continue;
        size_t next = i + 1 < n ? sizes[i + 1] - 1 : 2 * sizes[i];
        give_range(m, t, sizes[i], sizes[i] + (next > sizes[i] ? (next - sizes[i]) / 2 : 0));
    }
}

/* When a put without data of a library over UCX is seen by the processor at the other end. */
static double notice(const struct machine *m, size_t payload)
{
    return m->latency + begin(m, payload) + (double)(pf_config.nic_header_bytes + payload) * m->wire +
           end(m, payload);
}

/* From where a message has arrived to where its sender knows of it, and requests. */
static void give_answers(const struct machine *m, const struct target *t)
{
    static const char ack_rows[] =
        "nic_tx_time, nic_response_time, nic_ack_bytes, nic_rx_time, nic_event_bytes";
    static const char ucx_rows[] = "as latency and header: UCX's messages without data";
    double response = m->sends + pf_config.nic_response_time + m->takes + m->latency + m->event +
                      (double)pf_config.nic_ack_bytes * m->wire;
    if (!m->lists) {
        const struct pf_ucx_settings *ucx = pf_ucx_settings();
        size_t copied = ucx->zcopy_thresh > ucx->short_max ? ucx->zcopy_thresh : ucx->short_max + 1;
        give(t, PF_HEAD_LATENCY, 0, notice(m, PF_UCX_RTS_BYTES), ucx_rows);
        give(t, PF_ACK_LATENCY, 0, notice(m, PF_UCX_DONE_BYTES), ucx_rows);
        give(t, PF_ACK_LATENCY, copied, response, ack_rows);
    } else if (!pf_config.nic_quick_acks) {
        double both = pf_config.nic_pcie_commands ? (double)pf_config.nic_event_bytes * m->byte : 0;
        give(t, PF_ACK_LATENCY, 0, response, ack_rows);
        give(t, PF_ACK_LATENCY, pf_config.nic_early_send + 1, response + both,
             ack_rows); /* SEND goes first */
    }
    give(t, PF_CONTROL_LATENCY, 0,
         m->sends + pf_config.nic_get_time + m->takes + m->latency +
             (double)pf_config.nic_header_bytes * m->wire - (m->lists ? m->command : 0),
         "nic_tx_time, nic_get_time, nic_header_bytes, nic_rx_time");
}

static void give_transport(const struct machine *m, const struct target *t)
{
    double gap = fmax(fmax(pf_config.nic_tx_gap, pf_config.nic_rx_gap),
                      pf_config.nic_match_gap / (double)pf_config.nic_match_engines);
    give_ranges(m, t);
    give(t, PF_OVERHEAD_SEND, 0, pf_config.openmpi_message_cost + pf_config.openmpi_send_time,
         "openmpi_message_cost, openmpi_send_time");
    if (pf_config.openmpi_receive_time > 0)
        give(t, PF_OVERHEAD_RECEIVE, 0, pf_config.openmpi_receive_time, "openmpi_receive_time");
    give_answers(m, t);
    const struct pf_nic_level *levels;
    int count = pf_nic_levels(&levels); /* for any target, as it refuses what cannot be read */
    if (t->memory) {
        double busy = fmax(m->wire, m->byte);
        give(t, PF_NIC_BANDWIDTH, 0, busy > 0 ? 1 / busy : INFINITY, "nic_loopback_bw, nic_pcie_bw");
        for (int i = 1; m->past && i < count; i++)
            give(t, PF_NIC_BANDWIDTH, above(m, levels[i].from - 1), levels[i].bandwidth,
                 "nic_loopback_levels");
        gap = fmax(gap, (double)pf_config.nic_header_bytes * busy);
    }
    give(t, PF_GAP, 0, gap, "nic_tx_gap, nic_rx_gap, nic_match_gap, nic_match_engines");
}

/* Open MPI's mtl/portals4: the NIC matches. */
static void give_portals(const struct machine *m, const struct target *t)
{
    static const char bus_rows[] = "nic_command_bytes, nic_event_bytes, nic_pcie_*";
    const char *done = pf_config.nic_quick_acks ? "arrived" : "acknowledged";
    double posted = m->event > 0 ? m->command + m->bus + m->event : 0;
    pf_parameters_give_word(t->parameters, PF_PROTOCOL, "portals", "mtl/portals4 of Open MPI 4.1.4");
    pf_parameters_give_word(t->parameters, PF_EAGER_DONE, done, "nic_quick_acks");
    pf_parameters_give_word(t->parameters, PF_RENDEZVOUS_DONE, done, "nic_quick_acks");
    if (pf_config.openmpi_buffered_max > 0)
        give(t, PF_BUFFERED_MAX, 0, (double)pf_config.openmpi_buffered_max, "openmpi_buffered_max");
    give(t, PF_EAGER_MAX, 0, (double)m->short_limit,
         "openmpi_short_limit, OMPI_MCA_mtl_portals4_short_limit");
    give(t, PF_POST, 0, posted, "nic_command_bytes, nic_event_bytes, nic_pcie_*: long receives wait for it");
    give(t, PF_RECEIVE_LATENCY, 0, posted, bus_rows);
    give(t, PF_WRITE_LATENCY, 0, m->bus + m->packet * m->byte, "nic_pcie_latency, nic_pcie_packet");
}

/* From this size on; SIZE_MAX: never. */
static void give_below(const struct target *t, enum pf_parameter key, size_t threshold, const char *rows)
{
    give(t, key, 0, threshold == SIZE_MAX ? INFINITY : (double)(threshold ? threshold - 1 : 0), rows);
}

/* UCX: the processor matches. MPICH does not tell UCX that a caller waits for its send. */
static void give_ucx(const struct target *t)
{
    const struct pf_ucx_settings *ucx = pf_ucx_settings();
    double header = (double)pf_config.nic_header_bytes + PF_UCX_PIECE_HEADER;
    pf_parameters_give_word(t->parameters, PF_PROTOCOL, "ucx", "analytic_stack");
    pf_parameters_give_word(t->parameters, PF_EAGER_DONE, "acknowledged", "analytic_stack");
    pf_parameters_give_word(t->parameters, PF_RENDEZVOUS_DONE, "acknowledged", "analytic_stack");
    give(t, PF_SHORT_MAX, 0, (double)ucx->short_max, "nic_pio_max");
    give_below(t, PF_BUFFERED_MAX, ucx->zcopy_thresh, "ucx_zcopy_thresh, UCX_ZCOPY_THRESH");
    give_below(t, PF_EAGER_MAX, ucx->rndv_thresh, "ucx_rndv_thresh, UCX_RNDV_THRESH");
    if (strcmp(pf_config.analytic_stack, "ucx") == 0)
        give_below(t, PF_BLOCKING_MAX, ucx->rndv_nbr_thresh, "ucx_rndv_nbr_thresh, UCX_RNDV_SEND_NBR_THRESH");
    give(t, PF_PIECE, 0, (double)ucx->seg_size, "ucx_seg_size, UCX_IB_SEG_SIZE");
    give(t, PF_PIECE_HEADER, 0, header - (double)pf_config.nic_packet_overhead,
         "nic_header_bytes, nic_packet_overhead");
    if (ucx->bcopy_bw > 0)
        give(t, PF_COPY_BANDWIDTH, 0, ucx->bcopy_bw, "ucx_bcopy_bw, UCX_BCOPY_BW");
    give(t, PF_REGISTER_TIME, 0, pf_config.ucx_reg_time, "ucx_reg_time");
}

static void give_protocol(const struct machine *m, const struct target *t)
{
    bool shared = strcmp(pf_config.net_model, "ideal") != 0;
    bool by_nic = m->lists && strcmp(pf_config_osc(), "portals4") == 0;
    bool mpich = strcmp(pf_config.analytic_stack, "mpich") == 0;
    size_t header = pf_config.nic_header_bytes + m->header;
    if (m->lists)
        give_portals(m, t);
    else
        give_ucx(t);
    give(t, PF_EVENT_LATENCY, 0, m->event, "nic_event_bytes, nic_pcie_*");
    pf_parameters_give_word(t->parameters, PF_TOGETHER, "share", "net_model");
    give(t, PF_SHARE_ABOVE, 0,
         (double)(pf_config.net_small_max > header ? pf_config.net_small_max - header : 0),
         "net_small_max, nic_header_bytes");
    pf_parameters_give_word(t->parameters, PF_WINDOWS,
                            mpich    ? "words"
                            : by_nic ? "nic"
                                     : "pt2pt",
                            "openmpi_osc, analytic_stack");
    give(t, PF_WINDOW_BUFFER, 0, (double)from_environment("OMPI_MCA_osc_pt2pt_buffer_size", WINDOW_BUFFER),
         "OMPI_MCA_osc_pt2pt_buffer_size");
    pf_parameters_give_word(t->parameters, PF_CONTENTION, shared ? "nic" : "none", "net_model");
    if (!shared)
        give(t, PF_NIC_BANDWIDTH, 0, INFINITY, "net_model");
    give(t, PF_CALL, 0, pf_config.openmpi_call_cost, "openmpi_call_cost");
    if (pf_config.openmpi_start_time > 0 && !mpich)
        give(t, PF_START, 0, pf_config.openmpi_start_time, "openmpi_start_time");
    if (pf_config.openmpi_type_time > 0 && !mpich)
        give(t, PF_TYPE, 0, pf_config.openmpi_type_time, "openmpi_type_time");
    if (pf_config.openmpi_combine_bw > 0)
        give(t, PF_COMBINE_BANDWIDTH, 0, pf_config.openmpi_combine_bw, "openmpi_combine_bw");
    if (pf_config.openmpi_copy_bw > 0 && !mpich)
        give(t, PF_OWN_BANDWIDTH, 0, pf_config.openmpi_copy_bw, "openmpi_copy_bw");
}

void pf_cost_derive(struct pf_parameters *parameters, double bandwidth)
{
    struct target network = {parameters, false}, memory = {parameters, true};
    struct machine m;
    if (!(bandwidth > 0))
        bandwidth = pf_config.platform_link_bw;
    read_rows(&m, false, bandwidth);
    give_protocol(&m, &network);
    give_transport(&m, &network);
    read_rows(&m, true, bandwidth);
    give_transport(&m, &memory);
    give(&memory, PF_LATENCY_FACTOR, 0, 0, "nic_loopback_latency stands in its place");
}
