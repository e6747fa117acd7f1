/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "middleware/check/check.h"
#include "middleware/comm/comm.h"
#include "middleware/comm/routing.h"
#include "middleware/p2p/request.h"

/* What can be found, with the name in the JSON summary. */
#define PF_CHECK_KINDS(X)                                                                                    \
    X(LEAK, leaks)                                                                                           \
    X(HANDLE, bad_handles)                                                                                   \
    X(TWICE, completed_twice)                                                                                \
    X(COLLECTIVE, mismatched_collectives)                                                                    \
    X(UNRECEIVED, unreceived_messages)                                                                       \
    X(OVERLAP, overlapping_buffers)                                                                          \
    X(ARGUMENT, bad_arguments)                                                                               \
    X(FINALIZED, calls_after_finalize)                                                                       \
    X(MISSING, missing_finalize)                                                                             \
    X(SIGNATURE, mismatched_datatypes)                                                                       \
    X(EPOCH, bad_epochs)                                                                                     \
    X(WINDOW, beyond_windows)                                                                                \
    X(UNSAFE, unsafe_sends)                                                                                  \
    X(DEADLOCK, deadlocks)                                                                                   \
    X(FATAL, fatal_errors)

enum pf_check_kind {
#define X(kind, name) PF_CHECK_##kind,
    PF_CHECK_KINDS(X)
#undef X
        PF_CHECK_KIND_COUNT
};

/* The kind of keyvals, which are numbers; the other handles are pointers. */
#define PF_CHECK_KEYVAL 1u

/* A call by a PMPI_ name, which the layer does not see. */
#define PF_CHECK_UNSEEN (-1)

/* Where in the application something happened. */
struct pf_check_place {
    int fn; /* or PF_CHECK_UNSEEN */
    const void *site;
};

/* The sequence of basic elements that a count and a datatype stand for. */
struct pf_check_signature {
    uint64_t hash, power;
    long long elements;
    unsigned uniform; /* which elements, if all are the same; otherwise 0 */
    bool unknown;     /* there are bytes in it, which stand for anything */
};

/* Memory that an operation reads or writes, from its start to its completion. */
struct pf_check_range {
    const char *from, *to; /* the same: none, or none that is known */
    bool writes;
};

struct pf_check_scope;
struct pf_check_note;    /* one side of a message, and */
struct pf_check_meeting; /* a collective, in a world without buffering: see waits.c */
struct pf_check_event;
struct pf_check_call;

/* What is known about one handle of a rank, also after its end. There are many of requests: they are short.
 */
struct pf_check_record {
    uintptr_t key;  /* the handle, or pf_check_keyval_key() */
    uint64_t order; /* in which the handles were made */
    uint32_t kind;  /* enum pf_kind, or PF_CHECK_KEYVAL */
    int references; /* handles of the application: 0 when all have been freed */
    struct pf_check_place made, freed;
    uint64_t seen;           /* number of the last call that had it in an array */
    bool persistent, active; /* of a request */
    bool reported;           /* of a leak that has been reported with another one */
    bool gone;               /* the object has ended, by a call that the layer sees or not */
    union {
        struct { /* of a request */
            struct pf_check_range ranges[2];
            struct pf_check_note *note;       /* of one that is active, */
            struct pf_check_meeting *meeting; /* or of a collective */
        };
        struct {                          /* of others */
            char *name;                   /* in a report of a leak; NULL: none */
            struct pf_check_scope *scope; /* of a window or file: its collectives */
            struct pf_check_place opened; /* of a window: the call that has opened the youngest epoch */
            struct pf_check_signature signature; /* of a datatype, computed on demand; of a matched message */
        };
    };
};

/* A range in use, and its user: a request, or operations on a window. */
struct pf_check_use {
    struct pf_check_range range;
    struct pf_check_place made;
    const struct pf_check_record *user;
    int target; /* of operations on a window; -1: several */
};

