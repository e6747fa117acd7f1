/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lowlevel/topology/fabric.h"
#include "lowlevel/network/packet/routing.h"

/*
 * Messages in packets through the routers of a fabric (docs/packet.md): virtual cut-through, credits, virtual
 * channels, one crossbar per router. It knows neither SimGrid nor the engine; its clock is what its caller
 * says it is. All dates are in seconds, all lengths in bytes. Two runs of the same calls give the same dates.
 */
struct pf_packet_sim;

enum { PF_PACKET_STAGES = 4 };

enum pf_packet_arbitration {
    PF_PACKET_ROUND_ROBIN, /* input ports in turn, the virtual channels of each in turn */
    PF_PACKET_AGE          /* the packet whose message has been sent first */
};

struct pf_packet_settings {
    uint32_t packet_bytes; /* most payload of a packet */
    uint32_t header_bytes; /* more on the wire, per packet */
    int virtual_networks;  /* classes of messages that never wait for another's, 1 to 4 */
    int channels;          /* virtual channels of each virtual network and class of the routing */
    int64_t
        channel_buffer;  /* bytes of each at an input port; 0: the round trip of its link, and two packets */
    double credit_delay; /* s, besides the link's latency */
    double
        crossbar_speedup; /* transfers within a router are so many times faster than its links, 1 or more */
    bool output_queues;   /* an input port has a queue per output (VOQ), not one for all */
    enum pf_packet_arbitration arbitration;
    /* 0: a crossbar is filled at any date, until nothing more fits. Else as a clocked router does it: so many
     * rounds in each cycle, and an input takes the outputs that offer themselves in turn (McKeown, "The iSLIP
     * scheduling algorithm for input-queued switches", 1999). */
    int rounds;
    double cycle; /* s, with rounds: a step; a cycle of links has as many as the crossbar is faster */
    /* Routers in stages, as cycle-driven simulators have them (stages.c), in place of the fabric's latency of
     * a router: cycles of a link for the routing (0: before the packet comes), for the channel, for the turn
     * at the crossbar, in all of which a queue works at one packet only, and for the way through it. One
     * cycle takes a step, several end with the first step of the last of them. All 0: there are none. */
    int stages[PF_PACKET_STAGES];
    /* With rounds: the head of a queue takes the channel behind the output before it asks for the crossbar,
     * in turn and whatever room there is, and keeps it until it has left; a cycle later another packet can
     * have it. Else it takes the one with most room when it crosses. */
    bool channel_turns;
    /* > 0: packets go through the routers as wormholes, in flits of so many bytes: each flit waits for its
     * own credits and its own turn, so that those of several packets take turns on a link, and a buffer need
     * not hold a packet. With channels in turn, one virtual network, no headers, and links that never fail.
     * 0: virtual cut-through. */
    uint32_t flit_bytes;
    /* Links and crossbars serve virtual channels in turns much shorter than a packet (Dally,
     * "Virtual-channel flow control", 1992): a message shorter than a packet passes, in a port,
     * the packet of a longer one, at the rate that is its share. The port's next packet waits for as long as
     * that took. Not with rounds. */
    bool alternates;
    /* A source's routing decides (begin()) when the packet leaves its node, by the loads of that date:
     * routers that know a packet's way when it comes. */
    bool looks_ahead;
    bool sees_credits_only; /* adaptive routing does not see what waits in front of an output */
    bool notes_waits;       /* pf_packet_message.waited_at */
    bool ends_in_any;       /* with channels in turn: on its last link a packet takes one of any class */
    bool new_in_any; /* a new packet takes a channel of any class of the routing, not of the first one only */
};

/* What must be in the settings for a run without surprises: 2 KiB packets, all else plain. */
extern const struct pf_packet_settings pf_packet_settings_plain;

