/* SPDX-License-Identifier: BSD-3-Clause */
/* Paths that ranks and events carry. */
#include "lowlevel/engine/chain.h"

#include <emmintrin.h>

#include "base/memory.h"
#include "base/pool.h"
#include "lowlevel/engine/engine.h"
#include "lowlevel/engine/history.h"

bool pf_chain_on, pf_chain_predicts;

struct pf_chain {
    struct pf_chain_node *past;
    struct pf_chain_part part; /* since then */
    int64_t begin;             /* of the part */
    int64_t predicted;
    double factor; /* of the phase */
};

/* The actor of a rank has one, and one that helps it another. */
struct pf_chain_tip {
    sg_actor_t actor; /* the rank's own */
    struct pf_chain own, helper;
    bool closed;
    bool placed;
    struct pf_chain_place place; /* where the rank is, if it is placed */
    struct pf_chain_date came;   /* what it has taken from any source last */
    struct pf_chain_tip *next;
};

static struct {
    int ranks;
    struct pf_chain_factors factors;
    pf_chain_where_fn *where;
    struct pf_chain here; /* of the event that runs */
    struct pf_chain_tip *tips, **last_tip;
    int closed;               /* ranks */
    bool helped;              /* some rank has a helper */
    uint64_t taken, reversed; /* from any source; in another order by the prediction */
    bool too_long;            /* some date, or prediction, is beyond what units can count */
} all = {.last_tip = &all.tips};

static struct pf_pool paths = PF_POOL(struct pf_chain);

static const struct pf_chain nothing = {.part.rank = -1, .factor = 1.0};

/* Far enough from the largest number that a few sums still fit. */
#define MOST_UNITS 0x1p62

/* As llrint(), without a call. */
static inline int64_t rounded(double count)
{
    return _mm_cvtsd_si64(_mm_set_sd(count));
}

static inline int64_t units(double date)
{
    double count = date / PF_CHAIN_UNIT;
    if (__builtin_expect(count < MOST_UNITS, 1))
        return rounded(count);
    all.too_long = true;
    return (int64_t)MOST_UNITS;
}

void pf_chain_begin(int ranks, const struct pf_chain_factors *factors, pf_chain_where_fn *where,
                    pf_chain_cross_fn *cross)
{
    pf_chain_node_cross = cross;
    pf_chain_nodes_begin(ranks);
    all.ranks = ranks;
    pf_chain_predicts = factors != NULL;
    if (factors)
        all.factors = *factors;
    all.where = where;
    all.here = nothing;
    pf_chain_on = true;
}

const char *pf_chain_class_name(enum pf_chain_class what)
{
    static const char *const names[] = {"computation", "software", "collectives", "nic",
                                        "latency",     "transfer", "files"};
    _Static_assert(sizeof names / sizeof names[0] == PF_CHAIN_CLASSES, "a name for each");
    return names[what];
}

const char *pf_chain_protocol_name(enum pf_chain_protocol protocol)
{
    static const char *const names[] = {"none", "eager",  "rendezvous", "whole",  "put",
                                        "get",  "atomic", "reply",      "control"};
    _Static_assert(sizeof names / sizeof names[0] == PF_CHAIN_PROTOCOLS, "a name for each");
    return names[protocol];
}

static void set(struct pf_chain *path, const struct pf_chain *from)
{
    pf_chain_node_keep(from->past);
    pf_chain_node_drop(path->past);
    pf_chain_copy_words(path, from, sizeof *path);
}

static struct pf_chain *copy_of(const struct pf_chain *from)
{
    struct pf_chain *path = pf_pool_get(&paths);
    pf_chain_copy_words(path, from, sizeof *path);
    pf_chain_node_keep(path->past);
    return path;
}

/* The part ends. */
static void cut(struct pf_chain *path)
{
    path->past = pf_chain_node_new(path->past, &path->part);
    for (int what = 0; what < PF_CHAIN_CLASSES; what++)
        path->part.spent[what] = 0;
    path->begin = path->part.end;
    path->part.message = nothing.part.message;
}

static inline bool is_empty(const struct pf_chain *path)
{
    return path->part.end == path->begin;
}

/* Without factors, predictions are the dates. */
static void predict(struct pf_chain *path, int64_t length, enum pf_chain_class what)
{
    double factor = all.factors.of_class[what] * path->factor;
    if (what == PF_CHAIN_COMPUTATION && all.factors.of_rank && path->part.rank >= 0)
        factor *= all.factors.of_rank[path->part.rank];
    double predicted = factor == 1.0 ? (double)length : (double)length / factor;
    if (predicted + (double)path->predicted >= MOST_UNITS)
        all.too_long = true;
    else
        path->predicted += factor == 1.0 ? length : rounded(predicted);
}