/* One rank's. */
struct pf_check {
    struct { /* an open hash table: a power of two of places, at most half of them taken */
        struct pf_check_place_of {
            uintptr_t key;
            struct pf_check_record *record; /* NULL: free */
        } * places;
        size_t capacity, count;
    } records;
    uint64_t made;             /* handles, so far */
    struct pf_check_use *uses; /* sorted by their start */
    int use_count, use_capacity;
    size_t longest;          /* bytes of the longest range that has been in use */
    struct pf_request *kept; /* completed requests, so that no new one gets their address too soon */
    struct pf_request **kept_end;
    struct pf_request *oldest; /* of them: the one that the next new one may be; NULL: none */
    int kept_count;
    uint64_t calls;
    struct pf_check_call *call; /* in which the rank is */
    bool probes;                /* it has asked for messages from any source */

    /* See waits.c. */
    struct pf_check_event *events;
    int first_event, event_count, event_capacity, open_count;
    struct pf_rank *next_ready, *next_waiting;
    bool is_ready, is_waiting, stuck;
    uint64_t reported; /* the last one with a report */
};

/* What a collective says that the other members must say too. */
struct pf_check_collective {
    int root;                            /* -1: it has none */
    MPI_Op op;                           /* NULL: none */
    struct pf_check_signature signature; /* of those bytes; of one item of a list */
    long long bytes;                     /* the same at all members; -1: not given */
    long long elements;                  /* the same; -1: unknown */
    uint64_t vector;  /* of a list of sizes that is the same at all members: its hash; 0: none */
    long long own;    /* bytes between this member and the root; -1: not given */
    uint64_t balance; /* what is sent less what is received, in numbers that add up to 0; see collectives.c */
    uint64_t elements_balance; /* the same of the elements, */
    bool unsized;              /* unless there are bytes among them */
    const int *counts;         /* at the root: those for each member, in units of `unit` */
    long long unit;
    struct pf_check_signature at_root; /* what the root has for a member, or one item of it */
    const char *inconsistent;          /* what the member's own arguments contradict */
};

/* A call of the application, on the stack of the function that stands for it. */
struct pf_check_call {
    struct pf_rank *rank;
    int fn;
    const void *site;
    const void *outer; /* of the call in whose callback this one is made */
    int refused;       /* not MPI_SUCCESS: the call cannot be passed on, and ends with this class */
    MPI_Comm comm;     /* whose error handler is called */
    struct pf_check_range ranges[3]; /* a request has the first two */
    int range_count;
    struct pf_check_collective collective;
    const struct pf_comm *collective_comm;           /* on which it is a collective, */
    const struct pf_check_record *collective_record; /* or the window or file */
    struct pf_check_scope *child;                    /* for the window or file that the call makes */
    struct pf_check_signature signatures[2];         /* of what is sent, and received */
    struct pf_check_note *notes[2];   /* the same: what the call has posted and not handed on */
    struct pf_check_meeting *meeting; /* likewise */
    struct pf_check_call *previous;   /* in whose callback this one is made */
};

/* ---- report.c ---- */

