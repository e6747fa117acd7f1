/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <smpi/smpi.h>

#include "adapters/adapter.h"
#include "adapters/analytic/coll/coll.h"
#include "adapters/analytic/cost/cost.h"
#include "adapters/envelope.h"
#include "base/pool.h"
#include "lowlevel/engine/engine.h"
#include "pf_own.h"

/*
 * The objects of the engine. Its native values, statuses, datatypes and operations are those of
 * adapters/local, so that it needs no second datatype engine; communicators, requests and messages are its
 * own. Dates are simulated seconds.
 *
 * Time: a rank may be ahead of the simulation's clock by its `debt`, the duration of calls for which it has
 * not blocked yet. It pays the debt when it blocks, or before anything outside the engine can observe it
 * (ops->settle).
 */
struct an_collective;
struct an_fragment;

/* The match queues of one member of a communicator. */
struct an_match {
    struct pf_envelope_queue unexpected; /* struct an_message, in the order of the calls or by arrival */
    struct pf_envelope_queue posted;     /* struct an_request, in the order of the calls */
    uint64_t receives, sends;            /* calls so far: the next item's place in the order of the calls */
    bool ordered; /* `unexpected` is sorted by arrival, for a receive or a probe from any source */
    int open;     /* receives from any source and blocking probes that wait for the event of an arrival */
    struct an_rank *prober; /* the member, while it waits in a blocking probe */
};

/* What all members of a communicator share. An intercommunicator lists the members of both sides, the first
 * `cut` of which are one side. */
struct an_shared {
    int id, size;
    int cut;     /* 0: an intracommunicator */
    int members; /* how many hold a handle now */
    int *world_ranks;
    bool *joined; /* the members that have ever held a handle */
    struct an_match *match;
    struct an_collective *collectives; /* in progress, oldest first */
    struct an_collective *free_collectives;
    struct an_leave *leaves; /* scratch */
    struct an_split *split;  /* of MPI_Comm_split as MPICH has it (split.c), or NULL */
    struct an_shared *next;  /* in the table */
};

/* One member's handle. */
struct an_comm {
    struct an_rank *rank;
    struct an_shared *shared;
    int me;               /* rank in the own group */
    int index;            /* in the list of all members */
    int first, size;      /* the own group in that list, and its size */
    int peers_at, peers;  /* the members it sends to: the other side, or all */
    uint64_t collectives; /* that it has entered */
};

/* s: a rank that goes on is in its next call before what comes later than that. */
#define AN_SOON 1e-9

enum { AN_SENDS_KEPT = 8 }; /* those of a barrier's rounds are known before they are over */

struct an_rank {
    struct pf_instance base; /* first */
    void *mpi;               /* the middleware's, for on_progress */
    void *predefined[PF_PREDEFINED_LIMIT];
    struct an_comm *world;
    struct an_comm *groups; /* for the messages of MPI_Comm_create_group; NULL before the first call */
    double debt;            /* seconds that it is ahead of the clock */
    int calls_in_debt;      /* calls since the rank last blocked */
    double foresight; /* its call is a probe that found nothing, and no probe finds anything while the debt is
                         smaller than this */
    double idle_until;              /* its own date after the last test or probe that found nothing */
    double idle_step;               /* while it dozes, the time between two of the tests that it skips */
    double known_first, known_last; /* the earliest and the latest known date at which something completes for
                                       it; once the first has passed, there may be others in between */
    int soonest_from; /* the last rank that it probed for, and the shortest time of a message from there */
    double soonest;
    struct pf_waiter waiter;
    struct pf_chain
        *cause;    /* of the date until which it waits without a request; NULL if paths are not followed */
    bool can_wait; /* its waiter is initialized */
    bool dozes;
    int idle; /* tests and probes in a row that found nothing */
    struct pf_event wake;
    struct an_rank *wake_next; /* the next rank that the same event wakes */
    double wake_at;
    double busy_until; /* its own date when it began to wait */
    double work_from,
        work;    /* of the receives that it waits for: when the work on the first begins, and the sum */
    int unknown; /* requests that it waits for and whose completion date is not known */
    bool any;    /* it waits for any request, not for all */
    double handles_until;     /* until when its processor handles one-sided messages of other ranks */
    struct an_fragment *late; /* the first of those that arrived meanwhile and are handled at `late_until` */
    double late_until;
    struct an_stretch {
        double from, until;
    } sends[AN_SENDS_KEPT];       /* calls that wait for the end of a send: see `sends_alone` */
    struct pf_cost_inflow inflow; /* of its last send without a request, */
    int waited_at;                /* and as in pf_cost_sent; */
    bool rendezvous;              /* likewise */
    bool polls;                   /* it waits, and sees at once what arrives */
    double polled_at; /* its own date at the end of its last wait: it has seen what had arrived by then */
    struct an_message *asking, **asking_end; /* requests for data that it has not seen, in their order */
    void *bsend_buffer;                      /* attached by MPI_Buffer_attach */
    int64_t bsend_used;
    int bsend_size, buffer_number;
    unsigned sends_count; /* so far */
};

