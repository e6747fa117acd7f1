/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The packet simulator as a network under the NIC. Packets may overtake each other where a routing has
 * several ways or a class several channels. The NIC counts on order: a message that enters when another one
 * of its virtual network and way has left its source arrives behind it. So one that is there too early waits
 * here, at the destination.
 */
#include "base/config.h"
#include "base/memory.h"
#include "base/pool.h"
#include "lowlevel/network/loss.h"
#include "lowlevel/network/network.h"
#include "lowlevel/network/packet/background.h"
#include "lowlevel/network/packet/described.h"
#include "lowlevel/network/packet/failures.h"
#include "lowlevel/network/packet/from_platform.h"
#include "lowlevel/network/packet/report.h"
#include "lowlevel/network/packet/sim.h"
#include "lowlevel/network/path.h"
#include "lowlevel/platform/platform.h"

#include <math.h>
#include <string.h>
#include <utlist.h>

/* A transfer on its way; its `state`. */
struct pf_packet_parcel {
    struct pf_packet_message message;
    struct pf_transfer *transfer;    /* NULL: cancelled, no more upcalls */
    struct pf_packet_parcel **queue; /* of its path and virtual network, in the order of entering */
    struct pf_packet_parcel *prev, *next;
    uint64_t entered, left;   /* numbers of these moments; left: STILL_THERE before */
    bool has_first, has_last; /* at the destination */
    bool has_called_first;
};

#define STILL_THERE UINT64_MAX

static uint64_t moment;
static struct pf_pool parcels = PF_POOL(struct pf_packet_parcel);
static struct pf_network_paths paths; /* for latency, loss and rate; the links are the simulator's */
static struct pf_packet_platform platform;
static struct pf_packet_sim *sim;
static bool
    is_lazy; /* what happens without the program holds nothing up: it is simulated when the program sends */
static bool has_background, is_advancing;
static uint64_t under_way; /* the program's parcels */

static void link_changed(int link)
{
    pf_packet_platform_update(&platform, link);
    if (link < platform.link_count && platform.port_of[link] >= 0)
        pf_packet_sim_port_changed(sim, platform.port_of[link], pf_engine_now());
}

/* A platform that gives routes but no routers does not describe queues that hold up what goes elsewhere. */
static bool has_output_queues(void)
{
    return strcmp(pf_config.net_output_queues, "auto") == 0 ? !pf_packet_is_described()
                                                            : strcmp(pf_config.net_output_queues, "yes") == 0;
}

static struct pf_packet_settings settings(void)
{
    return (struct pf_packet_settings){
        .packet_bytes = (uint32_t)pf_config.net_packet_bytes,
        .header_bytes = (uint32_t)pf_config.net_packet_header,
        .virtual_networks = PF_VN_COUNT,
        .channels = pf_config.net_virtual_channels,
        .channel_buffer = (int64_t)pf_config.net_vc_buffer,
        .credit_delay = pf_config.net_credit_delay,
        .crossbar_speedup = pf_config.net_crossbar_speedup,
        .output_queues = has_output_queues(),
        .alternates = pf_config.net_alternates,
        .notes_waits = pf_chain_on,
        .arbitration = strcmp(pf_config.net_arbitration, "age") == 0 ? PF_PACKET_AGE : PF_PACKET_ROUND_ROBIN,
    };
}

static struct pf_packet_sim *simulator(void)
{
    char error[300];
    if (sim)
        return sim;
    if (pf_config.nic_streams != 1) /* the order of their ends would be the packets' */
        pf_die("network packet: %s must be 1, not %lld", pf_config_given("nic_streams"),
               (long long)pf_config.nic_streams);
    double bus = pf_config.nic_pcie ? pf_config.nic_pcie_bw : INFINITY;
    pf_packet_described_check();
    const struct pf_packet_settings wanted = settings();
    if (pf_packet_is_described())
        pf_packet_described_make(&platform, pf_config.net_router_latency, bus);
    else
        pf_packet_platform_make(&platform, pf_config.net_router_latency, bus);
    sim = pf_packet_sim_make(&platform.routing, &wanted, error, sizeof error);
    if (!sim)
        pf_die("network packet: %s", error);
    pf_platform_on_change(link_changed);
    pf_packet_report_start(sim, &platform);
    has_background = pf_packet_background_open(sim, platform.fabric);
    is_lazy = pf_packet_failures_open(sim, &platform) || has_background;
    return sim;
}

