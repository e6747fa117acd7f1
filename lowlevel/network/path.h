/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/pairs.h"
#include "lowlevel/network/network.h"

struct pf_packet_parcel;

/* The paths and links of one network, which no other network sees. All zero at first. */
struct pf_network_paths {
    struct pf_pairs pairs;      /* by source and destination */
    struct pf_resource **links; /* by the platform's number */
    int link_capacity;
    struct pf_network_paths *next; /* all that have links */
};

/* A time in which a link is not reserved, between reservations. */
struct pf_gap {
    double begin, end;
};

/* Something that transfers share: a link of the platform, a host bus, a loopback. */
struct pf_resource {
    _Alignas(64) double capacity; /* B/s; what follows, up to limited_count, is one cache line */
    double free_at;               /* when the last reservation of a small transfer ends, */
    struct pf_gap *gaps;          /* and the times before it that are not reserved, by date: */
    int gap_first, gap_end;       /* from this one up to before that one */
    int gap_room;
    bool shared; /* false: bounds each transfer, not their sum */
    bool on;
    int link; /* of the platform, or -1 */

    /* Of the flow solver (sharing.c) */
    struct pf_hop *flows; /* those that cross this resource */
    int flow_count;
    int limited_count; /* those whose rate this resource limits */
    double charged;    /* bytes that small transfers took from each of them, since the beginning */
    double left;       /* capacity not yet given out */
    int open_count;    /* flows without a rate yet */
    bool dirty;
    bool has_new; /* among them */
    bool collected;
    struct pf_resource *next, *next_dirty;
};

/* What is on a path in one virtual network, as the network keeps it. */
struct pf_lane {
    double last; /* latest arrival so far: order is kept */
    union {
        struct pf_event_fifo arrivals;
        struct pf_packet_parcel *parcels;
    };
};

/* The way from one node to another, computed once. The first entry is the source's host bus, the last the
 * destination's: streams use them, messages that came with the command do not. With hundreds of nodes none of
 * it is in the caches: what is read together is in one line. */
struct pf_path {
    _Alignas(64) struct pf_path *back; /* the other direction, found on demand */
    double bandwidth;                  /* the slowest link, without the buses */
    struct pf_lane lanes[PF_VN_COUNT];
    int src, dst;
    struct pf_network_paths *among;
    double latency;
    double clear; /* when the last one that reserved its links has passed the slowest of them */
    double loss;  /* probability that a message is lost on it */
    int count;
    struct pf_resource *resources[];
};

struct pf_path *pf_path_get(struct pf_network_paths *paths, int src, int dst);

static inline struct pf_path *pf_path_back(struct pf_path *path)
{
    if (!path->back)
        path->back = pf_path_get(path->among, path->dst, path->src);
    return path->back;
}

/* Whether all links of a path are up. */
extern int pf_path_links_down; /* in the whole platform */
bool pf_path_look_up(const struct pf_path *path);
static inline bool pf_path_is_up(const struct pf_path *path)
{
    return pf_path_links_down == 0 || pf_path_look_up(path);
}

/* Bytes per second of the bus of a node, each direction; infinite: no limit. Before its first path. */
void pf_path_set_bus(int node, double rate);

/* `changed` is called when a link's bandwidth or state has changed, in each network that uses it. */
void pf_path_on_change(void (*changed)(struct pf_resource *resource));