struct pf_packet_message;
struct pf_packet_message_ops {
    size_t size; /* of this structure, for versions to come */
    /* The head of its first packet is at the destination. Only of messages that stream. */
    void (*first)(struct pf_packet_message *m, double date);
    /* Its last byte has left the source. Only of messages that stream. */
    void (*sent)(struct pf_packet_message *m, double date);
    /* All of it is at the destination. The message is the caller's again. */
    void (*last)(struct pf_packet_message *m, double date);
    /* A packet of it has been dropped, and nothing of it is in the network any more. The message is the
     * caller's again. */
    void (*lost)(struct pf_packet_message *m, double date);
};

/* The caller fills the first part and keeps it until `last` or `lost`. */
struct pf_packet_message {
    const struct pf_packet_message_ops *ops;
    double bytes;   /* more than 0 */
    double start;   /* when it was given: set by pf_packet_sim_send() */
    int32_t source; /* nodes of the fabric, not the same */
    int32_t destination;
    uint8_t virtual_network; /* below settings.virtual_networks */
    bool streams;            /* wants first and sent */

    /* The simulator's own. */
    bool is_lost;
    uint64_t id;                    /* of its next packet */
    double unsent;                  /* bytes */
    uint64_t under_way;             /* packets */
    struct pf_packet_message *next; /* at its source */

    /* With settings.notes_waits: where one of its packets has waited longest for its turn, or at its node the
     * first one, as a port, -1: none has; and how long, in s. */
    int32_t waited_at;
    double waited;
};

/* Something that the caller does at a date. */
struct pf_packet_timer {
    void (*ring)(struct pf_packet_timer *timer, double date);
};

/* A simulator of the fabric of a routing; both must outlive it. NULL: it cannot run, `error` says in one line
 * why. */
struct pf_packet_sim *pf_packet_sim_make(const struct pf_routing *routing,
                                         const struct pf_packet_settings *settings, char *error,
                                         size_t error_size);
void pf_packet_sim_free(struct pf_packet_sim *sim);

/* Gives a message to its source at `date`, up to which has been simulated: the node may send it at once. */
void pf_packet_sim_send(struct pf_packet_sim *sim, struct pf_packet_message *m, double date);
/* Rings once, at `date` or now. */
void pf_packet_sim_at(struct pf_packet_sim *sim, struct pf_packet_timer *timer, double date);

/* The date up to which it has simulated; that of the next event, negative when there is none. */
double pf_packet_sim_now(const struct pf_packet_sim *sim);
double pf_packet_sim_next(struct pf_packet_sim *sim);
/* Executes all events up to a date, this one included. */
void pf_packet_sim_advance(struct pf_packet_sim *sim, double date);

/* A direction of a link has changed its state (pf_fabric_set_up(), with the same number): one that is down
 * has lost what was on it, and what waits for it looks for another way. */
void pf_packet_sim_port_changed(struct pf_packet_sim *sim, int32_t port, double date);

struct pf_packet_counts {
    uint64_t packets;          /* that entered the network; with flits, here and below: flits */
    uint64_t arrived, dropped; /* of them */
    uint64_t hops;             /* links crossed by a packet */
    uint64_t events;           /* of the simulator */
    uint64_t messages_under_way;
};
struct pf_packet_counts pf_packet_sim_counts(const struct pf_packet_sim *sim);

/* What a direction of a link has carried; `port` counts all ports of the fabric. */
struct pf_packet_load_counts {
    uint64_t packets;
    double bytes;
    double wait; /* s: of the packets that left by it, between their being ready and their turn */
};
struct pf_packet_load_counts pf_packet_sim_port_counts(const struct pf_packet_sim *sim, int32_t port);

/* When nothing is under way: whether every queue is empty and every credit at home. */
bool pf_packet_sim_is_clean(struct pf_packet_sim *sim);

/* Bytes of one input or output port with all its virtual channels, the largest router's. */
size_t pf_packet_sim_port_memory(const struct pf_packet_sim *sim);
