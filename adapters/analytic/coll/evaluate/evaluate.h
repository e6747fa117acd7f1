/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <math.h>
#include <stdint.h>

#include "adapters/analytic/coll/algorithms/schedule.h"
#include "base/pool.h"

/* The messages to a rank in an exchange of all with all. */
struct pf_flows {
    double begin, end;     /* of the first and of the last */
    double latest, begins; /* the last begin, and the sum of all */
    double answer;         /* how long after a message's arrival its send ends */
    size_t bytes;
    int count;
};

/*
 * A round of a rank: it posts its receives from `clock` on, sends one message after the other (until `cpu`),
 * and ends the round when its sends are safe and its receives complete. A receive keeps the processor busy
 * after its data have arrived; the processor works on one after the other, in any order: the last one ends no
 * earlier than `first + busy`, where `first` is the first arrival.
 */
struct pf_member {
    double clock; /* the rank entered its round, or left the call */
    double began; /* it entered the last round that it entered */
    double open;  /* it began to post the receives of its round */
    double turn;  /* its place in the queue */
    double cpu, safe;
    double looks; /* for messages that wait for it: when it has sent all of its own of an exchange */
    double first, last, busy;     /* of the receives; `last` is the latest end of one by itself */
    struct pf_cost_inflow inflow; /* of the only message of its last round */
    /* A long message that it has received or sent in this round, and the end of that. */
    struct pf_ending {
        struct pf_cost_inflow inflow;
        double end;
    } came, went;
    struct pf_coll_sent sent; /* of its messages, the one that is safe last */
    struct pf_flows in;
    struct pf_early *early; /* messages of rounds to come, in the order of rounds */
    int stage, round;
    int missing;   /* receives */
    int unsafe;    /* sends that wait for their receive */
    int late_from; /* the first receive that was posted after its message arrived */
    double late;   /* how much later that made the following ones */
    bool inside;   /* in the round `round` of `stage` */
    bool sole;     /* this round has one message */
    bool single;   /* it has one in each direction at most */
    bool in_turn;  /* this round has a receive from each other rank, posted in the order of ranks */
};

/* A message that is sent before its receiver is in the round. */
struct pf_early {
    struct pf_early *next;
    struct pf_cost_sent sent;
    size_t bytes;
    int from;
    int stage, round;
    enum pf_action action;
};

struct pf_tally {
    uint64_t calls, rounds, messages, bytes;
};

enum { PF_SIZE_CLASSES = 34 }; /* nothing, and powers of two */
enum { PF_FLOW_RANKS = 64 };   /* among more ranks, following flows would take too long */

struct pf_colls {
    struct pf_cost *cost;
    void (*sends)(int rank, double from, double until); /* see pf_colls_watch(); NULL: none */
    double (*handles)(int rank);
    struct pf_coll *unused;
    struct pf_pool early;
    struct pf_step *step; /* scratch of all calls */
    int *peer;
    int room;
    int algorithm[PF_COLL_KINDS]; /* by the user; -1: by the rules */
    size_t segment[PF_COLL_KINDS];
    struct pf_flow_message *message; /* scratch of flows.c, for so many ranks */
    struct pf_flow_active *active;
    struct pf_flow_side *side;
    int *open;
    int flow_room, side_room;
    int *via; /* what each message shares */
    int via_room;
    struct pf_flow_link *flow_link; /* by the platform's number */
    int flow_link_room;
    struct pf_flow_note *note;
    int note_room;
    int *posts; /* scratch of one evaluation: see struct pf_coll */
    int posts_room;
    struct pf_tally tally[PF_COLL_KINDS][PF_ALGORITHMS_MAX][PF_SIZE_CLASSES];
    struct pf_tally inter[PF_COLL_KINDS][2][PF_SIZE_CLASSES]; /* on intercommunicators; [1]: nonblocking */
};

