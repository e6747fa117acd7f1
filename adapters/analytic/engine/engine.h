/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PF_ADAPTERS_ANALYTIC_ENGINE_H
#define PF_ADAPTERS_ANALYTIC_ENGINE_H

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
 * Time: a rank may be ahead of the simulation's clock by its `debt`, the duration of its calls that nobody
 * has waited for yet: it is paid when the rank blocks, or before anything else of it can be seen
 * (ops->settle).
 */
struct an_collective;
struct an_fragment;
struct an_request;

/* What two ranks have sent each other and not matched, for one destination on one communicator. */
struct an_mailbox {
    struct pf_envelope_queue messages; /* struct an_message in the order of the calls, or by arrival */
    struct pf_envelope_queue receives; /* struct an_request in the order of the calls */
    uint64_t posted, sent;             /* receives so far; messages, while they are not ordered */
    bool ordered;                      /* by arrival, since somebody looks for the first of all */
    int open; /* receives from any source and probes that wait: then messages tell when they arrive */
    struct an_rank *prober; /* the destination waits in a blocking probe */
};

/* One communicator, for all its members. An intercommunicator has both sides in one list: the first `cut`
 * members are one side. */
struct an_shared {
    int id, size;
    int cut;     /* 0: no intercommunicator */
    int members; /* that hold it now */
    int *world_ranks;
    bool *joined; /* who has ever held it */
    struct an_mailbox *boxes;
    struct an_collective *collectives; /* that have begun and are not over, oldest first */
    struct an_collective *free_collectives;
    struct an_leave *leaves; /* room */
    struct an_shared *next;  /* in the table */
};

/* One member's handle. */
struct an_comm {
    struct an_rank *rank;
    struct an_shared *shared;
    int me;               /* rank in the own group */
    int index;            /* in the list of members */
    int first, size;      /* the own group in that list, and its length */
    int peers_at, peers;  /* those with whom it exchanges messages: the other side, or all */
    uint64_t collectives; /* entered */
};

struct an_rank {
    struct pf_instance base; /* first */
    void *mpi;               /* the middleware's, for on_progress */
    void *predefined[PF_PREDEFINED_LIMIT];
    struct an_comm *world, *alone;
    struct an_comm *groups; /* where it meets the members of MPI_Comm_create_group; NULL before the first */
    double debt;            /* seconds of its calls that are still to pay */
    int calls_in_debt;      /* calls since the rank has blocked */
    double foresight;       /* its call is a probe in vain, and would be before the debt is so large */
    double idle_until;      /* its own date when it has last looked in vain */
    double idle_step;       /* while it dozes, the time between two looks that it does not make */
    double comes_first, comes_last; /* dates known ahead; between a first one that is over and the last may
                                       be others */
    int soonest_from; /* the rank that it has last looked for, and how long a message from there takes */
    double soonest;
    struct pf_waiter waiter;
    bool can_wait; /* its waiter has been made */
    bool dozes;
    int idle; /* looks in vain since it has done anything else */
    struct pf_event wake;
    struct an_rank *wake_next; /* wakes with it */
    double wake_at;
    double busy_until;      /* its own date when it began to wait */
    double work_from, work; /* of the receives that it waits for: the earliest begin, and all together */
    int unknown;            /* requests that the rank waits for and whose date is not known */
    bool any;               /* it waits for the first, not for the last */
    double handles_until;   /* its processor works for one-sided messages of others */
    struct an_fragment
        *late; /* the first of those that have come meanwhile and wait for the date `late_until` */
    double late_until;
    double looked;      /* its own date when it has last waited: of what had come until then it knows */
    void *bsend_buffer; /* the attached one */
    int bsend_size;
    int64_t bsend_used;
    int buffer_number;
};

enum an_kind { AN_SEND, AN_RECEIVE, AN_COLLECTIVE, AN_ACCESS };

/* A pending operation; at first its envelope, for receives. */
struct an_request {
    struct pf_envelope envelope;
    enum an_kind kind;
    struct an_rank *rank;
    struct an_mailbox *box; /* of a posted receive, while it is not matched */
    struct an_message
        *message; /* of a rendezvous that is not matched; of a receive: data yet to be unpacked */
    void *buffer;
    int count;
    MPI_Datatype type;
    double posted;
    double done_at; /* INFINITY while nobody knows */
    double work;    /* of a receive: for so long before, its rank's processor works for it */
    MPI_Status status;
    bool waited, watched;
    bool freed;      /* the application has forgotten it */
    bool persistent; /* made by an _init function */
    bool active;
    bool keeps_type;        /* the type must outlive its freeing by the user */
    struct pf_event notice; /* of the date, for a rank that waits in several implementations */
    struct an_comm *comm;   /* of a persistent one */
    int peer, mode;
};