static inline void extend(struct pf_chain *path, int64_t end, enum pf_chain_class what)
{
    int64_t length = end - path->part.end;
    if (length <= 0)
        return;
    path->part.end = end;
    path->part.spent[what] += length;
    if (pf_chain_predicts)
        predict(path, length, what);
}

/* As far as it had come at that date, if its parts of so long ago are known. What came last within a part is
 * not: computation begins it. */
static void shorten(struct pf_chain *path, int64_t date)
{
    int64_t excess = path->part.end - date;
    if (excess <= 0)
        return;
    path->predicted = path->predicted > excess ? path->predicted - excess : 0;
    do {
        path->begin = path->part.end;
        for (int what = 0; what < PF_CHAIN_CLASSES; what++)
            path->begin -= path->part.spent[what];
        for (int what = PF_CHAIN_CLASSES - 1; what >= 0; what--) {
            int64_t *spent = &path->part.spent[what], less = *spent < excess ? *spent : excess;
            *spent -= less;
            excess -= less;
        }
        path->part.end = date + excess;
    } while (excess > 0 && pf_chain_node_take(&path->past, &path->part));
}

/* ---- ranks ---- */

static struct pf_chain_tip *tip_of(pf_self_t *self)
{
    if (self->path)
        return self->path;
    struct pf_chain_tip *tip = self->path = pf_calloc(1, sizeof *tip);
    tip->own = tip->helper = nothing;
    *all.last_tip = tip;
    all.last_tip = &tip->next;
    return tip;
}

/* SimGrid takes a while to find the calling actor, for something that happens with each call. */
static bool is_own(const struct pf_chain_tip *tip)
{
    return tip->actor && (!all.helped || tip->actor == sg_actor_self());
}

static struct pf_chain *of_actor(pf_self_t *self)
{
    struct pf_chain_tip *tip = tip_of(self);
    return is_own(tip) ? &tip->own : &tip->helper;
}

static void add_up(void)
{
    for (struct pf_chain_tip *tip = all.tips; tip; tip = tip->next)
        pf_chain_nodes_add_up(tip->own.past);
    pf_chain_nodes_added_up();
}

/* What the rank is in now; another phase or call begins another part. */
static inline void look_around(const pf_self_t *self, struct pf_chain *path)
{
    struct pf_chain_tip *tip = self->path;
    const struct pf_chain_place *place = &tip->place;
    if (!tip->placed)
        tip->place = *all.where(self);
    tip->placed = true;
    struct pf_chain_part *part = &path->part;
    path->factor = place->factor;
    if (place->phase == part->phase && place->site == part->site && self->rank == part->rank)
        return;
    if (!is_empty(path)) {
        cut(path);
        if (pf_chain_nodes_are_many())
            add_up();
    }
    part->rank = self->rank;
    part->phase = place->phase;
    part->site = place->site;
    part->call = place->call;
    part->message = nothing.part.message;
}

void pf_chain_moved(const pf_self_t *self)
{
    if (self->path)
        self->path->placed = false;
}

void pf_chain_open(pf_self_t *self, double now)
{
    struct pf_chain_tip *tip = tip_of(self);
    if (tip->actor)
        return;
    tip->actor = sg_actor_self();
    look_around(self, &tip->own);
    extend(&tip->own, units(now), PF_CHAIN_COMPUTATION);
}

void pf_chain_spend(pf_self_t *self, double date, enum pf_chain_class what)
{
    struct pf_chain_tip *tip = tip_of(self);
    if (tip->closed || !is_own(tip))
        return;
    extend(&tip->own, units(date), what);
    look_around(self, &tip->own);
}

struct pf_chain *pf_chain_spend_and_copy(pf_self_t *self, double date, enum pf_chain_class what)
{
    struct pf_chain_tip *tip = tip_of(self);
    if (tip->closed || !is_own(tip))
        return pf_chain_copy_on(self, date);
    extend(&tip->own, units(date), what);
    look_around(self, &tip->own);
    return copy_of(&tip->own);
}

void pf_chain_compute(pf_self_t *self, double begin, double end)
{
    struct pf_chain_tip *tip = tip_of(self);
    if (tip->closed || !is_own(tip))
        return;
    int64_t from = units(begin);
    extend(&tip->own, from, PF_CHAIN_SOFTWARE);
    if (end > begin)
        extend(&tip->own, units(end) + tip->own.part.end - from, PF_CHAIN_COMPUTATION);
    look_around(self, &tip->own);
}

