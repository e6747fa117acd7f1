/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "adapters/analytic/cost/routes/route.h"

/*
 * What a message costs in model `analytic`: closed forms in O(1), without MPI, SimGrid, allocation or hashing
 * on the way. All dates and durations are seconds, all sizes bytes, all rates bytes per second. Ranks are
 * ranks of MPI_COMM_WORLD; each lives on a node. Messages inside a node cross its memory, others its NIC and
 * the network. The formulae and the file of parameters are in docs/analytic.md.
 *
 * The only state is the date until which each NIC is busy: price the messages of a node in about the order of
 * their dates, because a NIC serves them in the order of the calls.
 */
struct pf_cost;

/* How the sender started the message. A standard send is eager up to the threshold S, a buffered or ready one
 * always; a synchronous one always waits for its receive. */
enum pf_cost_mode {
    PF_COST_STANDARD,
    PF_COST_BUFFERED,
    PF_COST_SYNCHRONOUS,
    PF_COST_READY,
    PF_COST_BLOCKING /* standard, in a call that waits for it: what protocol ucx knows and others do not */
};

/* A long message among those into its target's NIC, or a short one whose sender waits for what acknowledges
 * it; node 0: neither. */
struct pf_cost_inflow {
    int node;     /* of the target, and one */
    bool answers; /* short: the acknowledgement leaves at `end` */
    uint32_t number;
    double work, end; /* as routes/inflow.h has them */
    double spare;     /* so much later it may be before its receive, which was posted after it came, is */
    /* Its number among those on links, from node `from`, where it has `bytes` (0: it is none of them) and
     * takes `alone` from `begun` on when nothing is in its way; at `through` it has left them. */
    int from;
    uint64_t crossing;
    double bytes, begun, alone, through;
};

/* Most messages have none: then nothing else is set. */
static inline void pf_cost_inflow_set(struct pf_cost_inflow *inflow, const struct pf_cost_inflow *other)
{
    inflow->node = other->node;
    if (__builtin_expect(other->node != 0, 0))
        *inflow = *other;
}

/* The sender's half, known when the message is sent. */
struct pf_cost_sent {
    bool rendezvous; /* the data wait for the receive: safe and the data's arrival are known at the match */
    double returns;  /* a nonblocking call returns to its caller: the caller pays from `now` to here */
    double safe;     /* eager: the buffer may be used again, a wait for the send ends; rendezvous: INFINITY */
    double arrival;  /* eager: the last byte is at the target (protocol ucx: the first piece); rendezvous: the
                        request (envelope) is at the target */
    double data;     /* of cost.c alone: when data that were sent with a request are at the target; protocol
                        ucx: when the last of them are, INFINITY of a request without data */
    bool gaps;       /* set by the caller before the receiver's half: not in one piece on both sides */
    struct pf_cost_inflow inflow; /* of its data, where they have left */
    int waited_at;                /* likewise: struct pf_chain_message.link */
};

/* The receiver's half, known when the message has met its receive. */
struct pf_cost_received {
    double safe;     /* a wait for the send ends at max(this, its invocation); eager: as in pf_cost_sent */
    double arrival;  /* the last byte is at the target */
    double work;     /* the overhead o_r: what the receiver's processor does */
    double complete; /* a wait for the receive ends at max(this, its invocation + work); work included */
    bool again;      /* its data came too early, and leave a second time */
    struct pf_cost_inflow inflow;
    int waited_at; /* as that of the sender's half */
};

/* Fills it for the sender of a short message that would be acknowledged at `known`; node 0: where no links
 * are shared. */
void pf_cost_answer_to(struct pf_cost *cost, int src, int dst, size_t bytes, double known,
                       struct pf_cost_inflow *inflow);

/* When that acknowledgement leaves; -INFINITY: there is none. Asked at that date, how much later than `known`
 * it comes, because it waits for links and a NIC behind what has been sent by then. */
double pf_cost_answer_leaves(struct pf_cost *cost, int src, int dst, size_t bytes, double known);
double pf_cost_answer_late(struct pf_cost *cost, int src, int dst, size_t bytes, double known);

/* How much later than `safe` a send ends, because of messages into the same NIC, or on the same links, that
 * have been priced since; to be asked from `safe` on. */
double pf_cost_late(const struct pf_cost *cost, const struct pf_cost_inflow *inflow);

/* Where it waits for that: struct pf_chain_message.link. */
int pf_cost_late_at(const struct pf_cost *cost, const struct pf_cost_inflow *inflow);

