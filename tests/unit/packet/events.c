/* SPDX-License-Identifier: BSD-3-Clause */
/* The calendar gives events back in their order, whatever their dates are like and however often its slots
 * change: they are compared with a list that is searched from end to end. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lowlevel/network/packet/events.h"
#include "lowlevel/topology/topology.h"

enum { MOST = 3000 };

struct plain {
    double date;
    bool late;
    uintptr_t what; /* grows with each that is posted */
};

struct both {
    struct pf_packet_events events;
    struct plain list[MOST];
    int count;
    uint64_t draws, posted;
};

static double draw(struct both *b)
{
    return ((double)(pf_topology_hash(b->draws++) >> 11) + 1) * 0x1p-53;
}

static void post(struct both *b, double date, bool late)
{
    uintptr_t what = (uintptr_t)++b->posted << 3;
    b->list[b->count++] = (struct plain){date, late, what};
    pf_packet_events_post(&b->events, date, late, what);
}

static int first_of(const struct both *b)
{
    int first = 0;
    for (int i = 1; i < b->count; i++) {
        const struct plain *a = &b->list[i], *f = &b->list[first];
        if (a->date != f->date ? a->date < f->date : a->late != f->late ? f->late : a->what < f->what)
            first = i;
    }
    return first;
}

/* Takes one, which must be the right one; returns its date. */
static double take(struct both *b)
{
    struct pf_packet_event event;
    int first = first_of(b);
    struct plain wanted = b->list[first];
    assert_true(pf_packet_events_first(&b->events)->date == wanted.date);
    assert_false(pf_packet_events_take(&b->events, nextafter(wanted.date, -1.0), &event));
    assert_true(pf_packet_events_take(&b->events, wanted.date, &event));
    assert_true(event.date == wanted.date);
    assert_true(event.what == wanted.what);
    b->list[first] = b->list[--b->count];
    return wanted.date;
}

/* How far ahead an event is posted. */
typedef double ahead(struct both *b);

static double evenly(struct both *b)
{
    return 1e-7 + 1e-6 * draw(b);
}

static double far_away(struct both *b)
{
    return -1e-6 * log(draw(b)) * (draw(b) < 0.02 ? 1e6 : 1.0);
}

static double together(struct both *b)
{
    return 1e-6 * floor(4.0 * draw(b));
}

static double of_all_sizes(struct both *b)
{
    return exp2(-60.0 + 80.0 * draw(b));
}

static void compare(ahead *how, int level, int steps)
{
    struct both *b = test_calloc(1, sizeof *b);
    double now = 0.0;
    pf_packet_events_start(&b->events);
    for (int i = 0; i < steps; i++) {
        int wanted = i / (steps / 4) % 2 ? level / 20 : level; /* it falls, and grows again */
        int more = b->count < wanted ? 2 : b->count > wanted ? 0 : 1;
        for (int k = 0; k < more; k++)
            post(b, now + how(b), draw(b) < 0.5);
        if (b->count > 0)
            now = take(b);
    }
    while (b->count > 0)
        now = take(b);
    assert_null(pf_packet_events_first(&b->events));
    post(b, now, true); /* it can go on */
    take(b);
    pf_packet_events_end(&b->events);
    test_free(b);
}

static void dates_lie_close(void **state)
{
    (void)state;
    compare(evenly, 2000, 60000);
}

static void some_lie_far_ahead(void **state)
{
    (void)state;
    compare(far_away, 1000, 60000);
}

static void many_are_equal(void **state)
{
    (void)state;
    compare(together, 1000, 60000);
}

static void they_are_of_all_sizes(void **state)
{
    (void)state;
    compare(of_all_sizes, 300, 60000);
}

static void few_need_no_slots(void **state)
{
    (void)state;
    compare(evenly, 20, 20000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(dates_lie_close),
                                       cmocka_unit_test(some_lie_far_ahead), cmocka_unit_test(many_are_equal),
                                       cmocka_unit_test(they_are_of_all_sizes),
                                       cmocka_unit_test(few_need_no_slots)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