struct pf_chain *pf_chain_send(pf_self_t *self, double now, double date)
{
    struct pf_chain_tip *tip = tip_of(self);
    struct pf_chain *own = &tip->own;
    look_around(self, own);
    if (tip->closed || !is_own(tip))
        return pf_chain_copy_on(self, date);
    extend(own, units(now), PF_CHAIN_SOFTWARE);
    extend(own, units(date), PF_CHAIN_SOFTWARE);
    return copy_of(own);
}

bool pf_chain_close(pf_self_t *self, double date)
{
    struct pf_chain_tip *tip = tip_of(self);
    if (tip->closed)
        return false;
    extend(&tip->own, units(date), PF_CHAIN_SOFTWARE);
    tip->closed = true;
    return ++all.closed == all.ranks;
}

static __attribute__((noinline)) void meet_other(pf_self_t *self, struct pf_chain *mine,
                                                 const struct pf_chain *other, double now)
{
    if (other->part.end > mine->part.end && other->part.end > units(now) + 1) /* dates are rounded */
        return; /* in the future: not what it waited for */
    if (other->part.end > mine->part.end) {
        int64_t predicted = mine->predicted > other->predicted ? mine->predicted : other->predicted;
        set(mine, other);
        mine->predicted = predicted;
        look_around(self, mine);
    } else if (other->predicted > mine->predicted) {
        mine->predicted = other->predicted;
    }
}

static inline void meet(pf_self_t *self, struct pf_chain *mine, const struct pf_chain *other, double now)
{
    if (other->part.end > mine->part.end || other->predicted > mine->predicted)
        meet_other(self, mine, other, now);
}

void pf_chain_meet(pf_self_t *self, const struct pf_chain *path, double now)
{
    if (path && !tip_of(self)->closed)
        meet(self, of_actor(self), path, now);
}

bool pf_chain_needs(pf_self_t *self, double date)
{
    return pf_chain_predicts || units(date) > of_actor(self)->part.end;
}

/* Another message begins another part. */
static inline void carry(struct pf_chain *path, const struct pf_chain_message *message)
{
    if (path->part.message.protocol && !is_empty(path))
        cut(path);
    path->part.message = *message;
}

void pf_chain_carry(struct pf_chain *path, const struct pf_chain_message *message)
{
    if (path)
        carry(path, message);
}

void pf_chain_wait_at(struct pf_chain *path, int link)
{
    if (path->part.message.link == PF_CHAIN_SLOWEST)
        path->part.message.link = link;
}

void pf_chain_carry_on(pf_self_t *self, const struct pf_chain_message *message)
{
    if (!tip_of(self)->closed)
        carry(of_actor(self), message);
}

static void travel(struct pf_chain *path, const struct pf_chain_way *way)
{
    carry(path, &way->message);
    double from = (double)path->part.end * PF_CHAIN_UNIT, links = from + way->links, nics = links + way->nics;
    extend(path, units(way->date < links ? way->date : links), PF_CHAIN_LATENCY);
    extend(path, units(way->date < nics ? way->date : nics), PF_CHAIN_NIC);
    extend(path, units(way->date), PF_CHAIN_TRANSFER);
}

void pf_chain_travel(struct pf_chain *path, const struct pf_chain_way *way)
{
    travel(path, way);
}

void pf_chain_go(pf_self_t *self, const struct pf_chain_way *way)
{
    if (!tip_of(self)->closed)
        travel(of_actor(self), way);
}

/* ---- paths of others ---- */

/* The calling actor's, up to date; NULL: it belongs to no rank. */
static struct pf_chain *of_caller(pf_self_t *self, double date)
{
    struct pf_chain *path = self ? of_actor(self) : NULL;
    if (!path)
        return NULL;
    look_around(self, path);
    extend(path, units(date), PF_CHAIN_SOFTWARE);
    return path;
}

struct pf_chain *pf_chain_copy(void)
{
    if (pf_engine_inside())
        return copy_of(&all.here);
    const struct pf_chain *path = of_caller(pf_self(), pf_engine_now());
    return copy_of(path ? path : &nothing);
}

void pf_chain_help(pf_self_t *self, bool lasts)
{
    struct pf_chain_tip *tip = tip_of(self);
    if (!lasts && !tip->actor)
        return;
    struct pf_chain *path = pf_chain_copy();
    all.helped = true;
    shorten(path, units(pf_engine_now()));
    set(&tip->helper, path);
    pf_chain_free(&path);
}

struct pf_chain *pf_chain_copy_on(pf_self_t *self, double date)
{
    struct pf_chain *copy = copy_of(&tip_of(self)->own);
    extend(copy, units(date), PF_CHAIN_SOFTWARE);
    return copy;
}