/* From now on it is noted where messages wait. */
void pf_cost_note_waits(struct pf_cost *cost);

/* Whether the platform's routes are those of messages between nodes. */
bool pf_cost_by_platform(const struct pf_cost *cost);

/*
 * Sends `bytes` from rank `src` to rank `dst` (they may be equal) at date `now`. Occupies the NIC of an eager
 * message: call it once per message. Probes may find the message from `arrival` on.
 */
void pf_cost_send(struct pf_cost *cost, int src, int dst, size_t bytes, double now, enum pf_cost_mode mode,
                  struct pf_cost_sent *out);

/*
 * The message of an earlier pf_cost_send() with the same src, dst and bytes has met a receive that was posted
 * at `posted`: earlier or later than `sent->arrival`, in any order of wall-clock time. Occupies the NIC of a
 * rendezvous: call it once per message. A cancelled message is never received.
 */
void pf_cost_receive(struct pf_cost *cost, int src, int dst, size_t bytes, const struct pf_cost_sent *sent,
                     double posted, struct pf_cost_received *out);

/* Both halves at once, for schedules, which know both dates. `sent` may be NULL. */
void pf_cost_message(struct pf_cost *cost, int src, int dst, size_t bytes, double now, double posted,
                     enum pf_cost_mode mode, struct pf_cost_sent *sent, struct pf_cost_received *out);

/*
 * One-sided communication by the NICs: the target's processor pays nothing. An access carries data (a put),
 * or requests some (a get): then an answer of `bytes` leaves when the request arrives.
 */
struct pf_cost_access {
    double returns; /* the caller pays from `now` to here */
    double safe;    /* with data: the buffer may be used again */
    double arrival; /* the last byte, or the request, is at the target */
};

/* How many bytes of operations a message of one-sided communication gathers; 0: the NICs do one-sided
 * communication, for which the rest of this section is. */
size_t pf_cost_window_buffer(const struct pf_cost *cost);

/* An access that carries `bytes` from `src` to `dst`; `handled`: in a message to the target's processor.
 * Occupies the NIC. */
void pf_cost_put(struct pf_cost *cost, int src, int dst, size_t bytes, double now, bool handled,
                 struct pf_cost_access *out);

/* An access that requests data. Occupies no NIC. */
void pf_cost_ask(struct pf_cost *cost, int src, int dst, double now, struct pf_cost_access *out);

/* The arrival of the answer to an access, of `bytes` that leave `src` at `date`. Occupies the NIC. */
double pf_cost_answer(struct pf_cost *cost, int src, int dst, size_t bytes, double date);

/* Whether only the data of one-sided communication are the NICs' work: locks and epochs are messages. */
bool pf_cost_window_words(const struct pf_cost *cost);

/* How long the acknowledgement of an access travels. */
double pf_cost_acknowledgement(struct pf_cost *cost, int src, int dst);

/* How long a message without data travels: a request, its answer, a grant. */
double pf_cost_control(struct pf_cost *cost, int src, int dst);

/* The shortest time from the call that sends a message to where a probe can find it, over all sizes. Takes a
 * step for each range of sizes. */
double pf_cost_soonest(struct pf_cost *cost, int src, int dst);

/* The duration of an MPI call that sends nothing, such as MPI_Irecv or MPI_Test; paid by its caller. */
double pf_cost_call(const struct pf_cost *cost);

/* The additional duration of a call that posts a receive of `bytes`; paid by its caller. */
double pf_cost_post(const struct pf_cost *cost, size_t bytes);

/* The end of a call that posts a receive whose message has been sent already, and that would otherwise return
 * at `posted`. With protocol portals, the call for a long message waits until the message has arrived and has
 * been discarded. */
double pf_cost_post_end(const struct pf_cost *cost, size_t bytes, const struct pf_cost_sent *sent,
                        double posted);

/* When the send of an eager message completes if the message arrives before its receive is posted: with
 * protocol portals earlier than `sent->safe`, because there is no event at the target. */
double pf_cost_safe_unexpected(const struct pf_cost *cost, const struct pf_cost_sent *sent);

/* How long a NIC takes for each of several messages that are sent at once, without their bytes. */
double pf_cost_gap(const struct pf_cost *cost, size_t bytes);

/* Whether pf_cost_post_end() can be later than `posted` for so many bytes. */
bool pf_cost_post_blocks(const struct pf_cost *cost, size_t bytes);

/* How much earlier than another receive the one of a message ends that MPI_Mprobe has found: the message
 * arrived during one of many searches, on average in the middle of it.
 */
double pf_cost_mprobe_gain(const struct pf_cost *cost);