struct pf_coll {
    struct pf_coll *next;
    struct pf_colls *colls;
    struct pf_plan plan;
    struct pf_inter *inter; /* room for a call on an intercommunicator; NULL while there was none */
    struct pf_member *member;
    int *queue; /* ranks that may go on, as a heap by date */
    int *done;  /* ranks that have left, in that order */
    size_t *start;
    int room; /* length of these */
    int arrived, queue_length, done_length, taken;
    bool together;  /* evaluated when all have arrived, round by round */
    bool early;     /* a barrier that is not, because pf_colls_watch() gets its ranks' sends before */
    bool flows;     /* `in` of each member is filled: the ends of sends follow from it */
    bool with_data; /* call.with_data matters */
    bool stepwise;  /* see pf_coll_resumes() */
    /* Where blocks differ: posts[to * (n + 1) + from] receives that take time to post come in `to` before
     * that from rank `from`, and in all with from = n. NULL: each is like the message that is looked at. */
    const int *posts;
    double now, until; /* rounds that begin later are not evaluated yet */
    struct pf_tally *tally;
};

/* The rank of the job. */
static inline int pf_evaluate_world(const struct pf_coll *coll, int rank)
{
    return coll->plan.call.world ? coll->plan.call.world[rank] : rank;
}

/* A rank that has not arrived. begin_round() sets the fields of a round, and the callers that use flows set
 * those. */
static inline void pf_evaluate_begin(struct pf_member *m)
{
    m->clock = 0;
    m->early = NULL;
    m->stage = m->round = m->missing = m->unsafe = m->late_from = 0;
    m->late = 0;
    m->inflow.node = m->came.inflow.node = m->went.inflow.node = 0;
    m->inside = m->in_turn = m->single = false;
    m->sent.safe = 0;
}

/* A message that its receiver has in its round, and how long (s) it then takes to combine it. */
static inline void pf_evaluate_received(struct pf_member *m, const struct pf_cost_received *got,
                                        double combine)
{
    /* Where the processor's work is known, the wait for an unexpected message is not part of it: it overlaps
     * with the rank's own sends. */
    double found = got->arrival > m->clock ? got->arrival : m->clock;
    double start = got->work > 0 ? got->complete - got->work : found;
    double end = got->complete + combine;
    m->busy += end - start;
    m->first = start < m->first ? start : m->first;
    m->last = end > m->last ? end : m->last;
}

static inline double pf_later(double a, double b)
{
    return a > b ? a : b;
}

/* In members.c: the queue of ranks by their `turn`, ranks that share a date by number. */
static inline bool pf_evaluate_before(const struct pf_coll *coll, int a, int b)
{
    double x = coll->member[a].turn, y = coll->member[b].turn;
    return x < y || (x == y && a < b);
}
void pf_evaluate_put(struct pf_coll *coll, int rank); /* at its `clock` */
int pf_evaluate_first(struct pf_coll *coll);          /* takes it out */
/* Replaces the first rank, which has been taken out, by another one at its `turn`: cheaper than taking and
 * inserting. */
void pf_evaluate_replace_first(struct pf_coll *coll, int rank);

/* Evaluates a stage call by call, in which each rank alternates between posting a receive and starting a
 * send. */
void pf_evaluate_turns(struct pf_coll *coll, const struct pf_stage *stage);

/* Whether the messages of a stage are evaluated as flows that share links, because counts differ and receives
 * may be late; and the evaluation. */
bool pf_evaluate_as_flows(const struct pf_coll *coll, const struct pf_stage *stage);
void pf_evaluate_flows(struct pf_coll *coll, const struct pf_stage *stage);

/* A rank of a blocking call waits for the end of a send until `safe`, when that is known. */
static inline void pf_evaluate_sends(const struct pf_coll *coll, int rank, enum pf_cost_mode mode,
                                     double from, double safe)
{
    if (__builtin_expect(coll->colls->sends != NULL, 0) && mode == PF_COST_BLOCKING && safe < INFINITY)
        coll->colls->sends(pf_evaluate_world(coll, rank), from, safe);
}

/* Evaluates the ranks in the queue as far as possible. */
void pf_evaluate_on(struct pf_coll *coll);

/* The same after rank `rank` has arrived at member[rank].clock. */
void pf_evaluate_from(struct pf_coll *coll, int rank);

/* Whether messages of the call share NICs or links with others. */
bool pf_evaluate_shares(const struct pf_coll *coll);

/* Evaluates a call whose ranks have all arrived. */
void pf_evaluate_together(struct pf_coll *coll);