struct pf_chain *pf_chain_copy_of(pf_self_t *self, double date)
{
    look_around(self, &tip_of(self)->own);
    return pf_chain_copy_on(self, date);
}

struct pf_chain *pf_chain_duplicate(const struct pf_chain *path)
{
    return path ? copy_of(path) : NULL;
}

void pf_chain_lengthen(struct pf_chain *path, double date, enum pf_chain_class what)
{
    extend(path, units(date), what);
}

double pf_chain_end(const struct pf_chain *path)
{
    return (double)path->part.end * PF_CHAIN_UNIT;
}

void pf_chain_join(struct pf_chain *path, const struct pf_chain *other)
{
    int64_t predicted = path->predicted > other->predicted ? path->predicted : other->predicted;
    if (other->part.end > path->part.end)
        set(path, other);
    path->predicted = predicted;
}

void pf_chain_merge(struct pf_chain **path, struct pf_chain **other)
{
    struct pf_chain *later = *path, *rest = *other;
    if (rest->part.end > later->part.end) {
        later = *other;
        rest = *path;
    }
    later->predicted = later->predicted > rest->predicted ? later->predicted : rest->predicted;
    *path = later;
    *other = rest;
    pf_chain_free(other);
}

void pf_chain_free(struct pf_chain **path)
{
    pf_chain_node_drop((*path)->past);
    pf_pool_put(&paths, *path);
    *path = NULL;
}

void pf_chain_enter(const struct pf_chain *path)
{
    if (path)
        set(&all.here, path);
}

/* ---- orders ---- */

struct pf_chain_date pf_chain_date_of(const struct pf_chain *path)
{
    path = path ? path : &all.here;
    return (struct pf_chain_date){path->part.end, path->predicted};
}

void pf_chain_took(pf_self_t *self, struct pf_chain_date came)
{
    enum { SLACK = 64 }; /* units: both are sums of rounded parts */
    struct pf_chain_date *last = &tip_of(self)->came;
    int64_t later = came.date - last->date, predicted = came.predicted - last->predicted;
    all.taken++;
    all.reversed += (later > 0 && predicted < -SLACK) || (later < 0 && predicted > SLACK);
    *last = came;
}

/* ---- the engine ---- */

void pf_chain_posted(struct pf_event *event, bool again, double now)
{
    if (event->knows_why && !pf_engine_inside())
        of_caller(pf_self(), now);
    else if (!event->knows_why && (!again || !event->path))
        event->path = pf_chain_copy();
}

void pf_chain_runs(struct pf_event *event)
{
    if (!event->path)
        return;
    set(&all.here, event->path);
    pf_chain_drop(&event->path);
    extend(&all.here, units(event->date), PF_CHAIN_NIC);
}

void pf_chain_parks(void)
{
    pf_self_t *self = pf_self();
    struct pf_chain *path = of_caller(self, pf_engine_now());
    if (path && path == &self->path->helper)
        set(path, &nothing); /* what an idle helper has done keeps no past */
}

void pf_chain_resumes(struct pf_chain **woken_by)
{
    pf_self_t *self = pf_self();
    double now = pf_engine_now();
    if (self && *woken_by) {
        shorten(*woken_by, units(now)); /* a rank that is ahead of the clock may have woken it */
        meet(self, of_actor(self), *woken_by, now);
    }
    pf_chain_drop(woken_by);
}

/* ---- the end ---- */

bool pf_chain_is_too_long(void)
{
    return all.too_long;
}

bool pf_chain_report(bool partial, struct pf_chain_report *report)
{
    struct pf_chain_tip *last = NULL;
    int64_t predicted = 0;
    for (struct pf_chain_tip *tip = all.tips; tip; tip = tip->next) {
        if (!tip->closed && !(partial && tip->actor))
            continue;
        if (tip->own.predicted > predicted)
            predicted = tip->own.predicted;
        if (!last || tip->own.part.end > last->own.part.end)
            last = tip;
    }
    if (!last)
        return false;
    struct pf_chain whole = nothing;
    set(&whole, &last->own);
    if (!is_empty(&whole))
        cut(&whole);
    pf_chain_node_report(whole.past, all.ranks, report);
    report->end = (double)whole.part.end * PF_CHAIN_UNIT;
    report->predicted = (double)predicted * PF_CHAIN_UNIT;
    report->taken = all.taken;
    report->reversed = all.reversed;
    report->rank = whole.part.rank;
    pf_chain_node_drop(whole.past);
    return true;
}