enum an_kind { AN_SEND, AN_RECEIVE, AN_COLLECTIVE, AN_ACCESS };

/* A pending operation. The envelope, of receives, comes first. */
struct an_request {
    struct pf_envelope envelope;
    enum an_kind kind;
    struct an_rank *rank;
    struct an_match *match; /* of a posted receive until it is matched */
    struct an_message
        *message; /* of a send: the unmatched rendezvous; of a receive: data still to be unpacked */
    void *buffer;
    int count;
    MPI_Datatype type;
    double posted;
    double done_at;               /* INFINITY while the date is not known */
    struct pf_cost_inflow inflow; /* of its message, or of the last one of a collective */
    double work;                  /* of a receive: how long its rank's processor works before `done_at` */
    MPI_Status status;
    struct pf_chain *path; /* why it completes when it does; NULL unless paths are followed */
    /* What the path lacks while it is not needed: of a send the way back from this world rank, else -1; of a
     * receive the message, and when its processor goes to work on it. Of a collective the target and the
     * bytes of a last message, the date of leaving and when the message is safe. */
    int acknowledged_by, came_from;
    struct pf_chain *came; /* as the message was sent; NULL: nothing is left out */
    size_t bytes;
    double arrival, work_begins;
    int waited_at;   /* as in pf_cost_sent, */
    bool rendezvous; /* that of a send likewise */
    bool waited, watched;
    bool any;        /* a receive from any source */
    bool freed;      /* by MPI_Request_free */
    bool persistent; /* made by an _init function */
    bool active;
    bool keeps_type;              /* holds a reference to `type`, which the application may free */
    struct pf_event notice;       /* at `done_at`, for a rank that waits in several implementations; of a
                                   * collective before when an acknowledgement leaves */
    struct an_comm *comm;         /* of a persistent request */
    struct an_collective *leaves; /* its member moves its own data when it leaves */
    int peer, mode;               /* and the peer of one that `leaves` is its member */
};

/* A message from its send to its receive. */
struct an_message {
    struct pf_envelope envelope; /* by arrival */
    struct an_match *match;
    int source, destination; /* world ranks */
    size_t bytes;
    struct pf_cost_sent sent;
    struct pf_chain *path;      /* of its sender when it was sent; NULL unless paths are followed */
    struct pf_event arrival;    /* pending only while `match->open` */
    struct an_request *request; /* the sender's, of a rendezvous */
    struct an_request *receive; /* while it is among `asking` of its destination, before `next`, */
    struct an_message *next;
    struct an_rank *buffered; /* the rank whose attached buffer it occupies */
    int buffer_number;        /* which of the buffers that this rank attached */
    const void *buffer;       /* the sender's, of a rendezvous */
    int count;
    MPI_Datatype type;
    char *payload; /* packed */
    int payload_class;
};

/* ---- the job ---- */
struct an_job {
    int size;
    const struct pf_job *job;
    struct an_rank **ranks;
    int *nodes; /* of the platform, of each rank, if paths are followed */
    struct pf_cost *cost;
    struct pf_colls *colls;
    bool moves_data;   /* analytic_data */
    bool posts;        /* posting a receive may take time */
    bool mpich;        /* collectives are MPICH's */
    bool by_words;     /* its locks and epochs use messages (MPICH) */
    bool by_messages;  /* one-sided communication uses messages (rma/pt2pt), */
    bool sends_alone;  /* which a rank does not handle while a call of it waits for the end of a send */
    size_t asks_above; /* longer messages may be requests (UCX); SIZE_MAX: none are. In a run with this model
                          alone they are answered when their receiver waits or tests. */
    bool alone;
    void (*answer)(struct an_rank *rank, bool waits); /* an_message_answer() */
    void (*leave)(struct an_request *request);        /* an_collective_leave() */
    void (*on_progress)(void *rank, int impl);
    void (*wake)(struct an_rank *rank); /* its wake event has come */
};

extern struct an_job an_job;

/* Whether receivers read long data (UCX). Their waits, for single requests and collectives, too, outlast what
 * shares the NIC; over Portals, where data are sent twice, the dates without that are nearer. */