/* A message on its way, or one that nobody has received. */
struct an_message {
    struct pf_envelope envelope; /* by arrival */
    struct an_mailbox *box;
    int source, destination; /* world ranks */
    size_t bytes;
    struct pf_cost_sent sent;
    struct pf_event arrival;    /* only while somebody could see it */
    struct an_request *request; /* the sender's, of a rendezvous */
    struct an_rank *buffered;   /* who has it in its attached buffer */
    int buffer_number;          /* which of those that it has attached */
    const void *buffer;         /* the sender's, of a rendezvous */
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
    struct pf_cost *cost;
    struct pf_colls *colls;
    bool moves_data;  /* analytic_data */
    bool posts;       /* posting a receive may cost something */
    bool by_messages; /* one-sided communication is made of them (rma/pt2pt.h) */
    void (*on_progress)(void *rank);
};

extern struct an_job an_job;

/* Sets the prices (job.c). Returns an enum pf_error, and in `why` one line when it is not PF_SUCCESS. */
int an_job_price(const struct pf_job *job, char *why, size_t why_size);

/* ---- time (rank.c) ---- */

/* The rank's own date. */
static inline double an_now(const struct an_rank *rank)
{
    return pf_engine_now() + rank->debt;
}

/* Pays what the rank owes: blocks until its own date. */
void an_rank_settle(struct an_rank *rank);

/* The rank's date moves to `date`: it blocks, or owes the difference when that is small. */
void an_rank_reach(struct an_rank *rank, double date);

/* A call of the rank has lasted until `date`. */
static inline void an_rank_charge(struct an_rank *rank, double date)
{
    double now = pf_engine_now();
    if (date > now + rank->debt)
        rank->debt = date - now;
}

/* What a call costs the rank itself. */
static inline void an_rank_pay_call(struct an_rank *rank)
{
    rank->debt += pf_cost_call(an_job.cost);
}

/* Ends a call that does not block: a rank that has called a lot pays what it owes. */
void an_rank_pace(struct an_rank *rank);

/* A look was in vain, and takes `step`. */
void an_rank_idle(struct an_rank *rank, double step);

/* Something will have come at `date` for the rank, which may doze. */
void an_rank_expect(struct an_rank *rank, double date);

/* Blocks the calling rank until somebody posts its wake event. */
void an_rank_park(struct an_rank *rank);

/* Blocks the calling rank until it has been told `unknown` dates: until the latest of them, and `date`. */
void an_rank_await(struct an_rank *rank, int unknown, double date);

/* A date that the blocked rank waits for has become known. */
void an_rank_tell(struct an_rank *rank, double date);
/* One of several that become known together: ranks that go on at one date share an event. `last` points to
 * NULL before the first. */
void an_rank_tell_next(struct an_rank *rank, double date, struct an_rank **last);

/* The calling rank. */
struct an_rank *an_rank_self(void);

/* ---- requests (request.c) ---- */
struct an_request *an_request_new(struct an_rank *rank, enum an_kind kind);
void an_request_release(struct an_request *request);

/* What it sends or receives. */
void an_request_describe(struct an_request *request, const void *buffer, int count, MPI_Datatype type);

/* The date of the request is known now. */
void an_request_settle(struct an_request *request, double date);

/* The same for one of several, see an_rank_tell_next(). */
void an_request_settle_next(struct an_request *request, double date, struct an_rank **last);

/* Blocks until it is done and moves the rank's date there. */
void an_request_await(struct an_request *request);

/* The rank waits in several implementations at once: it is told when the request is done. */
void an_request_watch(struct an_request *request);

/* A wait begins; one of its receives has its date. Several receives follow each other on the processor of
 * their rank: returns the earliest end of those so far. */
void an_rank_begin_work(struct an_rank *rank);
double an_rank_work(struct an_rank *rank, const struct an_request *request);

/* It is done at the rank's date: the rest of its data, its status. Returns its error; releases it, or makes a
 * persistent one inactive. */
int an_request_finish(MPI_Request *handle, MPI_Status *status);

static inline bool an_request_is_done(const struct an_request *request)
{
    return request->done_at <= an_now(request->rank);
}

/* The memory of a message; what it says is the caller's to fill in. Its place in a box must have ended. */
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

/* The request of a send that has yet to start. */
struct an_request *an_send_request(const struct an_send *send);
/* Sends, and returns the date at which a wait for it ends. When that is INFINITY, the message has to meet its
 * receive first, and tells the request then; it is made here if the caller has none. */
double an_message_send(const struct an_send *send, struct an_request **request);
/* Posts a receive with the middleware's wildcards. */
void an_message_receive(struct an_comm *comm, int source, int tag, struct an_request *request);
/* Takes a matched message into a receive. */
void an_message_take(struct an_message *message, struct an_request *request, double posted);
/* The first message that has arrived and matches. */
struct an_message *an_message_find(struct an_comm *comm, int source, int tag, double now);
/* From now on (or no longer) messages to this box tell when they arrive. */
void an_mailbox_open(struct an_mailbox *box);
void an_mailbox_close(struct an_mailbox *box);
/* Takes it out of its box. */
void an_message_remove(struct an_message *message);
/* Takes a receive that nobody has matched out of the books. */
void an_message_withdraw(struct an_request *request);
void an_mailbox_clear(struct an_mailbox *box);

/* ---- data (data.c) ---- */

/* Room for packed data, from lists by size. */
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

/* Of a received message, whose status has the layout of adapters/local: see status_get() in
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

#endif
