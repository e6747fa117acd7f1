/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <math.h>

#include "base/pool.h"
#include "lowlevel/network/packet/events.h"
#include "lowlevel/network/packet/sim.h"
#include "lowlevel/network/packet/statistics.h"

/*
 * What the files of the simulator share. A port is named by its number in fabric->ports, as an output of the
 * vertex that has it and as the input of the same vertex from the other direction of the same link. A
 * channel is a virtual channel of a port: (virtual network, class of the routing, channel).
 */
enum { PACKET_BYTES_LIMIT = 1 << 21, CHANNELS_LIMIT = 256 };

/* One cache line. */
struct pf_packet {
    struct pf_packet_path path;
    struct pf_packet *next; /* behind it in its queue */
    struct pf_packet_message *message;
    double ready; /* when its head may enter the crossbar; on the link: when it was sent */
    double tail;  /* when its last byte could; at a node: when it has arrived */
    uint32_t bytes : 21;
    uint32_t is_first : 1; /* of its message */
    uint32_t is_head : 1;  /* both but for flits of a wormhole, each of which is one of these structures */
    uint32_t is_tail : 1;
    uint32_t channel : 8;
    int32_t port; /* the input port that it comes to; in a queue of one output: the vertex's port to go by */
};
_Static_assert(sizeof(struct pf_packet) <= 64, "the state of a packet is a cache line");

/* What its head asks for stands here, so that to choose among queues touches no packet. */
struct packet_queue {
    struct pf_packet *first, *last;
    double ready; /* of the first, from here on of the first */
    uint32_t bytes;
    struct pf_packet_hop hop;
};

/* Hot and constant together: a cache line. */
struct packet_input {
    double free_at;          /* for the crossbar */
    double byte_time;        /* s per byte of the link that ends here; 0: no time */
    double credit_time;      /* s, until credits can be used at its other end */
    int64_t buffer;          /* bytes of a channel */
    int32_t owner, output;   /* vertex; port at the link's other end, negative without a link */
    int32_t waiting;         /* queues whose head waits for an output: all that have one */
    int32_t turn;            /* the queue that comes first in a tie */
    int32_t next_output;     /* with rounds: the output that comes first */
    int32_t offer;           /* within an allocation: the queue that an output has chosen, or -1 */
    int32_t offered_by;      /* the output, */
    int16_t offered_channel; /* and its channel */
    uint8_t channel;         /* of the packet that has the crossbar until free_at; */
    bool is_passable;        /* whether that is a part of a longer message */
};

/* A cache line, and one that is seldom read. */
struct packet_output {
    double free_at;            /* the crossbar's side */
    double link_free;          /* the link's; later than free_at only with a crossbar that is faster */
    double byte_time, latency; /* s, of the link */
    int64_t waiting_bytes;
    uint64_t *wants;          /* bit (input port * channels + channel) of its vertex: that queue waits */
    int32_t waiting;          /* bits in `wants` */
    int32_t turn : 23;        /* the input port that comes first in a tie; at a node the virtual network */
    uint32_t channel : 8;     /* behind the link, of the packet that has the crossbar until free_at; */
    uint32_t is_passable : 1; /* as at an input */
    int32_t owner, input;     /* vertex; port at the link's other end, negative without a link */
    uint64_t packets;
    double bytes, wait;
    double down_at; /* when the link last went down */
};

/* With settings.alternates, of an input and an output: until when the last packet that has passed needs it.
 */
struct packet_passing {
    double input, output;
};

/* Of a queue, only with routers in stages. Nodes have one, too. */
struct packet_head {
    double free_at; /* before it none of its packets may cross */
    double arrives; /* with flits: the date of the last one's arrival */
    int32_t output; /* that its last packet took, and the channel behind that one's: it is first in turn */
    int16_t next;
    int16_t channel; /* that the head, and what follows it, has; -1: none yet */
};

/*
 * Credits of an output: the room that its channels have behind the link. What has been returned and can be
 * used from a date on is in a list in the order of its dates: its first member here, the others behind `last`
 * in a ring. Up to eight channels are one cache line.
 */
