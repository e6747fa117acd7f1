/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/config.h"
#include "middleware/account/accounting.h"

static void spin(double seconds)
{
    struct timespec begin, now;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    do
        clock_gettime(CLOCK_MONOTONIC, &now);
    while ((double)(now.tv_sec - begin.tv_sec) + 1e-9 * (double)(now.tv_nsec - begin.tv_nsec) < seconds);
}

/* Two ranks, three phases: where every slice and count must be found again. The process has one account,
 * so one test has all. */
static void test_story(void **state)
{
    (void)state;
    pf_config.timeline = 3;
    pf_account_start();
    spin(0.02); /* start-up */
    struct pf_account *a = pf_account_open(0, "main", PF_MODEL_SMPI, 0);
    struct pf_account *b = pf_account_open(1, "main", PF_MODEL_SMPI, 0);
    pf_account_leave(b);

    spin(0.03); /* rank 0 computes, then is in the middleware */
    pf_account_enter(a);
    spin(0.01);
    pf_account_leave(a);
    pf_account_message(a, 100);
    pf_account_message(a, 11);
    pf_account_enter(b);
    pf_account_message(b, 1);

    pf_account_move(a, "solve", PF_MODEL_PORTALS, 1.0);
    assert_string_equal(pf_account_phase(a), "solve");
    pf_account_move(a, NULL, PF_MODEL_PORTALS, 1.5); /* no change at all */
    pf_account_move(b, "solve", PF_MODEL_PORTALS, 1.25);
    spin(0.02);
    pf_account_enter(b);
    pf_account_leave(b);
    pf_account_move(a, "main", PF_MODEL_SMPI, 3.0);
    pf_account_move(b, "main", PF_MODEL_SMPI, 4.0);
    pf_account_move(b, "alone", PF_MODEL_NONE, 4.5);
    double wall = pf_account_wall(); /* all of this must be in the account after the next mark */
    pf_account_close(a, 5.0);
    pf_account_close(b, 5.25);
    pf_account_close_all(99.0); /* no rank is left */

    struct pf_account_row *rows;
    assert_int_equal(pf_account_rows(&rows, 0, 4), 3);
    assert_string_equal(rows[0].phase, "main");
    assert_string_equal(rows[1].phase, "solve");
    assert_string_equal(rows[2].phase, "alone");
    assert_int_equal(rows[0].model, PF_MODEL_SMPI);
    assert_int_equal(rows[1].model, PF_MODEL_PORTALS);
    assert_int_equal(rows[2].model, PF_MODEL_SMPI);
    assert_int_equal(rows[0].ranks, 2);
    assert_int_equal(rows[2].ranks, 1);
    /* maximum over the ranks: 1 + 2 s in rank 0, 1.25 + 0.5 s in rank 1 */
    assert_true(rows[0].total.simulated == 3.0);
    assert_true(rows[1].total.simulated == 2.75);
    assert_true(rows[2].total.simulated == 0.75);
    assert_true(pf_account_simulated() == 5.25);
    assert_int_equal(rows[0].total.messages, 3);
    assert_int_equal(rows[0].total.bytes, 112);
    assert_int_equal(rows[0].total.calls, 2);
    assert_int_equal(rows[0].total.visits, 4);
    assert_int_equal(rows[0].total.switches, 2);
    assert_int_equal(rows[1].total.switches, 2);
    assert_int_equal(rows[2].total.switches, 0); /* the phase changed, the model did not */
    /* Lower bounds hold on any machine; the sum is the whole. */
    double app0 = pf_account_seconds(rows[0].total.app_ticks),
           over0 = pf_account_seconds(rows[0].total.overhead_ticks), sum = pf_account_startup();
    assert_true(app0 >= 0.0299);
    assert_true(over0 >= 0.0099);
    assert_true(pf_account_seconds(rows[1].total.app_ticks) >= 0.0199);
    assert_true(pf_account_startup() >= 0.0199);
    for (int i = 0; i < 3; i++)
        sum += pf_account_seconds(rows[i].total.app_ticks) + pf_account_seconds(rows[i].total.overhead_ticks);
    assert_true(sum <= pf_account_wall() * 1.001);
    assert_true(sum >= wall * 0.999);
    free(rows);
}

/* The dates of the story's visits. A visit without simulated time is none; what is too many is cut off. */
static void test_timelines(void **state)
{
    (void)state;
    struct pf_account *c = pf_account_open(2, "main", PF_MODEL_SMPI, 2);
    pf_account_move(c, "solve", PF_MODEL_PORTALS, 2);
    pf_account_close(c, 2.5);
    json_t *all = pf_timelines_json();
    char *text = json_dumps(all, JSON_REAL_PRECISION(4) | JSON_SORT_KEYS | JSON_COMPACT);
    assert_string_equal(text,
                        "[{\"end_s\":5.0,\"rank\":0,\"visits\":[[0,0.0],[1,1.0],[0,3.0]]},"
                        "{\"cut_s\":4.5,\"end_s\":5.25,\"rank\":1,\"visits\":[[0,0.0],[1,1.25],[0,4.0]]},"
                        "{\"end_s\":2.5,\"rank\":2,\"visits\":[[1,2.0]]}]");
    free(text);
    json_decref(all);
    pf_config.timeline = 0;
    assert_null(pf_timeline_open(0));
}

/* Many pairs: growth of the lists must keep what they hold. */
static void test_many(void **state)
{
    (void)state;
    struct pf_account *a = pf_account_open(3, "p0", PF_MODEL_SMPI, 0);
    for (int i = 0; i < 300; i++) {
        char name[20];
        snprintf(name, sizeof name, "p%d", i % 100);
        pf_account_move(a, name, i & 1 ? PF_MODEL_SMPI : PF_MODEL_PORTALS, i);
        pf_account_message(a, 1);
    }
    pf_account_close_all(300.5);
    struct pf_account_row *rows;
    size_t count = pf_account_rows(&rows, 0, 4);
    uint64_t messages = 0;
    for (size_t i = 0; i < count; i++)
        if (rows[i].phase[0] == 'p')
            messages += rows[i].total.messages;
    assert_int_equal(messages, 300);
    assert_true(pf_account_simulated() == 300.5);
    free(rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_story), cmocka_unit_test(test_timelines),
                                       cmocka_unit_test(test_many)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