/*
 * A long message as a flow, for a caller that knows all messages in progress: the time of its bytes on a link
 * of its own, and the times before and after that. Called once for each message, which is counted.
 */
struct pf_cost_flow {
    double call;  /* of its send, paid by the caller; the data leave then */
    double gap;   /* after the data of the previous message */
    double work;  /* time of its bytes alone */
    double bytes; /* on the links */
    double acknowledgement_bytes, reliability_bytes, request_bytes; /* likewise, without data */
    double head;            /* from where its data leave to where the target's NIC knows of it */
    double latency;         /* from the end of its work to the arrival */
    double acknowledgement; /* from the arrival to the end of the send */
    double post;            /* from the call of the receive until it returns */
    double receive_latency; /* the shortest time of a receive */
    double receive;         /* work of the receiver's processor */
    /* Of one that was discarded: its receiver knows of it `write_latency` before the arrival; its data leave
     * a second time `again` later; the send ends `left` before their arrival. */
    double write_latency, again, left;
};
/* Whether messages of that size share NICs and links. */
bool pf_cost_flows(const struct pf_cost *cost, size_t bytes);

/* Whether so many are all ranks. */
bool pf_cost_are_all(const struct pf_cost *cost, int ranks);

/* Whether the NIC of a rank serves long messages at a date or later. */
bool pf_cost_is_busy(const struct pf_cost *cost, int rank, double date);

/* How much of the time from a date on long messages take of a link by the platform's number; and others
 * take so much from `begun` on. */
double pf_cost_link_taken(const struct pf_cost *cost, int number, double date);
void pf_cost_link_take(struct pf_cost *cost, int number, double begun, double work);

void pf_cost_flow(struct pf_cost *cost, int src, int dst, size_t bytes, struct pf_cost_flow *flow);
/* Its bytes left from `begin` to `end`. */
double pf_cost_flow_ended(struct pf_cost *cost, int src, int dst, size_t bytes, double begin, double end);
/* Its `work` alone. */
double pf_cost_flow_time(struct pf_cost *cost, int src, int dst, size_t bytes);
/* The numbers of the links on its path; returns how many there are. Valid until the next call for another
 * pair that is unknown. And the rates (B/s) of a link, and of a rank's NIC. */
int pf_cost_flow_links(struct pf_cost *cost, int src, int dst, const int **numbers);
double pf_cost_link_rate(const struct pf_cost *cost, int number);
double pf_cost_nic_rate(struct pf_cost *cost, int rank);
/* Whether the receive of a flow that left at `begun` was posted before its head came. */
void pf_cost_flow_met(struct pf_cost *cost, int src, int dst, double begun, double work, bool met);
/* The NIC of a rank was busy with flows until these dates, for so long. */
void pf_cost_flows_ended(struct pf_cost *cost, int rank, double out_until, double out_work, double in_until,
                         double in_work);

/* What of the time of a message, with its acknowledgement, or with the request that its data wait for, is the
 * latency of the links, and what its NICs', when nothing is in its way. */
enum pf_cost_crossing { PF_COST_ONE_WAY, PF_COST_THERE_AND_BACK, PF_COST_ON_REQUEST };
void pf_cost_latencies(struct pf_cost *cost, int src, int dst, size_t bytes, enum pf_cost_crossing crossing,
                       double *links, double *nics);

/* What messages take when nothing is in their way: on links, in NICs, of processors, and for their bytes. */
struct pf_cost_parts {
    uint64_t messages;
    double links, nics, work, bytes;
};

/* From now on messages that are sent are added there; NULL: no more. */
void pf_cost_note(struct pf_cost *cost, struct pf_cost_parts *parts);

/* Whether the data of a rendezvous leave with its request; and whether a receive is the NIC's, but for
 * `work`.
 */
bool pf_cost_sends_ahead(const struct pf_cost *cost);
bool pf_cost_by_nic(const struct pf_cost *cost);
/* Above which size a message may be a request that the receiver's processor answers; SIZE_MAX: none is. */
size_t pf_cost_asks_above(const struct pf_cost *cost);
/* Whether eager data may arrive in pieces: all of them when pf_cost_received says, the first one before. */
bool pf_cost_in_pieces(const struct pf_cost *cost);

/* Whether messages of so many bytes share NICs or links with those that are priced later. Over Portals: over
 * UCX a rank answers requests one after the other, in the order in which they are priced. */
bool pf_cost_shares_above(const struct pf_cost *cost, size_t bytes);