struct packet_credit {
    double date;
    struct packet_credit *next;
    uint32_t bytes, channel;
};
struct packet_room {
    uint32_t taken : 31;  /* bytes */
    uint32_t starved : 1; /* something waits and even the list is not enough */
};
struct packet_credits {
    double date; /* of the first credit; infinite: none is on its way */
    struct packet_credit *last;
    int64_t buffer;    /* bytes of a channel */
    uint32_t returned; /* bytes of the first credit, 0: none, */
    uint32_t channel;  /* and its channel */
    struct packet_room room[];
};
#define CREDITS_LIMIT ((INT64_C(1) << 31) - 1) /* bytes of a channel that can be under way */

/* A router or a node. */
struct packet_vertex {
    double wake;         /* the date of its next allocation */
    uint64_t *active;    /* outputs with something waiting: bit per port */
    int64_t first_queue; /* of its queues, [(input port * channels + channel) * width + output port] */
    int32_t first_port, ports;
};

/* At a node, per virtual network: messages that take turns. */
struct packet_source {
    struct pf_packet_message *first, *last;
    int32_t destination; /* of the last packet that did not pass */
};

struct pf_packet_sim {
    const struct pf_fabric *fabric;
    const struct pf_routing *routing;
    struct pf_packet_settings settings;
    int classes, channels;     /* of the routing; of a port */
    uint64_t channels_inverse; /* (n * this) >> 32 is n / channels: a division for each head costs more */
    int32_t vertices;
    bool has_cuts; /* a link has been down */
    double now;
    double slot;              /* s: flits leave by links at multiples of it; 0: at any date */
    double router_latency;    /* s; */
    double lead;              /* of it, between the routing of a head and its readiness for the crossbar; */
    double behind_turn;       /* between that and the end of a packet's passage, from which on the next one is
                                 routed */
    double node_credit_delay; /* s, besides the latency of a node's link */
    double *credit_sent; /* of an input port, with heads: the date from which on its next credit may leave */
    struct pf_packet_events events;
    struct pf_pool packets, later_credits;

    /* Per port */
    struct packet_input *inputs;
    struct packet_output *outputs;
    double *next_try; /* of an output: nothing that waits can go before */
    struct packet_passing *passing;
    char *credits; /* of an output: see credits_of() */
    size_t credits_size;
    uint64_t *wants;
    int32_t router_ports; /* from here on the ports are nodes' */
    /* Per vertex */
    struct packet_vertex *vertex;
    uint64_t *active;
    struct packet_queue *queues;
    struct packet_head *heads; /* as queues, then nodes; NULL: routers have no stages */
    double *channel_free;  /* [port * channels + channel]: from when it can be given away; infinite: in use */
    int32_t *channel_turn; /* as channel_free: the place in the output's `wants` that comes first in a tie */
    int64_t queue_count;
    struct packet_source *sources; /* [node * virtual networks + virtual network] */
    uint8_t base[CHANNELS_LIMIT];  /* of a channel: the first one of its virtual network */

    int32_t *touched;                        /* within an allocation: inputs with an offer */
    struct pf_packet_statistics *statistics; /* NULL: not wanted */
    struct pf_packet_counts counts;
    uint64_t next_id;
};

/* What an event is and points to: the lowest bits of pf_packet_event.what. */
enum {
    WHAT_PACKET, /* its head has been through the router's pipeline */
    WHAT_HEAD,   /* of a packet, at a node */
    WHAT_TAIL,   /* the same */
    WHAT_SENT,   /* a message has left its node */
    WHAT_TIMER,
    WHAT_WAKE, /* of a vertex, by number */
    WHAT_ASK,  /* the same: credits have come back, which another way may need */
    WHAT_MASK = 7
};

/* Of two dates, none of which is NAN: a function of the C library would be called for each. */
static inline double later(double a, double b)
{
    return a > b ? a : b;
}

static inline double earlier(double a, double b)
{
    return a < b ? a : b;
}