static inline bool an_job_reads(void)
{
    return an_job.asks_above < SIZE_MAX;
}

/* Makes the price lists (job.c). Returns an enum pf_error, and in `why` one line when it is not PF_SUCCESS.
 */
int an_job_price(const struct pf_job *job, char *why, size_t why_size);

/* ---- time (rank.c) ---- */

/* The rank's own date. */
static inline double an_now(const struct an_rank *rank)
{
    return pf_engine_now() + rank->debt;
}

/*
 * What may block comes in two forms. an_rank_must_...() posts the rank's wake event and returns true if the
 * rank has to stop until it; what runs ranks without stacks (replay/) then returns, and calls
 * an_rank_resumed() when the event has come. The other form parks the calling rank by itself.
 */

/* Pays the debt: blocks until the rank's own date. */
bool an_rank_must_settle(struct an_rank *rank);
void an_rank_settle(struct an_rank *rank);

/* Moves the rank's own date to `date`: it blocks, or adds the difference to its debt when that is small. */
bool an_rank_must_reach(struct an_rank *rank, double date);
void an_rank_reach(struct an_rank *rank, double date);

/* A call of the rank has lasted until `date`. */
static inline void an_rank_charge(struct an_rank *rank, double date)
{
    double now = pf_engine_now();
    if (date > now + rank->debt)
        rank->debt = date - now;
}

/* The overhead of a call. */
static inline void an_rank_pay_call(struct an_rank *rank)
{
    rank->debt += pf_cost_call(an_job.cost);
}

/* Ends a call that does not block: pays a debt that is too large. */
bool an_rank_must_pace(struct an_rank *rank);
void an_rank_pace(struct an_rank *rank);

/* A send was to end at `date`, which the rank has slept through, and not run ahead of. The first form is
 * asked again after each stop. */
bool an_rank_must_outlast(struct an_rank *rank, double date, const struct pf_cost_inflow *inflow);
void an_rank_outlast(struct an_rank *rank, double date, const struct pf_cost_inflow *inflow);

/* A test or probe found nothing, and takes `step`. */
void an_rank_idle(struct an_rank *rank, double step);

/* Something completes at `date` for the rank, which may doze. */
void an_rank_expect(struct an_rank *rank, double date);

/* Blocks the calling rank until its wake event. */
void an_rank_park(struct an_rank *rank);

/* The rank goes on after a stop for its wake event. */
void an_rank_resumed(struct an_rank *rank);

/* Blocks the calling rank until `unknown` dates have become known, and then until the latest of these and
 * `date`. The first form is followed by a stop in any case. */
void an_rank_begin_await(struct an_rank *rank, int unknown, double date);
void an_rank_await(struct an_rank *rank, int unknown, double date);

/* The rank tests, or begins to wait: then until `polls` is reset it sees what arrives. It answers requests
 * for data. */
void an_rank_poll(struct an_rank *rank, bool waits);

/* A date that the blocked rank waits for has become known. */
void an_rank_notify(struct an_rank *rank, double date);
/* The same for one of several dates that become known together: ranks that continue at one date share an
 * event. `last` points to NULL before the first. */
void an_rank_notify_next(struct an_rank *rank, double date, struct an_rank **last);

/* A call of the rank waits for the end of a send from one date to another: INFINITY while that is not known.
 */
static inline void an_rank_sends(struct an_rank *rank, double from, double until)
{
    if (an_job.sends_alone && until < INFINITY)
        rank->sends[rank->sends_count++ % AN_SENDS_KEPT] = (struct an_stretch){from, until};
}

/* When it looks at messages of windows, at the earliest at a date: it sees those that come with what its send
 * has waited for, but its next call, perhaps another send, comes before those that have waited for the end of
 * one. */
static inline double an_rank_looks(const struct an_rank *rank, double date)
{
    for (int i = 0; i < AN_SENDS_KEPT; i++)
        if (rank->sends[i].from + AN_SOON < date && date < rank->sends[i].until + 2 * AN_SOON)
            date = rank->sends[i].until + 2 * AN_SOON;
    return date;
}

/* The calling rank. */
struct an_rank *an_rank_self(void);

/* The path of the rank up to its own date, NULL unless paths are followed. */
static inline struct pf_chain *an_path_of(const struct an_rank *rank)
{
    return pf_chain_on ? pf_chain_copy_of(an_job.job->ranks[rank->base.rank], an_now(rank)) : NULL;
}