/* Whether messages that are sent at once share their NIC, so that all end late, instead of one after the
 * other. If so, call these before the pf_cost_send() of several messages: begin for the node of `src`, add
 * for each message. */
bool pf_cost_shares(const struct pf_cost *cost);
void pf_cost_together_begin(struct pf_cost *cost, int src);
void pf_cost_together_add(struct pf_cost *cost, int src, int dst, size_t bytes);

/* The duration of combining two operands of `bytes` in a reduction; paid by the rank that combines. */
double pf_cost_combine(const struct pf_cost *cost, size_t bytes);

/* How much later a receive ends that is posted after its message has arrived and is the first to poll for
 * messages; part of `complete`. */
double pf_cost_first_poll(const struct pf_cost *cost);

/* The duration of packing or unpacking `bytes` of data with gaps; paid by the rank that sends or receives
 * them, outside collectives. */
double pf_cost_pack(const struct pf_cost *cost, size_t bytes);

/* The same of a message of a collective with gaps: UCX copies short ones in any case, long ones for their
 * gaps. */
double pf_cost_gaps(const struct pf_cost *cost, size_t bytes);

/* How long the processor sends a message that waits for its receiver, when it looks for others' only after
 * it has sent all of its own (UCX); 0: it need not look, or the message does not wait. */
double pf_cost_asking(struct pf_cost *cost, int src, int dst, size_t bytes);

/* The duration of starting so many persistent requests; paid by their rank. */
double pf_cost_start(const struct pf_cost *cost, int count);

/* The duration of making so many datatypes in a collective; paid by their rank. */
double pf_cost_types(const struct pf_cost *cost, int count);

/* The duration of copying `bytes` inside a rank in a collective; paid by that rank. */
double pf_cost_copy_own(const struct pf_cost *cost, size_t bytes);

/*
 * Makes the price list of a job: `nodes_of_ranks[rank]` is the node of each rank, numbered from 0 without
 * holes. `route` is called while the topology is the platform's; NULL: no latency, no limit. `links`
 * likewise; NULL: the platform has no shared links. Reads the file PARFOCAL_ANALYTIC_PARAMETERS and
 * PARFOCAL_ANALYTIC_SET; without a file, missing parameters are derived from the simulated NIC (derive.h). On
 * failure returns NULL with one line in `why` that names file, line and reason. The caller frees it; nothing
 * of the arguments but route and context is kept.
 */
struct pf_cost *pf_cost_new(int ranks, const int *nodes_of_ranks, pf_cost_route_fn *route,
                            pf_cost_links_fn *links, void *context, char *why, size_t why_size);
void pf_cost_free(struct pf_cost *cost);

/* How much faster than its NIC's rate data reached a rank, where only sending NICs serve one message after
 * the other. */
struct pf_cost_overrun {
    int rank;       /* the first one on that node */
    double seconds; /* how much later the last of them would have arrived; 0: never */
    double last;    /* date of the last arrival in the network */
};
struct pf_cost_overrun pf_cost_overrun(const struct pf_cost *cost);

/* How much later the run has ended because long messages waited for links that several nodes use, where
 * contention is `nic`, and the phase in which most of that began. `phase`, which may be NULL, returns the
 * phase of a rank; it is called seldom. */
struct pf_cost_crowded {
    double seconds;
    double last;       /* date of the last arrival in the network */
    const char *phase; /* NULL: none, or unknown */
};
void pf_cost_watch(struct pf_cost *cost, pf_cost_phase_fn *phase);
struct pf_cost_crowded pf_cost_crowded(const struct pf_cost *cost);

/* Likewise, since the first long message, the time of data that one node has fetched because they came before
 * their receives, or that met them, whichever is less, as far as dates are close: where it has both, dates
 * that are estimates decide (routes/outcome.h). */
struct pf_cost_crowded pf_cost_undecided(const struct pf_cost *cost);

/* From now on what nodes send to each other is counted, and handed out, in no order and not all of a pair at
 * once; the second call hands out the rest. For what links carry. */
void pf_cost_carry(struct pf_cost *cost, pf_cost_carry_fn *carry, void *context);
void pf_cost_carried(struct pf_cost *cost);

/* Writes which formula and which parameters priced how many messages, per class of message, and all
 * parameters in the grammar of the parameter file (pfrun -explain). */
void pf_cost_explain(const struct pf_cost *cost, FILE *out);

/* Writes the parameters of a job on the built-in platforms without parameters of its own: those derived from
 * the configuration of the simulated NIC, each with the rows that it is derived from. */
void pf_cost_print_derived(FILE *out);