static inline bool is_router(const struct pf_packet_sim *sim, int32_t vertex)
{
    return vertex < sim->fabric->routers;
}

/* Two sums of the same numbers in another order may differ in the last digits. */
static inline bool is_due(double date, double now)
{
    return date <= now * (1.0 + 1e-15);
}

/* Whether a port is a router's. */
static inline bool is_at_router(const struct pf_packet_sim *sim, int32_t port)
{
    return port < sim->router_ports;
}

/* A whole message, and shorter than a packet may be. */
static inline bool is_short(const struct pf_packet_sim *sim, const struct pf_packet *p)
{
    return p->is_first && p->bytes < sim->settings.packet_bytes;
}

static inline int words_of(const struct pf_packet_sim *sim, const struct packet_vertex *v)
{
    return (v->ports * sim->channels + 63) / 64;
}

/* Queues of a channel of an input port. */
static inline int width_of(const struct pf_packet_sim *sim, const struct packet_vertex *v)
{
    return sim->settings.output_queues ? v->ports : 1;
}

/* The first channel of a class, in the virtual network of a channel. */
static inline int class_of(const struct pf_packet_sim *sim, int channel, int vc)
{
    return sim->base[channel] + vc * sim->settings.channels;
}

/* How many channels of a virtual network a new packet may choose from. */
static inline int pf_packet_new_channels(const struct pf_packet_sim *sim)
{
    return sim->settings.channels * (sim->settings.new_in_any ? sim->classes : 1);
}

static inline struct packet_credits *credits_of(const struct pf_packet_sim *sim, int32_t output)
{
    return (struct packet_credits *)(void *)(sim->credits + (size_t)output * sim->credits_size);
}

static inline struct packet_queue *queue_of(struct pf_packet_sim *sim, int32_t input, int channel,
                                            int32_t output_port)
{
    if (!sim->settings.output_queues)
        return &sim->queues[(int64_t)input * sim->channels + channel];
    const struct packet_vertex *v = &sim->vertex[sim->inputs[input].owner];
    int64_t place = (int64_t)(input - v->first_port) * sim->channels + channel;
    return &sim->queues[v->first_queue + place * v->ports + output_port];
}

/* Lets the vertex allocate at a date, if it does not do so before. */
static inline void pf_packet_wake(struct pf_packet_sim *sim, int32_t vertex, double date)
{
    if (date < sim->now)
        date = sim->now;
    if (date >= sim->vertex[vertex].wake)
        return;
    sim->vertex[vertex].wake = date;
    pf_packet_events_post(&sim->events, date, true, (uintptr_t)vertex << 3 | WHAT_WAKE);
}

/* Of the buffer behind a link: bytes come or, negative, go. */
static inline void note_queue(struct pf_packet_sim *sim, int32_t input, int channel, int64_t bytes,
                              double date)
{
    if (__builtin_expect(sim->statistics != NULL, 0))
        pf_packet_statistics_queue(sim, input, channel, bytes, date);
}

/* What follows stands in the order of the files that do it: each uses only those above it. */

/* credits.c */
/* The channel of the output, among those of the class whose first one is given, that takes `bytes` now and
 * has most room, or -1: then *when is when that may be so, infinite when it is not known (the return of
 * credits wakes the vertex). */
int pf_packet_channel_choose(struct pf_packet_sim *sim, int32_t output, int first, uint32_t bytes, double now,
                             double *when);
/* That with most room for `bytes` now but for one; -1: none has it. */
int pf_packet_channel_choose_other(struct pf_packet_sim *sim, int32_t output, int first, int but,
                                   uint32_t bytes, double now);
/* The same at a node, for a new packet, which may take any class with settings.new_in_any. */
int pf_packet_channel_choose_new(struct pf_packet_sim *sim, int32_t output, int first, uint32_t bytes,
                                 double now, double *when);
/* Room of `bytes` is there again at the input from `date` on: its link's other end learns it later. */
void pf_packet_channel_release(struct pf_packet_sim *sim, int32_t input, int channel, uint32_t bytes,
                               double date);
