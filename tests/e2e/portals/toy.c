/* SPDX-License-Identifier: BSD-3-Clause */
#include "toy.h"

#include <stdlib.h>

struct toy_counts toy_counts;
long toy_lose_every;

/* One transfer on its lane. */
struct parcel {
    struct parcel *next; /* at the entrance */
    struct pf_transfer *transfer;
    struct lane *lane;
    long packets, left, arrived; /* in all, out of the source, out of the buffer at the end */
    bool doomed;
};

struct asker {
    struct asker *next;
    void (*credit)(void *arg);
    void *arg;
};

struct lane {
    struct lane *next;
    int src, dst, vn;
    struct parcel *first, *last;
    int waiting; /* parcels at the entrance */
    int in_flight;
    double free_at, drained_at;
    bool scheduled; /* a packet is about to leave */
    struct asker *askers;
};

enum what { DEPART, ARRIVE };

/* The network's own calendar: a list in the order of dates. */
struct entry {
    struct entry *next;
    double date;
    enum what what;
    struct lane *lane;
    struct parcel *parcel;
};

static struct lane *lanes;
static struct entry *calendar;
static double clock_date;
static long transfers;

static void note(double date, enum what what, struct lane *lane, struct parcel *parcel)
{
    struct entry *entry = calloc(1, sizeof *entry);
    *entry = (struct entry){.date = date, .what = what, .lane = lane, .parcel = parcel};
    struct entry **place = &calendar;
    while (*place && (*place)->date <= date)
        place = &(*place)->next;
    entry->next = *place;
    *place = entry;
}

static struct lane *lane_of(int src, int dst, int vn)
{
    for (struct lane *lane = lanes; lane; lane = lane->next)
        if (lane->src == src && lane->dst == dst && lane->vn == vn)
            return lane;
    struct lane *lane = calloc(1, sizeof *lane);
    *lane = (struct lane){.next = lanes, .src = src, .dst = dst, .vn = vn};
    return lanes = lane;
}

/* The next packet leaves as soon as the lane is free and a credit is there. */
static void schedule(struct lane *lane)
{
    if (lane->scheduled || !lane->first)
        return;
    if (lane->in_flight == TOY_CREDITS) {
        toy_counts.stalls++;
        return; /* the next packet out of the buffer comes here again */
    }
    lane->scheduled = true;
    note(lane->free_at > clock_date ? lane->free_at : clock_date, DEPART, lane, lane->first);
}

static void give_places(struct lane *lane)
{
    while (lane->askers && lane->waiting < TOY_ENTRANCE) {
        struct asker *asker = lane->askers;
        lane->askers = asker->next;
        toy_counts.credits++;
        asker->credit(asker->arg);
        free(asker);
    }
}

static void leave_entrance(struct lane *lane)
{
    lane->first = lane->first->next;
    if (!lane->first)
        lane->last = NULL;
    lane->waiting--;
}

static void depart(struct lane *lane)
{
    struct parcel *parcel = lane->first;
    lane->scheduled = false;
    lane->free_at = clock_date + TOY_PACKET_TIME;
    lane->in_flight++;
    if (lane->in_flight > toy_counts.most_in_flight)
        toy_counts.most_in_flight = lane->in_flight;
    toy_counts.packets++;
    double arrival = clock_date + TOY_PACKET_TIME + TOY_FLIGHT_TIME;
    if (lane->drained_at > arrival)
        arrival = lane->drained_at;
    lane->drained_at = arrival + TOY_DRAIN_TIME;
    note(lane->drained_at, ARRIVE, lane, parcel);
    if (++parcel->left < parcel->packets) {
        schedule(lane);
        return;
    }
    leave_entrance(lane);
    schedule(lane);
    if (parcel->transfer &&
        (!parcel->doomed || toy_counts.packets % 2)) /* lost before or after it has left */
        parcel->transfer->sent(parcel->transfer);
    give_places(lane);
}