/* ---- Order. */
static void end(struct pf_packet_parcel *parcel)
{
    DL_DELETE(*parcel->queue, parcel);
    under_way--;
    if (parcel->transfer)
        parcel->transfer->state = NULL;
    pf_pool_put(&parcels, parcel);
}

/* The first one whose header is there, has had no upcall, and has its turn: behind the headers of all
 * before it, and behind all of those that had left when it entered. NULL: none. */
static struct pf_packet_parcel *whose_turn(struct pf_packet_parcel *first)
{
    uint64_t first_left = STILL_THERE;
    for (struct pf_packet_parcel *parcel = first; parcel; parcel = parcel->next) {
        if (!parcel->has_called_first)
            return parcel->has_first && first_left > parcel->entered ? parcel : NULL;
        if (parcel->left < first_left)
            first_left = parcel->left;
    }
    return NULL;
}

/* The upcalls may send, and end transfers: each is followed by a new search. */
static void call_first(struct pf_packet_parcel **queue)
{
    struct pf_packet_parcel *parcel;
    while ((parcel = whose_turn(*queue))) {
        struct pf_transfer *t = parcel->transfer;
        bool is_over = parcel->has_last;
        parcel->has_called_first = true;
        if (is_over)
            end(parcel);
        if (t)
            t->first(t);
        if (t && is_over)
            t->last(t);
    }
}

static struct pf_packet_parcel *parcel_of(struct pf_packet_message *message)
{
    return pf_container_of(message, struct pf_packet_parcel, message);
}

/* ---- Upcalls of the simulator. */
static void first_arrives(struct pf_packet_message *message, double date)
{
    struct pf_packet_parcel *parcel = parcel_of(message);
    if (parcel->transfer && parcel->transfer->failed)
        return; /* by chance: it uses the network up to its end */
    parcel->has_first = true;
    call_first(parcel->queue);
}

static void last_leaves(struct pf_packet_message *message, double date)
{
    struct pf_packet_parcel *parcel = parcel_of(message);
    struct pf_transfer *t = parcel->transfer;
    if (t && t->failed)
        return;
    parcel->left = moment++;
    if (t)
        t->sent(t);
}

static void lose(struct pf_packet_parcel *parcel)
{
    struct pf_transfer *t = parcel->transfer;
    struct pf_packet_parcel **queue = parcel->queue;
    end(parcel);
    if (t) {
        t->failed = true;
        t->lost(t);
    }
    call_first(queue); /* what it has held up */
}

static void last_arrives(struct pf_packet_message *message, double date)
{
    struct pf_packet_parcel *parcel = parcel_of(message);
    struct pf_transfer *t = parcel->transfer;
    struct pf_packet_parcel **queue = parcel->queue;
    if (t && t->failed) {
        lose(parcel);
        return;
    }
    if (t && message->waited_at >= 0)
        t->waited_at = pf_packet_report_link(message->waited_at);
    parcel->has_first = parcel->has_last = true;
    if (parcel->has_called_first) {
        end(parcel);
        if (t)
            t->last(t);
    }
    call_first(queue);
}

static void is_dropped(struct pf_packet_message *message, double date)
{
    lose(parcel_of(message));
}

static const struct pf_packet_message_ops upcalls = {sizeof upcalls, first_arrives, last_leaves, last_arrives,
                                                     is_dropped};

static int32_t node_of(int node)
{
    int32_t known = platform.node_of[node];
    if (known < 0)
        pf_die("network packet: host %s sends or receives, and had no rank when the first message was sent",
               sg_host_get_name(pf_platform_host(node)));
    return known;
}