/* The calling rank has come to its own date by this, which is freed; NULL: paths are not followed. */
static inline void an_path_meet(const struct an_rank *rank, struct pf_chain **path)
{
    if (__builtin_expect(*path == NULL, 1))
        return;
    pf_chain_meet(an_job.job->ranks[rank->base.rank], *path, an_now(rank));
    pf_chain_free(path);
}

/* The path of what the calling rank sends in a call that began at `now` and that it has paid, up to `date`.
 */
static inline struct pf_chain *an_path_send(const struct an_rank *rank, double now, double date)
{
    return pf_chain_on ? pf_chain_send(an_job.job->ranks[rank->base.rank], now, date) : NULL;
}

/* The rank has taken from any source what came by this path, if paths are followed. */
static inline void an_path_took(const struct an_rank *rank, const struct pf_chain *path)
{
    if (__builtin_expect(path != NULL, 0))
        pf_chain_took(an_job.job->ranks[rank->base.rank], pf_chain_date_of(path));
}

/* The calling rank did nothing else up to its own date. */
static inline void an_path_spend(const struct an_rank *rank, double date, enum pf_chain_class what)
{
    if (__builtin_expect(pf_chain_on, 0))
        pf_chain_spend(an_job.job->ranks[rank->base.rank], date, what);
}

/* The same, and the path of a request that it posts. */
static inline struct pf_chain *an_path_post(const struct an_rank *rank, double date, enum pf_chain_class what)
{
    return pf_chain_on ? pf_chain_spend_and_copy(an_job.job->ranks[rank->base.rank], date, what) : NULL;
}

/* What a receive takes besides the work of its rank. */
static inline enum pf_chain_class an_receive_class(void)
{
    return pf_cost_by_nic(an_job.cost) ? PF_CHAIN_NIC : PF_CHAIN_SOFTWARE;
}

/* ---- requests (request.c) ---- */
struct an_request *an_request_new(struct an_rank *rank, enum an_kind kind);
void an_request_release(struct an_request *request);

/* Sets the data that it sends or receives. */
void an_request_describe(struct an_request *request, const void *buffer, int count, MPI_Datatype type);

/* Sets the date at which the request completes. */
void an_request_settle(struct an_request *request, double date);

/* Makes `notice` what it is for. */
void an_request_init_notice(struct an_request *request);

/* The same for one of several, see an_rank_notify_next(). */
void an_request_settle_next(struct an_request *request, double date, struct an_rank **last);

/* Blocks until it is done and moves the rank's date there. The first form is followed by
 * an_request_awaited(). */
bool an_request_must_await(struct an_request *request);
void an_request_awaited(struct an_request *request);
void an_request_await(struct an_request *request);

/* The rank has come to its own date by what ends the request. */
void an_request_met(struct an_request *request);

/* Blocks as long as messages into the same NIC delay the last one of it, which is done; that is this. */
void an_request_outlast(struct an_request *request, enum pf_chain_class what);

/* The rank waits in several implementations at once: on_progress() is called when the request completes. */
void an_request_watch(struct an_request *request);

/* Begins a wait; adds one of its receives, whose date is known. The rank's processor works on one receive
 * after the other: returns when it can have finished those added so far. */
void an_rank_begin_work(struct an_rank *rank);
double an_rank_work(struct an_rank *rank, const struct an_request *request);

/* Completes a request that is done: unpacks data that are left, sets the status, and releases the request or
 * makes a persistent one inactive. Returns its error. */
int an_request_finish(MPI_Request *handle, MPI_Status *status);

static inline bool an_request_is_done(const struct an_request *request)
{
    return request->done_at <= an_now(request->rank);
}

/* The memory of a message, which the caller fills in; one that is freed is in no queue. */
struct an_message *an_message_new(void);
void an_message_free(struct an_message *message);

/* ---- messages (message.c) ---- */
struct an_send {
    struct an_comm *comm;
    const void *buffer;
    int count;
    MPI_Datatype type;
    int peer, tag;
    enum pf_cost_mode mode;
};

/* The request of a send that has not started. */
struct an_request *an_send_request(const struct an_send *send);
/* Sends, and returns the date at which a wait for the send ends. INFINITY: only the match with the receive
 * sets it, in the request, which is made here if the caller has none. */
double an_message_send(const struct an_send *send, struct an_request **request);
/* Posts a receive with the middleware's wildcards, at its date `posted` and with its path. */
void an_message_receive(struct an_comm *comm, int source, int tag, struct an_request *request);
/* Completes a receive with the message that it matched. */
void an_message_take(struct an_message *message, struct an_request *request, double posted);
/* The same for the calling rank, whose call lasts until its message could be fetched. */
void an_message_fetch(struct an_message *message, struct an_request *request, double posted);