/* The last packet is out of the buffer. */
static void conclude(struct parcel *parcel)
{
    struct pf_transfer *t = parcel->transfer;
    bool doomed = parcel->doomed;
    free(parcel);
    if (!t)
        return; /* cancelled */
    t->state = NULL;
    if (doomed) {
        toy_counts.lost++;
        t->failed = true;
        t->lost(t);
        return;
    }
    toy_counts.delivered++;
    if (!t->streams)
        t->first(t);
    t->last(t);
}

/* One packet out of the buffer: its credit goes back. A lost transfer misses its last packet. */
static void arrive(struct lane *lane, struct parcel *parcel)
{
    struct pf_transfer *t = parcel->transfer;
    lane->in_flight--;
    schedule(lane);
    parcel->arrived++;
    bool last = parcel->arrived == parcel->packets;
    if (t && t->streams && parcel->arrived == 1 && !(last && parcel->doomed))
        t->first(t);
    if (last)
        conclude(parcel);
}

static bool toy_can_inject(int src, int dst, int vn, double bytes, void (*credit)(void *arg), void *arg)
{
    (void)bytes;
    struct lane *lane = lane_of(src, dst, vn);
    if (lane->waiting < TOY_ENTRANCE)
        return true;
    toy_counts.refused++;
    struct asker *asker = calloc(1, sizeof *asker);
    *asker = (struct asker){.next = lane->askers, .credit = credit, .arg = arg};
    lane->askers = asker;
    return false;
}

static void toy_inject(struct pf_transfer *t)
{
    struct lane *lane = lane_of(t->src, t->dst, t->vn);
    struct parcel *parcel = calloc(1, sizeof *parcel);
    clock_date = pf_engine_now();
    *parcel = (struct parcel){
        .transfer = t, .lane = lane, .packets = (long)((t->bytes + TOY_PACKET - 1) / TOY_PACKET)};
    /* Scattered: a regular pattern could fall in with the rhythm in which messages are sent again. */
    parcel->doomed = toy_lose_every && (uint32_t)(++transfers * 2654435761UL) % toy_lose_every == 0;
    t->failed = false;
    t->state = parcel;
    toy_counts.unasked += lane->waiting >= TOY_ENTRANCE;
    if (lane->last)
        lane->last->next = parcel;
    else
        lane->first = parcel;
    lane->last = parcel;
    lane->waiting++;
    schedule(lane);
}

/* What has left stays on its way and no longer counts. */
static void toy_cancel(struct pf_transfer *t)
{
    struct parcel *parcel = t->state;
    if (parcel)
        parcel->transfer = NULL;
    t->state = NULL;
}

static bool toy_failed(const struct pf_transfer *t)
{
    return t->failed;
}

static void toy_route_info(int src, int dst, struct pf_route_info *info)
{
    (void)src, (void)dst;
    *info = (struct pf_route_info){TOY_PACKET_TIME + TOY_FLIGHT_TIME + TOY_DRAIN_TIME,
                                   TOY_PACKET / TOY_DRAIN_TIME, 1};
}

static double toy_next_event(void)
{
    return calendar ? calendar->date : -1.0;
}

static void toy_advance_to(double date)
{
    while (calendar && calendar->date <= date) {
        struct entry entry = *calendar;
        free(calendar);
        calendar = entry.next;
        clock_date = entry.date;
        if (entry.what == DEPART)
            depart(entry.lane);
        else
            arrive(entry.lane, entry.parcel);
    }
}

const struct pf_network_ops toy_network = {
    .size = sizeof(struct pf_network_ops),
    .name = "toy",
    .can_inject = toy_can_inject,
    .inject = toy_inject,
    .cancel = toy_cancel,
    .failed = toy_failed,
    .route_info = toy_route_info,
    .next_event = toy_next_event,
    .advance_to = toy_advance_to,
    .acknowledge = pf_network_plain_acknowledge,
};