static void catch_up(void)
{
    if (has_background)
        pf_packet_background_resume(pf_engine_now());
    else
        pf_packet_sim_advance(sim, pf_engine_now());
}

/* ---- The network. A node's messages to itself do not leave its NIC: they go as in any other network. */
static void packet_inject(struct pf_transfer *t)
{
    if (t->src == t->dst) {
        pf_network_flow.inject(t);
        return;
    }
    struct pf_packet_sim *s = simulator();
    struct pf_path *path = pf_path_get(&paths, t->src, t->dst);
    struct pf_packet_parcel *parcel = pf_pool_get(&parcels);
    /* What is short counts as a whole, as in the network of flows: its header is there with its last byte. */
    bool streams = t->streams && t->bytes > (double)pf_config.net_small_max;
    *parcel = (struct pf_packet_parcel){
        .message = {.ops = &upcalls,
                    .bytes = fmax(t->bytes, 1.0),
                    .source = node_of(t->src),
                    .destination = node_of(t->dst),
                    .virtual_network = t->vn,
                    .streams = streams},
        .transfer = t,
        .queue = &path->lanes[t->vn].parcels,
        .entered = moment++,
        .left = STILL_THERE,
    };
    t->route = path;
    t->state = parcel;
    t->routes = pf_packet_is_described() ? PF_CHAIN_BY_PORTS : PF_CHAIN_BY_PLATFORM;
    t->failed = parcel->has_called_first = pf_loss_strikes(path->loss); /* nothing waits for what is lost */
    DL_APPEND(*parcel->queue, parcel);
    if (under_way++ == 0 && is_lazy && !is_advancing)
        catch_up();
    pf_packet_sim_send(s, &parcel->message, pf_engine_now());
    if (streams)
        return;
    if (!t->failed)
        parcel->left = moment++; /* the NIC has all of it */
    t->sent(t);
}

static void packet_cancel(struct pf_transfer *t)
{
    if (t->src == t->dst) {
        pf_network_flow.cancel(t);
        return;
    }
    struct pf_packet_parcel *parcel = t->state;
    if (!parcel)
        return;
    parcel->transfer = NULL; /* its packets go on, and what is behind it waits for them */
    t->state = NULL;
}

static bool packet_failed(const struct pf_transfer *t)
{
    return t->failed;
}

static void packet_route_info(int src, int dst, struct pf_route_info *info)
{
    const struct pf_path *path = pf_path_get(&paths, src, dst);
    *info = (struct pf_route_info){path->latency, path->bandwidth, path->count - 2};
}

/* Its fate and date are asked for before it has gone anywhere, so it cannot be a packet. */
static double packet_acknowledge(const struct pf_transfer *t, double bytes)
{
    if (t->src == t->dst)
        return pf_network_flow.acknowledge(t, bytes);
    const struct pf_path *back = pf_path_back(t->route);
    if (!pf_path_is_up(back) || pf_loss_strikes(back->loss) ||
        !pf_packet_has_way(&platform.routing, node_of(t->dst), node_of(t->src)))
        return -1.0;
    return pf_engine_now() + bytes / back->bandwidth + back->latency;
}

static double packet_next_event(void)
{
    return sim && (under_way > 0 || !is_lazy) ? pf_packet_sim_next(sim) : -1.0;
}

static void packet_advance_to(double date)
{
    if (!sim)
        return;
    is_advancing = true;
    pf_packet_sim_advance(sim, date);
    is_advancing = false;
}

const struct pf_network_ops pf_network_packet = {
    .size = sizeof(struct pf_network_ops),
    .name = "packet",
    .can_inject = pf_network_no_limit,
    .inject = packet_inject,
    .cancel = packet_cancel,
    .failed = packet_failed,
    .route_info = packet_route_info,
    .next_event = packet_next_event,
    .advance_to = packet_advance_to,
    .acknowledge = packet_acknowledge,
};
