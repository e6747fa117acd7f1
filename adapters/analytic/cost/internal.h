/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdint.h>

#include "adapters/analytic/cost/routes/busy.h"
#include "adapters/analytic/cost/cost.h"
#include "adapters/analytic/cost/routes/crowd.h"
#include "adapters/analytic/cost/routes/inflow.h"
#include "adapters/analytic/cost/routes/ports.h"
#include "adapters/analytic/cost/routes/links.h"
#include "adapters/analytic/cost/parameters/parameters.h"
#include "adapters/analytic/cost/routes/pairs.h"
#include "adapters/analytic/cost/routes/paths.h"
#include "lowlevel/engine/chain.h"
#include "lowlevel/topology/fabric.h"

/* The parameters as the formulae need them. Shared by setup.c, cost.c and explain.c. */

enum pf_cost_protocol { PF_COST_RENDEZVOUS, PF_COST_MEET, PF_COST_GET, PF_COST_PORTALS, PF_COST_UCX };
enum pf_cost_done { PF_COST_COPIED, PF_COST_SENT, PF_COST_ARRIVED, PF_COST_ACKNOWLEDGED, PF_COST_RECEIVED };

/* Classes of messages in the statistics. */
enum pf_cost_kind { PF_COST_EAGER_SEND, PF_COST_RENDEZVOUS_SEND, PF_COST_ACCESS, PF_COST_KINDS };

struct pf_cost_tally {
    uint64_t messages, bytes;
};

/* The terms for messages of m bytes from this size on. The time is
 * latency + latency_factor x path latency + m (byte_time + byte_factor x path byte time + latency_slope x
 * path latency) */
struct pf_cost_range {
    size_t from;
    double latency, latency_factor, latency_slope;
    double byte_time, byte_factor;
    double header, least_byte_time; /* additional bytes on the path; the least time per byte */
    double head;               /* when the target's NIC knows of the message, without the path's latency */
    double acknowledgement;    /* travel time of an acknowledgement, without the path's latency */
    double gap, nic_byte_time; /* nic_byte_time < 0: as the message */
    double overhead_send, overhead_receive;
    double send_byte_time, receive_byte_time; /* per byte, in addition to these */
    struct pf_cost_tally tally[PF_COST_KINDS];
};

/* Messages of a node that leave at once. */
struct pf_cost_batch {
    int count, left;
    double begin; /* of the first */
    double total; /* how long all of them occupy the NIC */
};

/* The last data of a node to another one. */
struct pf_cost_last {
    int to; /* node, plus 1; 0: none */
    double ready, arrival;
    struct pf_cost_inflow inflow;
};

enum { PF_COST_LASTS = 8 }; /* of a node, by the number of the other one */

/* The last message of a node to any. */
struct pf_cost_command {
    int to;             /* node, plus 1 */
    double ready, next; /* when the NIC can take the next command */
    double work;        /* of the last long one, in the NIC */
};

/* One of the two ways of a message: through the network, or through the memory of a node. */
struct pf_cost_transport {
    struct pf_cost_range *ranges;
    int count;
    unsigned short first[65]; /* by the number of bits of a size: where the search for its range begins */
    double reserve;
    double control_latency;      /* of an envelope without data, without the path's */
    struct pf_busy *busy_out;    /* per node: when its NIC, or its memory, is busy with outgoing messages */
    struct pf_busy *passing_out; /* likewise with short messages, which do not wait for those that share the
                                    NIC; NULL: all share it */
    struct pf_busy *passing_in;
    struct pf_cost_command *command; /* per node: the last data that were sent with their head; */
    struct pf_cost_last *last;       /* PF_COST_LASTS of them; */
    struct pf_cost_last *answered;   /* and of data that were fetched, NULL while there are none */
    struct pf_busy *busy_in;         /* likewise with incoming messages; NULL: these do not wait */
    struct pf_busy
        *behind; /* when incoming messages would occupy it if they waited; NULL: they or the links do */
    struct pf_inflow **inflow;    /* per node, NULL while it has received nothing; or NULL, without `batch` */
    struct pf_cost_batch *batch;  /* per node; NULL: messages do not share their NIC */
    size_t share_above;           /* smaller messages do not share it, */
    double acknowledgement_bytes; /* on the wire, of those; 0: nothing acknowledges them */
    bool shared;             /* there have been longer ones, which lose what the smaller ones take of NICs */
    struct pf_links *links;  /* NULL: messages do not share links */
    struct pf_links *middle; /* between the nodes' own, without `links`; or NULL */
    struct pf_ports *ports;  /* of nodes with several links, without `links`; or NULL */
    struct pf_crowd *crowd;  /* what long messages wait for those of `middle`; NULL without it */
};

struct pf_cost {
    int ranks, nodes;
    int *node_of_rank;
    int *index_on_node; /* NULL without node_topology */
    struct pf_cost_transport network, memory;
    double call, start, type, post, copy_latency, copy_byte_time, pack_byte_time, own_byte_time,
        combine_byte_time;
    size_t eager_max;
    size_t buffered_below; /* shorter eager sends end with their call */
    bool blocks; /* protocol ucx: blocking sends have another threshold, and copy; the others: see keys.def */
    size_t blocking_max, short_max, piece, piece_header;
    double register_time;
    struct pf_busy *hands; /* protocol ucx, per rank: when its processor sends, or answers requests */
    size_t window_buffer;  /* 0: one-sided communication is done by the NICs */
    double receive_latency, event_latency, write_latency; /* of protocol portals: see keys.def */
    bool window_words;                                    /* windows = words */
    bool eager_meets;                                     /* eager data leave when their receive is posted */
    bool leaves_first; /* eager data leave while their sender is still in its call */
    enum pf_cost_protocol protocol;
    enum pf_cost_done eager_done, rendezvous_done;
    bool by_arithmetic, node_by_arithmetic;
    struct pf_fabric *topology, *node_topology;
    double link_latency, link_byte_time, node_link_latency;
    struct pf_cost_paths *paths;
    struct pf_cost_way *ways; /* see way.h */
    int ways_shift;
    struct pf_parameters parameters;
    struct pf_cost_overrun overrun;
    struct pf_cost_inflow inflow; /* of the last message that was transmitted, */
    int waited_at;                /* and, if paths are followed, where it has waited longest */
    bool notes_waits;
    struct pf_cost_parts *parts; /* see pf_cost_note() */
    struct pf_pairs *pairs;      /* see pf_cost_carry(); NULL: not counted */
};