/* One line about something found: "parfocal: check: rank 2: ...". */
void pf_check_found(enum pf_check_kind kind, const struct pf_rank *r, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* "MPI_Isend at a.c:12 (main)"; the same buffer is used again after eight calls. */
const char *pf_check_place_text(int fn, const void *site);

/* ---- call.c ---- */

/* The begin of a call. False when the rank is not watched: the call then goes on as if the layer was not
 * there. */
bool pf_check_enter(struct pf_check_call *call, int fn, const void *site);

/* The end. Returns the code. */
int pf_check_leave(struct pf_check_call *call, int code);

/* The end of a call that cannot be passed on, with the error handler's help. */
int pf_check_refuse(struct pf_check_call *call);

/* ---- records.c ---- */

struct pf_check_record *pf_check_find(struct pf_rank *r, const void *handle);
/* The same by its key; a keyval's is no address. */
struct pf_check_record *pf_check_find_key(struct pf_rank *r, uintptr_t key);
static inline uintptr_t pf_check_keyval_key(int keyval)
{
    return (uintptr_t)(unsigned)keyval | (uintptr_t)1 << 63;
}
/* A new one for a key that has none. */
struct pf_check_record *pf_check_add(struct pf_rank *r, uintptr_t key);
/* All of them in the order in which their handles were made, NULL behind the last; the caller frees the list.
 */
struct pf_check_record **pf_check_all_records(struct pf_rank *r);

/* ---- handles.c ---- */

const char *pf_check_kind_name(uint32_t kind);

/* The application passes a handle. A predefined one, NULL, or one that is valid is no finding; otherwise the
 * call is refused. Returns what is known about it, or NULL. */
struct pf_check_record *pf_check_handle(struct pf_check_call *call, uint32_t kind, const void *handle);
/* A datatype of what is moved: it must be committed. */
void pf_check_datatype(struct pf_check_call *call, MPI_Datatype handle);
void pf_check_handles(struct pf_check_call *call, uint32_t kind, const void *handles, int count);

/* The call has made a handle, or returned one that the application must free too. */
struct pf_check_record *pf_check_made(struct pf_check_call *call, uint32_t kind, const void *handle);
void pf_check_made_message(struct pf_check_call *call, const void *handle);
void pf_check_made_keyval(struct pf_check_call *call, int keyval);

/* A call that the layer has not seen has ended the object: its handles mean nothing any more. */
void pf_check_gone(struct pf_rank *r, const void *handle);

/* The call has freed it. */
void pf_check_freed(struct pf_check_call *call, const void *handle);
void pf_check_record_freed(struct pf_check_call *call, struct pf_check_record *record); /* NULL: none */
void pf_check_freed_keyval(struct pf_check_call *call, int keyval);

/* ---- signature.c ---- */

struct pf_check_signature pf_check_signature_of(struct pf_rank *r, MPI_Count count, MPI_Datatype type);

/* What they differ in where both have elements, NULL when one may meet the other. */
const char *pf_check_signatures_differ(struct pf_check_signature a, struct pf_check_signature b);

/* ---- buffers.c ---- */

void pf_check_count(struct pf_check_call *call, MPI_Count count);
void pf_check_positive(struct pf_check_call *call, const char *what, long long value);
/* A rank of the communicator (or of the window's); receives may come from anybody. */
void pf_check_peer(struct pf_check_call *call, MPI_Comm comm, int peer, bool receives);
void pf_check_target(struct pf_check_call *call, MPI_Win win, int target);
void pf_check_tag(struct pf_check_call *call, int tag, bool receives);

/* The call reads or writes `count` items in `blocks` consecutive blocks. */
void pf_check_buffer(struct pf_check_call *call, const void *buffer, MPI_Count count, MPI_Datatype type,
                     int blocks, bool writes);

/* What a message consists of. */
void pf_check_message(struct pf_check_call *call, bool receives, MPI_Count count, MPI_Datatype type);

/* It is the one that a matched probe has found. */
void pf_check_matched(struct pf_check_call *call, MPI_Message message);

/* The same without a claim on the memory: only whether there is any. Without it the call is refused. */
void pf_check_memory(struct pf_check_call *call, const void *buffer, MPI_Count count, MPI_Datatype type);

/* The same for a list of blocks, of one type or (`types` not NULL) of one each. */
void pf_check_blocks(struct pf_check_call *call, const void *buffer, const int *counts, int blocks,
                     MPI_Datatype type, const MPI_Datatype *types);

/* The ranges of a request come into use, and go. */
void pf_check_use(struct pf_rank *r, struct pf_check_record *request);
void pf_check_unuse(struct pf_rank *r, struct pf_check_record *request);

/* The same for what a call without a request has left at its origin, until it is complete there (of all
 * targets: -1). */
void pf_check_use_origin(struct pf_check_call *call, MPI_Win win, int target);
void pf_check_unuse_origins(struct pf_rank *r, const struct pf_check_record *win, int target);

/* A persistent request starts: do its ranges meet others in use? */
void pf_check_restart(struct pf_check_call *call, const struct pf_check_record *request);

/* ---- epochs.c ---- */

/* A call that opens or closes an epoch, or needs a locked target: one of them, or all (-1). */
void pf_check_epoch(struct pf_check_call *call, MPI_Win handle, int target, int assertion);

/* A call that needs an epoch; with a request only one of locks will do. */
void pf_check_access(struct pf_check_call *call, MPI_Win handle, int target, bool request);

/* The memory of a new window. */
void pf_check_window(struct pf_check_call *call, const void *base, MPI_Aint size);

/* What moves between the origin and the target; */
void pf_check_transfer(struct pf_check_call *call, MPI_Count count, MPI_Datatype type, MPI_Count target_count,
                       MPI_Datatype target_type);
/* and where there. */
void pf_check_reach(struct pf_check_call *call, MPI_Win handle, int target, MPI_Aint disp, MPI_Count count,
                    MPI_Datatype type);

/* ---- waits.c ---- */

/* The rank posts one side of a message, from a source or a wildcard; the ledger's reference. */
struct pf_check_note *pf_check_posted(struct pf_rank *r, const struct pf_ledger_side *side, int source);

/* The ledger has found out which sides are one message (receive NULL: a matched probe has
 * taken it; one of both NULL: it cannot be said which is the other). */
void pf_check_met(struct pf_check_note *send, struct pf_check_note *receive);

/* The rank enters a collective of so many members: NULL for the first of them. */
struct pf_check_meeting *pf_check_meet(struct pf_check_call *call, struct pf_check_meeting *meeting,
                                       int size);

/* It waits for them; takes over the references. */
void pf_check_await(struct pf_check_call *call, struct pf_check_note **note,
                    struct pf_check_meeting **meeting);

void pf_check_note_release(struct pf_check_note *note);
void pf_check_meeting_release(struct pf_check_meeting *meeting);

/* All ranks have finalized: reports sends that have needed buffering. */
void pf_check_waits_end(void);

/* ---- requests.c ---- */

/* The call has made a request: an active one, or an inactive persistent one. */
void pf_check_made_request(struct pf_check_call *call, MPI_Request request, bool persistent);

/* ---- collectives.c ---- */

/* The collective's amounts: fill in before pf_check_collective(). The bytes that all members must name; */
void pf_check_all(struct pf_check_call *call, int count, MPI_Datatype type);
/* sent and received by every member, the same at all; */
void pf_check_pair(struct pf_check_call *call, const void *sendbuf, int sendcount, MPI_Datatype sendtype,
                   int recvcount, MPI_Datatype recvtype, const void *recvbuf);
/* a list that is the same at all members, and what this one sends (type NULL: not given); */
void pf_check_list(struct pf_check_call *call, MPI_Comm comm, const int *counts, MPI_Datatype type,
                   int sendcount, MPI_Datatype sendtype);
/* between each member and the root, which has a list or (counts NULL) one count for all. */
void pf_check_rooted(struct pf_check_call *call, bool at_root, int owncount, MPI_Datatype owntype,
                     const int *counts, int count, MPI_Datatype type, bool own_known);

/* between each two members (`types` for MPI_Alltoallw, NULL otherwise). */
void pf_check_exchange(struct pf_check_call *call, const struct pf_comm *member, const void *sendbuf,
                       const int *sendcounts, MPI_Datatype sendtype, const MPI_Datatype *sendtypes,
                       const int *recvcounts, MPI_Datatype recvtype, const MPI_Datatype *recvtypes);

/* The member enters a collective on the communicator, window or file. Ends the job if another member has
 * entered another one. */
void pf_check_collective(struct pf_check_call *call, MPI_Comm comm);
void pf_check_collective_on(struct pf_check_call *call, const void *handle);

/* The last member of a communicator has released it: reports messages that can no longer be received. */
void pf_check_comm_ends(struct pf_comm_shared *shared);

/* MPI ends: reports collectives that members of the communicator have not entered. */
void pf_check_incomplete(const struct pf_comm_shared *shared);

/* The scope is no longer needed. */
void pf_check_scope_release(struct pf_check_scope *scope);

/* "MPI_COMM_WORLD", or the name of a communicator and where it was made. */
const char *pf_check_comm_text(struct pf_rank *r, const struct pf_comm *comm);

/* ---- finalize.c ---- */

/* Reports messages that no rank has received on a communicator that no rank uses any more. */
void pf_check_unreceived(const struct pf_comm_shared *shared, const char *where);
