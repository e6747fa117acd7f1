/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <emmintrin.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/export.h"
#include "base/self.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * The critical path, by forward passing: whatever runs, a rank or an event, carries what its present date is
 * made of since the begin of the run. An event takes a copy from what posts it and adds the time up to its
 * own date; a rank that waited takes over that of the event that ended its wait. So the path of the rank that
 * ends last is known when it ends, and adds up to the simulated time. (As in Hollingsworth, "Critical path
 * profiling of message passing and shared-memory programs", 1998, and Böhme et al., "Scalable critical-path
 * based performance analysis", 2012, but inside the simulator, which knows all causes.)
 *
 * Each path also carries a second date, the prediction: the same with each part divided by a factor, and with
 * the latest of all that a rank takes in, whether it waited for it or not.
 *
 * Off by default; it never changes a simulated date.
 */
enum pf_chain_class {
    PF_CHAIN_COMPUTATION, /* of ranks */
    PF_CHAIN_SOFTWARE,    /* of the MPI implementation, on the processors of ranks */
    PF_CHAIN_COLLECTIVE,  /* inside a collective that its model prices as a whole */
    PF_CHAIN_NIC,         /* interfaces and their PCIe */
    PF_CHAIN_LATENCY,     /* of the links and routers of an empty network */
    PF_CHAIN_TRANSFER,    /* the rest of a way through the network: bytes over bandwidth, and congestion */
    PF_CHAIN_FILES,       /* reads and writes of files */
    PF_CHAIN_CLASSES
};

struct pf_chain; /* counted parts; owned by what got it, see pf_chain_drop() */

/*
 * A part of a path has one message at most, on whose way it is: its latency and transfer belong to links. The
 * latency is split as that of the empty links on its route, and the transfer (bytes and waiting) is that of
 * one link: where the message waited longest, or if it did not wait the slowest.
 */
/* Where the links of a route are known from; from the third on they are not, because of where the message
 * was. */
enum pf_chain_routes {
    PF_CHAIN_NO_ROUTE, /* no message, or unknown */
    PF_CHAIN_BY_PLATFORM,
    PF_CHAIN_BY_PORTS, /* of the packet network */
    PF_CHAIN_OF_IDEAL,
    PF_CHAIN_OF_EXTERNAL,
    PF_CHAIN_OF_SMPI,
    PF_CHAIN_OF_COLLECTIVE, /* in analytic, as all its messages on average */
    PF_CHAIN_OF_PARAMETERS, /* a topology of analytic's parameters */
    PF_CHAIN_ROUTES
};
enum pf_chain_protocol {
    PF_CHAIN_NO_MESSAGE,
    PF_CHAIN_EAGER,
    PF_CHAIN_RENDEZVOUS,
    PF_CHAIN_WHOLE, /* all messages of a collective */
    PF_CHAIN_PUT,   /* from here on as NICs know them */
    PF_CHAIN_GET,
    PF_CHAIN_ATOMIC,
    PF_CHAIN_REPLY,
    PF_CHAIN_CONTROL,
    PF_CHAIN_PROTOCOLS
};

/* Links of a route in place of a number; the last is the bus of a host, and no link. */
enum { PF_CHAIN_SLOWEST = -1, PF_CHAIN_FIRST = -2, PF_CHAIN_LAST = -3, PF_CHAIN_BUS = -4 };

/* Up to 256 B, 4 KiB, 64 KiB, 1 MiB, more. */
enum { PF_CHAIN_SIZES = 5 };
struct pf_chain_message {
    int32_t from, to;               /* nodes of platform.h */
    int32_t link;                   /* where it waited longest: a number, or one of the above */
    uint8_t routes, protocol, size; /* enum pf_chain_routes, enum pf_chain_protocol, pf_chain_size() */
    bool back;                      /* its latency is also that of the way back */
};
static inline uint8_t pf_chain_size(double bytes)
{
    return (uint8_t)((bytes > 256) + (bytes > 4096) + (bytes > 65536) + (bytes > 1048576));
}

PF_EXPORT extern bool pf_chain_on;
PF_EXPORT extern bool pf_chain_predicts; /* there are factors */

/* One factor per class and for the computation of each rank; NULL: all 1. */
struct pf_chain_factors {
    double of_class[PF_CHAIN_CLASSES];
    const double *of_rank;
};

enum { PF_CHAIN_CALLS = 4096 }; /* numbers of functions */

/* Where a rank is. */
struct pf_chain_place {
    int phase;     /* a number */
    int site;      /* number of the place of its call, 0: none */
    int call;      /* a number of the function that it has called, 0: none */
    double factor; /* of this phase */
};

/* What a route crosses: what is one link has one key. */
enum pf_chain_link_kind {
    PF_CHAIN_LINK_UNSEEN, /* number: enum pf_chain_routes */
    PF_CHAIN_LINK_INSIDE, /* of nodes: messages between ranks of one */
    PF_CHAIN_LINK_BUS,    /* of any host */
    PF_CHAIN_LINK_PLATFORM,
    PF_CHAIN_LINK_PORT
};
struct pf_chain_link {
    int32_t kind, number; /* enum pf_chain_link_kind */
    double latency;       /* s; of the empty link */
};

/* The links of a message's route in order, valid until the next call, and which of them has its transfer.
 * Returns how many: 1 at least. */
typedef int pf_chain_cross_fn(const struct pf_chain_message *message, const struct pf_chain_link **links,
                              int *transfer);

/* What `where` returns is read before the next call. */
typedef const struct pf_chain_place *pf_chain_where_fn(const pf_self_t *self);

/* Begins to follow paths. `where` is called for ranks that run, `cross` at any time until the last one ends.
 * Without factors (NULL) there is no prediction: it is 0. */
PF_EXPORT void pf_chain_begin(int ranks, const struct pf_chain_factors *factors, pf_chain_where_fn *where,
                              pf_chain_cross_fn *cross);

/* The rank is in another call, phase or model: `where` is asked again before the next part. */
PF_EXPORT void pf_chain_moved(const pf_self_t *self);

/* The calling actor is the rank's own, not one that helps it; what was before is computation. */
PF_EXPORT void pf_chain_open(pf_self_t *self, double now);

/* The calling actor starts one that helps the rank. What that does at first, with what has come long before,
 * happens because of this. `lasts`: it may go on when a rank that has not begun yet has. */
PF_EXPORT void pf_chain_help(pf_self_t *self, bool lasts);

/* Since the last date that is known of the rank, it did this. Its own actor calls; a helper's call does
 * nothing. Before the phase changes, too. */
PF_EXPORT void pf_chain_spend(pf_self_t *self, double date, enum pf_chain_class what);

/* The same, and returns a copy. */
PF_EXPORT struct pf_chain *pf_chain_spend_and_copy(pf_self_t *self, double date, enum pf_chain_class what);

/* The same for computation, which began at that date; before that was software. A rank that is ahead of the
 * clock is so afterwards. */
PF_EXPORT void pf_chain_compute(pf_self_t *self, double begin, double end);

/* The rank ends at this date; returns whether all have ended now. */
PF_EXPORT bool pf_chain_close(pf_self_t *self, double date);

/* A copy of what runs now, the event's or the calling actor's; or of a rank's own up to `date`, from whatever
 * context. What is new of a rank's is software. */
PF_EXPORT struct pf_chain *pf_chain_copy(void);
PF_EXPORT struct pf_chain *pf_chain_copy_of(pf_self_t *self, double date);
/* The same in a call whose path has been copied already. */
PF_EXPORT struct pf_chain *pf_chain_copy_on(pf_self_t *self, double date);
PF_EXPORT struct pf_chain *pf_chain_duplicate(const struct pf_chain *path);

/* The path, if any, goes on until this date, in s. */
PF_EXPORT void pf_chain_lengthen(struct pf_chain *path, double date, enum pf_chain_class what);
static inline void pf_chain_extend(struct pf_chain *path, double date, enum pf_chain_class what)
{
    if (__builtin_expect(path != NULL, 0))
        pf_chain_lengthen(path, date, what);
}
PF_EXPORT double pf_chain_end(const struct pf_chain *path);

/* What follows is of this message. */
PF_EXPORT void pf_chain_carry(struct pf_chain *path, const struct pf_chain_message *message);
/* Its message, if it has not waited yet, waits at that link. */
PF_EXPORT void pf_chain_wait_at(struct pf_chain *path, int link);
PF_EXPORT void pf_chain_carry_on(pf_self_t *self, const struct pf_chain_message *message);

/* A way through the network: what of it is latency of links and of NICs at most, in s, and when it ends. */
struct pf_chain_way {
    double links, nics, date;
    struct pf_chain_message message;
};
PF_EXPORT void pf_chain_travel(struct pf_chain *path, const struct pf_chain_way *way);

/* The same for the calling rank, which has waited for what it has sent last. */
PF_EXPORT void pf_chain_go(pf_self_t *self, const struct pf_chain_way *way);

/* The calling rank has sent something in the call that began at `now` and lasts until `date`: spends that on
 * software, and returns a copy. */
PF_EXPORT struct pf_chain *pf_chain_send(pf_self_t *self, double now, double date);

/* A date as paths count them, far from their limit. */
static inline int64_t pf_chain_count(double date)
{
    return _mm_cvtsd_si64(_mm_set_sd(date * 0x1p46));
}

/* Whether pf_chain_meet() changes anything, when what has come has come at `date` and is not from before. */
PF_EXPORT bool pf_chain_needs(pf_self_t *self, double date);

/* `path` also needs `other`: takes it over if that is later, and the later prediction in any case. */
PF_EXPORT void pf_chain_join(struct pf_chain *path, const struct pf_chain *other);

/* The same with one that ends so. */
PF_EXPORT void pf_chain_merge(struct pf_chain **path, struct pf_chain **other);

/* Frees the path, if any, and sets it to NULL. */
PF_EXPORT void pf_chain_free(struct pf_chain **path);
static inline void pf_chain_drop(struct pf_chain **path)
{
    if (__builtin_expect(*path != NULL, 0))
        pf_chain_free(path);
}

/* In an event: what follows in it happens because of this path, which stays its owner's. */
PF_EXPORT void pf_chain_enter(const struct pf_chain *path);

/* The calling rank takes in what has come by this path, up to `now`. */
PF_EXPORT void pf_chain_meet(pf_self_t *self, const struct pf_chain *path, double now);

/* The end of a path, or of what runs now (NULL), in the run and in the prediction. */
struct pf_chain_date {
    int64_t date, predicted;
};
PF_EXPORT struct pf_chain_date pf_chain_date_of(const struct pf_chain *path);

/* A receive, or a probe, of the rank from any source has taken what came at that date: it may be another one
 * when the prediction has the order of two such messages otherwise. */
PF_EXPORT void pf_chain_took(pf_self_t *self, struct pf_chain_date came);

/* For the engine: an event is posted (again), runs, is cancelled; an actor parks and goes on. */
struct pf_event;
PF_EXPORT void pf_chain_posted(struct pf_event *event, bool again, double now);
PF_EXPORT void pf_chain_runs(struct pf_event *event);
PF_EXPORT void pf_chain_parks(void);
PF_EXPORT void pf_chain_resumes(struct pf_chain **woken_by);

/* ---- what the longest path is made of, once ranks have ended ---- */
enum { PF_CHAIN_LONGEST = 10, PF_CHAIN_PIECES = 256 };

/* Consecutive parts of the path on one rank, and on the way from it. */
struct pf_chain_piece {
    double end; /* s; it begins where the one before ends */
    int rank, phase;
    int site; /* of the call in which it is, or after which it computes */
    double spent[PF_CHAIN_CLASSES];
};

struct pf_chain_report {
    double end;               /* s: the simulated time */
    double predicted;         /* s: with the factors */
    uint64_t taken, reversed; /* from any source; before and after the one before it, in another order by the
                                 prediction */
    int rank;                 /* that ended last */
    uint64_t hops;            /* how often the path goes from a rank to another */
    double sum[PF_CHAIN_CLASSES];
    int phases, sites;
    double (*phase)[PF_CHAIN_CLASSES], (*site)[PF_CHAIN_CLASSES]; /* by number */
    int links, messages;                                          /* with a part of the path, by key */
    struct pf_chain_link_share {
        int kind, number; /* enum pf_chain_link_kind */
        double latency, transfer;
    } * link;
    struct pf_chain_message_share {
        int call, protocol, size; /* as in places; enum pf_chain_protocol; pf_chain_size() */
        double spent[PF_CHAIN_CLASSES];
    } * message; /* all 0: what ranks do themselves */
    int ranks;
    double *of_rank;
    int pieces; /* neighbours are merged where there are too many */
    struct pf_chain_piece piece[PF_CHAIN_PIECES];
    int longest_count;
    struct {
        double begin, spent;
        int rank, phase;
        enum pf_chain_class what;
        int site;
    } longest[PF_CHAIN_LONGEST];
};

/* Some date or prediction was beyond 18 simulated hours: there is nothing to report. */
PF_EXPORT bool pf_chain_is_too_long(void);

/* Fills the report, whose arrays live as long as the process; false if no rank has ended. `partial`: the path
 * is that of the rank whose last known date is the latest, whether it has ended or not. */
PF_EXPORT bool pf_chain_report(bool partial, struct pf_chain_report *report);

PF_EXPORT const char *pf_chain_class_name(enum pf_chain_class what);
PF_EXPORT const char *pf_chain_protocol_name(enum pf_chain_protocol protocol);

#ifdef __cplusplus
}
#endif
