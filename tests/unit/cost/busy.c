/* SPDX-License-Identifier: BSD-3-Clause */
/* What serves one message after the other, asked in and out of order; compared with a search for free time
 * slots. */
#include "adapters/analytic/cost/routes/busy.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

static void test_in_order(void **state)
{
    struct pf_busy busy = {0};
    (void)state;
    assert_true(pf_busy_take(&busy, 10, 2) == 10);
    assert_true(pf_busy_take(&busy, 10, 2) == 12); /* two at once: twice as long */
    assert_true(pf_busy_take(&busy, 14, 1) == 14);
    assert_true(pf_busy_take(&busy, 20, 1) == 20);
    assert_int_equal(busy.count, 2);
    free(busy.stretch);
}

static void test_early(void **state)
{
    struct pf_busy busy = {0};
    (void)state;
    assert_true(pf_busy_take(&busy, 100, 10) == 100);
    assert_true(pf_busy_take(&busy, 5, 10) == 5);    /* long before */
    assert_true(pf_busy_take(&busy, 6, 10) == 15);   /* behind that one */
    assert_true(pf_busy_take(&busy, 30, 10) == 30);  /* in the gap */
    assert_true(pf_busy_take(&busy, 95, 10) == 105); /* 5 before, 5 after */
    assert_true(pf_busy_take(&busy, 90, 5) == 90);
    assert_true(pf_busy_take(&busy, 90, 5) == 115); /* no gap is left from 90 on */
    free(busy.stretch);
}

static void test_left(void **state)
{
    struct pf_busy busy = {0};
    (void)state;
    assert_true(pf_busy_left(&busy, 10) == 0);
    pf_busy_take(&busy, 10, 2);
    pf_busy_take(&busy, 20, 5);
    assert_true(pf_busy_left(&busy, 11) == 1);
    assert_true(pf_busy_left(&busy, 12) == 0); /* not what comes after a gap */
    assert_true(pf_busy_left(&busy, 20) == 5);
    assert_true(pf_busy_left(&busy, 5) == 0);
    free(busy.stretch);
}

/* Neighbours send to each of their 26 neighbours in turn, and all at once: everyone has a slot at the
 * others, whose gaps are too short for a message. */
static void test_neighbours(void **state)
{
    enum { NEIGHBOURS = 26, STEPS = 3 };
    struct pf_busy busy = {0};
    (void)state;
    for (int step = 0; step < STEPS; step++)
        for (int i = 0; i < NEIGHBOURS; i++) {
            double slot = 100.0 * step + i * 7 % NEIGHBOURS;
            assert_true(pf_busy_take(&busy, slot, 0.97) == slot);
        }
    free(busy.stretch);
}

/* What is served whole takes no gap that is too short for it, and none is left that is too short for any. */
static void test_whole(void **state)
{
    struct pf_busy busy = {0};
    (void)state;
    assert_true(pf_busy_serve(&busy, 10, 2, true) == 10);
    assert_true(pf_busy_serve(&busy, 15, 2, true) == 15);
    assert_true(pf_busy_serve(&busy, 11, 4, true) == 17); /* 12 to 15 is not enough */
    assert_true(pf_busy_serve(&busy, 11, 3, true) == 12); /* but is for this one */
    assert_true(pf_busy_serve(&busy, 22, 2, true) == 22); /* the gap before it is closed */
    assert_true(pf_busy_serve(&busy, 21, 1, true) == 24);
    assert_true(pf_busy_serve(&busy, 5, 2, true) == 5);
    assert_true(pf_busy_serve(&busy, 5, 2, true) == 7);
    assert_true(busy.count == 2);
    free(busy.stretch);
}

/* What is owed takes idle time, or comes behind the next message. */
static void test_owed(void **state)
{
    struct pf_busy busy = {0};
    (void)state;
    assert_true(pf_busy_serve(&busy, 10, 2, true) == 10);
    busy.owed = 3;
    assert_true(pf_busy_serve(&busy, 11, 2, true) == 12);
    assert_true(pf_busy_serve(&busy, 11, 2, true) == 17);
    busy.owed = 3;
    assert_true(pf_busy_serve(&busy, 30, 2, true) == 30);
    assert_true(busy.owed == 0);
    busy.owed = 5;
    assert_true(pf_busy_serve(&busy, 34, 2, true) == 34);
    assert_true(busy.owed == 3);
    free(busy.stretch);
}

/* What has been served already finds itself among the others. */
static void test_waits(void **state)
{
    struct pf_busy busy = {0};
    (void)state;
    assert_true(pf_busy_waits(&busy, 10, 1) == 0);
    pf_busy_serve(&busy, 10, 1, true);
    assert_true(pf_busy_waits(&busy, 10, 1) == 0);
    pf_busy_serve(&busy, 6, 4, true);
    pf_busy_serve(&busy, 11, 5, true);
    assert_true(pf_busy_waits(&busy, 10, 1) == 6);
    assert_true(pf_busy_waits(&busy, 7, 1) == 9);
    assert_true(pf_busy_waits(&busy, 16, 1) == 0);
    free(busy.stretch);
}

/* Ranks price all that they send at once, one rank after the other: a link still serves no more than its
 * rate. */
static void test_flood(void **state)
{
    enum { RANKS = 16, SENDS = 120 };
    for (int whole = 0; whole < 2; whole++) {
        struct pf_busy busy = {0};
        double last = 0;
        (void)state;
        for (int rank = 0; rank < RANKS; rank++)
            for (int i = 0; i < SENDS; i++) {
                double end = pf_busy_serve(&busy, i + 0.05 * rank, 0.1, whole) + 0.1;
                last = end > last ? end : last;
            }
        assert_true(fabs(last - 0.1 * RANKS * SENDS) < 0.1);
        free(busy.stretch);
    }
}

/* Slots of whole numbers: a message takes the free ones from its date on, and never ends earlier. */
static void test_against_slots(void **state)
{
    enum { SLOTS = 4000, MESSAGES = 500 };
    static bool taken[SLOTS];
    struct pf_busy busy = {0};
    uint32_t random = 1;
    int exact = 0;
    (void)state;
    for (int i = 0; i < MESSAGES; i++) {
        random = random * 1664525 + 1013904223;
        int ready = 2 * i + (int)(random >> 28), left = 1 + (int)(random >> 20 & 3), at = ready;
        double end = pf_busy_take(&busy, ready, left) + left;
        for (; left > 0; at++) {
            left -= !taken[at];
            taken[at] = true;
        }
        if (end < at)
            fail_msg("message %d of date %d ends at %g, not at %d", i, ready, end, at);
        exact += end == at;
    }
    assert_in_range(exact, MESSAGES * 9 / 10, MESSAGES); /* only the oldest gaps are forgotten */
    free(busy.stretch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_in_order),   cmocka_unit_test(test_early), cmocka_unit_test(test_left),
        cmocka_unit_test(test_neighbours), cmocka_unit_test(test_whole), cmocka_unit_test(test_flood),
        cmocka_unit_test(test_owed),       cmocka_unit_test(test_waits), cmocka_unit_test(test_against_slots),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