/* Why a receive completes, and the send if it waits for the match. `path` is the sender's, from its call on,
 * and goes over; the receive's own begins where it was posted. What came later decides: the message, or its
 * request, or the receive. Nothing unless paths are followed. */
void an_path_follow(struct pf_chain **path, const struct pf_cost_sent *sent, int source, int destination,
                    size_t bytes, struct an_request *receive, const struct pf_cost_received *received,
                    struct an_request *send);

/* The path of a message that has come at that date, NULL unless paths are followed. */
struct pf_chain *an_message_path(const struct an_message *message, double date);
/* The path of a rank that has just sent this and has waited until its buffer is safe, at that date. */
void an_message_awaited(const struct an_send *send, double date);
/* The same of one that ends late, at its own date. */
void an_message_outlasted(const struct an_send *send);
/* The path of a request of a send whose date is known. */
void an_message_acknowledged(const struct an_send *send, struct an_request *request);
/* That of a request whose message is late, up to a date. */
void an_request_late(struct an_request *request, double date, enum pf_chain_class what);
/* The path of a request that is done becomes what it is up to that date. */
void an_request_follow(struct an_request *request);
/* The first message that has arrived and matches. */
struct an_message *an_message_find(struct an_comm *comm, int source, int tag, double now);
/* The rank sees those requests for data that it has not seen yet: all that have arrived, and if it waits
 * those that come as well. */
void an_message_answer(struct an_rank *rank, bool waits);
/* One more (or one less) receive from any source or blocking probe waits: see `open`. */
void an_match_open(struct an_match *match);
void an_match_close(struct an_match *match);
/* Removes a message from its queue, or a receive. */
void an_message_remove(struct an_message *message);

void an_message_withdraw(struct an_request *request);
void an_match_clear(struct an_match *match);

/* ---- data (data.c) ---- */

/* Memory for packed data, from free lists by size. */
char *an_data_room(size_t bytes, int *class);
void an_data_give_back(char *room, int class);
size_t an_data_bytes(int count, MPI_Datatype type);
/* The same without the padding in MPI_DOUBLE_INT and its like, which SMPI counts and Open MPI does not send.
 */
size_t an_data_sent(int count, MPI_Datatype type);
/* The error code of SMPI for such arguments of a call. */
int an_check_data(int count, MPI_Datatype type);
bool an_data_is_derived(MPI_Datatype type);
bool an_data_has_gaps(MPI_Datatype type);
void an_data_pack(const void *from, int count, MPI_Datatype type, char *packed);
/* Unpacks at most `bytes`. In the context of a rank. */
void an_data_unpack(const char *packed, size_t bytes, void *to, MPI_Datatype type);
/* The same data in another layout. */
void an_data_move(const void *from, int from_count, MPI_Datatype from_type, void *to, int to_count,
                  MPI_Datatype to_type);

/* A copy of items in their own layout, and back: what an operation works on. */
struct an_items {
    char *room;
    char *items; /* where the first one begins; inside the room or before it */
    int class;
};
void an_items_take(struct an_items *copy, const void *from, int count, MPI_Datatype type);
void an_items_give_back(struct an_items *copy);
void an_items_copy(const void *from, void *to, int count, MPI_Datatype type);

/* MPI_Pack and its like in the table of native functions. */
void an_data_install(struct pf_own_fn *fn);

static inline struct an_comm *an_comm_of(MPI_Comm handle)
{
    return (struct an_comm *)handle;
}

static inline void *an_buffer(const void *buffer)
{
    return buffer == MPI_BOTTOM ? NULL : (void *)(uintptr_t)buffer;
}

/* Sets the size of a received message; the layout of a status is that of adapters/local, see status_get() in
 * analytic_adapter.c. */
static inline void an_status_set_bytes(MPI_Status *status, size_t bytes)
{
    status->count = (int)(uint32_t)bytes;
    status->cancelled = (status->cancelled & 1) | (int)(bytes >> 32) << 1;
}

/* Of a receive from MPI_PROC_NULL, or a probe (MPI 3.1 section 3.11). */
static inline void an_status_set_nothing(MPI_Status *status)
{
    if (status)
        *status = (MPI_Status){.MPI_SOURCE = MPI_PROC_NULL, .MPI_TAG = MPI_ANY_TAG};
}

static inline int an_source(int source)
{
    return source == MPI_ANY_SOURCE ? PF_ENVELOPE_ANY_SOURCE : source;
}

static inline int an_tag(int tag)
{
    return tag == MPI_ANY_TAG ? PF_ENVELOPE_ANY_TAG : tag;
}