/* Bytes of the output's channels of a class (-1: all) that are taken. */
int64_t pf_packet_channel_taken(struct pf_packet_sim *sim, int32_t output, int vc);
/* Whether a channel takes `bytes` now; if not, *when is as above. */
bool pf_packet_channel_takes(struct pf_packet_sim *sim, int32_t output, int channel, uint32_t bytes,
                             double now, double *when);
/* Whether all credits are at home, those included that are on their way. */
bool pf_packet_channel_is_full(struct pf_packet_sim *sim, int32_t output, int channel);

/* view.c */
struct packet_view {
    struct pf_packet_sim *sim;
    int32_t first_port;
};
/* What a router sees; the view must live as long as what is returned. */
struct pf_packet_load pf_packet_view(struct pf_packet_sim *sim, int32_t router, struct packet_view *view);
/* The routing's decision at the source. */
void pf_packet_begin(struct pf_packet_sim *sim, int32_t router, struct pf_packet *p);

/* stages.c, with heads only */
void pf_packet_stages_make(struct pf_packet_sim *sim);
/* When what begins at a date is through so many of the first stages. */
double pf_packet_stages_pass(const struct pf_packet_sim *sim, double date, int stages);
/* When the credit for a packet that leaves an input at a date is on its way: with the cycles of the link, one
 * in each. */
double pf_packet_stages_credit(struct pf_packet_sim *sim, int32_t input, double date);
/* When a flit that would come through the router's pipeline at a date, were it a head, comes to its queue. */
double pf_packet_stages_arrival(struct pf_packet_sim *sim, const struct pf_packet *p, int32_t input,
                                double date);
/* As pf_packet_channel_choose(), for the head of a queue or a node. */
int pf_packet_stages_choose(struct pf_packet_sim *sim, struct packet_head *head, int32_t output, int first,
                            uint32_t bytes, double now, double *when);
/* The free channels behind an output choose among the heads that are ready for it, these among the channels
 * that choose them. */
void pf_packet_stages_allocate(struct pf_packet_sim *sim, int32_t router, int32_t output, double now);
/* A packet goes by an output, for which it needs the input until a date. Behind a flit that is no tail
 * (`is_tail` false) others follow, which keep the channel. */
void pf_packet_stages_leave(struct pf_packet_sim *sim, struct packet_head *head, int32_t output, int channel,
                            int first, double end, bool is_tail);
/* The head has another way, or none. */
void pf_packet_stages_give_back(struct pf_packet_sim *sim, struct packet_head *head);

/* link.c */
/* The packet leaves by an output and a channel; it may start now. It takes turns there with others, so
 * that it moves as if the link were that of so many `shares`; 1: it is alone. */
void pf_packet_launch(struct pf_packet_sim *sim, struct pf_packet *p, int32_t output, int channel,
                      double start, int shares);
/* Whether the link has lost what was sent on it at a date. */
bool pf_packet_is_cut(const struct pf_packet_sim *sim, int32_t output, double sent);

/* endpoint.c */
void pf_packet_inject(struct pf_packet_sim *sim, int32_t node, double now);
void pf_packet_head_arrives(struct pf_packet_sim *sim, struct pf_packet *p, double now);
void pf_packet_tail_arrives(struct pf_packet_sim *sim, struct pf_packet *p, double now);
/* The last byte of a message has left its node. */
void pf_packet_sent(struct pf_packet_sim *sim, struct pf_packet_message *m, double now);
/* The packet is lost, and with it its message. It is in no queue. */
void pf_packet_drop(struct pf_packet_sim *sim, struct pf_packet *p, double now);

/* router.c */
void pf_packet_arrive(struct pf_packet_sim *sim, struct pf_packet *p, double now);
void pf_packet_allocate(struct pf_packet_sim *sim, int32_t router, double now);
/* The output's link is down: what waits for it looks for another way. */
void pf_packet_reroute(struct pf_packet_sim *sim, int32_t output, double now);
