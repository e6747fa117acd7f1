/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "middleware/agree/schedule.h"

/* All models are there: one more row would be needed to see how one that is not is refused. */
const char *__wrap_pf_model_missing(enum pf_model model);

static bool packet_is_missing;

const char *__wrap_pf_model_missing(enum pf_model model)
{
    return packet_is_missing && model == PF_MODEL_PORTALS_PACKET ? "not available in this build" : NULL;
}

static struct pf_schedule *parse(const char *text)
{
    struct pf_schedule *schedule = NULL;
    char error[300] = "";
    if (!pf_schedule_parse(text, &schedule, error, sizeof error))
        fail_msg("'%s' was refused: %s", text, error);
    return schedule;
}

static void assert_refused(const char *text, const char *expected)
{
    struct pf_schedule *schedule = NULL;
    char error[300] = "";
    if (pf_schedule_parse(text, &schedule, error, sizeof error))
        fail_msg("'%s' was accepted", text);
    assert_null(schedule);
    assert_string_equal(error, expected);
}

static void test_phases(void **state)
{
    (void)state;
    struct pf_schedule *s =
        parse("solve=portals, setup = smpi\n@start=portals\npcontrol: 07=smpi,two words=portals");
    assert_int_equal(pf_schedule_phase_model(s, "solve"), PF_MODEL_PORTALS);
    assert_int_equal(pf_schedule_phase_model(s, "setup"), PF_MODEL_SMPI);
    assert_int_equal(pf_schedule_phase_model(s, "two words"), PF_MODEL_PORTALS);
    assert_int_equal(pf_schedule_phase_model(s, "report"), PF_MODEL_NONE);
    assert_int_equal(pf_schedule_phase_model(s, "solv"), PF_MODEL_NONE);
    assert_int_equal(pf_schedule_phase_model(s, "pcontrol:7"), PF_MODEL_SMPI);
    assert_int_equal(pf_schedule_phase_model(s, "pcontrol:0"), PF_MODEL_NONE);
    assert_int_equal(pf_schedule_start(s), PF_MODEL_PORTALS);
    assert_int_equal(pf_schedule_models(s), 1u << PF_MODEL_SMPI | 1u << PF_MODEL_PORTALS);
    pf_schedule_free(s);
}

static void test_empty(void **state)
{
    (void)state;
    static const char *const texts[] = {"", "\n\n", " , ,", "# nothing, here=smpi\n", ",#x"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct pf_schedule_cursor cursor;
        struct pf_schedule *s = parse(texts[i]);
        assert_int_equal(pf_schedule_start(s), PF_MODEL_NONE);
        assert_int_equal(pf_schedule_models(s), 0);
        pf_schedule_cursor_init(&cursor, s);
        assert_false(cursor.watching);
        pf_schedule_free(s);
    }
}

static void test_bad(void **state)
{
    (void)state;
    assert_refused("solve", "line 1, column 1: 'solve' has no '=MODEL'");
    assert_refused("a=smpi,\n  b=portal", "line 2, column 5: unknown model 'portal', maybe portals?");
    assert_refused("a=zzzzzzzzz", "line 1, column 3: unknown model 'zzzzzzzzz'");
    assert_refused("a=", "line 1, column 3: a model is missing here");
    assert_refused("a=\nb=smpi", "line 1, column 3: a model is missing here");
    assert_refused("=smpi", "line 1, column 1: nothing stands before '='");
    packet_is_missing = true;
    assert_refused("a=packet", "line 1, column 3: model 'packet' is not available in this build");
    packet_is_missing = false;
    pf_schedule_free(parse("a=packet"));
    assert_refused("a=smpi,a=portals", "line 1, column 8: phase 'a' is given twice");
    assert_refused("@start=smpi,@start=smpi", "line 1, column 13: @start is given twice");
    assert_refused("@begin=smpi",
                   "line 1, column 1: unknown event '@begin' (known: @start, @coll:N, @time:T)");
    assert_refused("@coll:0=smpi",
                   "line 1, column 7: the number of a collective must be a whole number from 1, not '0'");
    assert_refused("@coll:1a=smpi",
                   "line 1, column 7: the number of a collective must be a whole number from 1, not '1a'");
    assert_refused("@coll:-1=smpi",
                   "line 1, column 7: the number of a collective must be a whole number from 1, not '-1'");
    assert_refused("@coll:99999999999999999999=smpi",
                   "line 1, column 7: the number of a collective must be a whole number from 1, not "
                   "'99999999999999999999'");
    assert_refused("@coll:2=smpi,@coll:2=portals", "line 1, column 20: collective 2 is given twice");
    assert_refused("@time:soon=smpi",
                   "line 1, column 7: a time must be a number of simulated seconds, not 'soon'");
    assert_refused("@time:inf=smpi",
                   "line 1, column 7: a time must be a number of simulated seconds, not 'inf'");
    assert_refused("@time:1=smpi,@time:1.0=smpi", "line 1, column 20: time 1 is given twice");
    assert_refused("every:3=smpi|", "line 1, column 14: a model is missing here");
    assert_refused("every:3=smpi||portals", "line 1, column 14: a model is missing here");
    assert_refused("every:x=smpi",
                   "line 1, column 7: a number of calls must be a whole number from 1, not 'x'");
    assert_refused("every:3=smpi,every:4=smpi", "line 1, column 14: every: is given twice");
    assert_refused("pcontrol:x=smpi",
                   "line 1, column 10: the level of pcontrol: must be a whole number, not 'x'");
    assert_refused("# good\n#\na=smpi # b=smpi\nc", "line 4, column 1: 'c' has no '=MODEL'");
}

static void test_collectives(void **state)
{
    (void)state;
    struct pf_schedule *s = parse("@coll:5=smpi,@coll:1=portals,@coll:6=portals");
    struct pf_schedule_cursor cursor;
    pf_schedule_cursor_init(&cursor, s);
    assert_true(cursor.watching);
    static const enum pf_model expected[] = {PF_MODEL_PORTALS, PF_MODEL_NONE,    PF_MODEL_NONE, PF_MODEL_NONE,
                                             PF_MODEL_SMPI,    PF_MODEL_PORTALS, PF_MODEL_NONE};
    for (int i = 0; i < 7; i++) {
        assert_int_equal(pf_schedule_step(&cursor, false, 0), PF_MODEL_NONE);
        assert_int_equal(pf_schedule_step(&cursor, true, 0), expected[i]);
    }
    pf_schedule_free(s);
}

static void test_time(void **state)
{
    (void)state;
    struct pf_schedule *s = parse("@time:2.5e-3=portals,@time:0=portals,@time:1e-3=smpi,@time:9=smpi");
    struct pf_schedule_cursor cursor;
    pf_schedule_cursor_init(&cursor, s);
    assert_int_equal(pf_schedule_step(&cursor, false, 0), PF_MODEL_PORTALS);
    assert_int_equal(pf_schedule_step(&cursor, false, 0.5e-3), PF_MODEL_NONE);
    assert_int_equal(pf_schedule_step(&cursor, true, 1e-3), PF_MODEL_SMPI);
    assert_int_equal(pf_schedule_step(&cursor, true, 1e-3), PF_MODEL_NONE);
    assert_int_equal(pf_schedule_step(&cursor, false, 10),
                     PF_MODEL_SMPI); /* the latest of two that are due */
    assert_int_equal(pf_schedule_step(&cursor, false, 1e9), PF_MODEL_NONE);
    pf_schedule_free(s);
}

static void test_every(void **state)
{
    (void)state;
    struct pf_schedule *s = parse("every:2=smpi|portals|portals");
    struct pf_schedule_cursor cursor;
    pf_schedule_cursor_init(&cursor, s);
    static const enum pf_model rotation[] = {PF_MODEL_SMPI, PF_MODEL_PORTALS, PF_MODEL_PORTALS};
    for (int i = 0; i < 14; i++)
        assert_int_equal(pf_schedule_step(&cursor, i % 4 == 1, 0),
                         i % 2 == 0 ? rotation[i / 2 % 3] : PF_MODEL_NONE);
    pf_schedule_free(s);
}

/* Several events on one call: every wins over coll, coll over time. */
static void test_order(void **state)
{
    (void)state;
    struct pf_schedule *s = parse("@time:0=smpi,@coll:1=portals");
    struct pf_schedule_cursor cursor;
    pf_schedule_cursor_init(&cursor, s);
    assert_int_equal(pf_schedule_step(&cursor, true, 0), PF_MODEL_PORTALS);
    pf_schedule_free(s);
    s = parse("@time:0=portals,@coll:1=portals,every:100=smpi");
    pf_schedule_cursor_init(&cursor, s);
    assert_int_equal(pf_schedule_step(&cursor, true, 0), PF_MODEL_SMPI);
    assert_int_equal(pf_schedule_step(&cursor, true, 0), PF_MODEL_NONE);
    pf_schedule_free(s);
}

static void test_file(void **state)
{
    (void)state;
    char name[] = "/tmp/pf-schedule-XXXXXX", error[300], expected[300];
    struct pf_schedule *s = NULL;
    int fd = mkstemp(name);
    assert_true(fd >= 0);
    dprintf(fd, "# which phase runs where\nsolve=portals # the interesting one\n\nreport=smpi, setup=smpi\n");
    assert_true(pf_schedule_load(name, &s, error, sizeof error));
    assert_int_equal(pf_schedule_phase_model(s, "solve"), PF_MODEL_PORTALS);
    assert_int_equal(pf_schedule_phase_model(s, "setup"), PF_MODEL_SMPI);
    pf_schedule_free(s);
    dprintf(fd, "oops\n");
    close(fd);
    assert_false(pf_schedule_load(name, &s, error, sizeof error));
    snprintf(expected, sizeof expected, "%s: line 5, column 1: 'oops' has no '=MODEL'", name);
    assert_string_equal(error, expected);
    assert_int_equal(truncate(name, 0), 0);
    assert_true(pf_schedule_load(name, &s, error, sizeof error));
    assert_int_equal(pf_schedule_phase_model(s, "solve"), PF_MODEL_NONE);
    pf_schedule_free(s);
    unlink(name);
    assert_false(pf_schedule_load(name, &s, error, sizeof error));
    assert_true(pf_schedule_load("a=smpi", &s, error, sizeof error));
    pf_schedule_free(s);
}

/* Any text gives a schedule or a reason, never a crash; run under the sanitizers this looks for more. */
static void test_noise(void **state)
{
    (void)state;
    static const char alphabet[] = "ab=,@:|#\n 019.-smpi=portals@coll:@time:every:";
    uint32_t seed = 12345;
    int accepted = 0;
    for (int round = 0; round < 20000; round++) {
        char text[40];
        size_t length = round % (sizeof text - 1);
        for (size_t i = 0; i < length; i++) {
            seed = seed * 1664525u + 1013904223u;
            text[i] = alphabet[(seed >> 16) % (sizeof alphabet - 1)];
        }
        text[length] = 0;
        char error[300] = "";
        struct pf_schedule *s;
        if (pf_schedule_parse(text, &s, error, sizeof error)) {
            accepted++;
            pf_schedule_free(s);
        } else {
            assert_int_equal(strncmp(error, "line ", 5), 0);
        }
    }
    assert_true(accepted > 0);
}

/* What no rank comes to is said, with what there was; what happened is not. */
static void test_missed(void **state)
{
    (void)state;
    struct pf_schedule *s = parse("solve=portals,nosuch=smpi,@coll:2=portals,@coll:9=smpi,@time:1=portals,"
                                  "@time:5=smpi,every:3=smpi|portals|analytic,@start=portals");
    struct pf_schedule_cursor rank[2];
    for (int i = 0; i < 2; i++)
        pf_schedule_cursor_init(&rank[i], s);
    assert_int_equal(pf_schedule_enter(s, "solve"), PF_MODEL_PORTALS);
    assert_int_equal(pf_schedule_enter(s, "report"), PF_MODEL_NONE);
    pf_schedule_step(&rank[0], true, 0);
    pf_schedule_step(&rank[0], true, 0.5);
    pf_schedule_step(&rank[0], true, 1.5);
    pf_schedule_step(&rank[0], false, 1.5);
    pf_schedule_step(&rank[0], false, 1.5);
    pf_schedule_step(&rank[1], true, 2);
    static const char *const phases[] = {"solve", "report"};
    struct pf_schedule_offer offer = {
        .phases = phases, .phase_count = 2, .simulated = 2.5, .start_overruled = "-model says smpi"};
    for (int i = 0; i < 2; i++)
        pf_schedule_offer_add(&offer, &rank[i]);
    assert_int_equal(offer.collectives, 3);
    assert_int_equal(offer.calls, 5);
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    pf_schedule_report_missed(s, &offer, out);
    fclose(out);
    assert_string_equal(
        text,
        "parfocal: warning: schedule item 'nosuch=smpi' never happened: the program's phases: solve, report\n"
        "parfocal: warning: schedule item '@coll:9=smpi' never happened: no rank made more than 3 "
        "collectives on "
        "MPI_COMM_WORLD\n"
        "parfocal: warning: schedule item '@time:5=smpi' never happened: the last communicating call was "
        "before, the "
        "run ended at 2.5 s\n"
        "parfocal: warning: schedule item 'every:3=analytic' never happened: no rank made more than 5 "
        "communicating "
        "calls\n"
        "parfocal: warning: schedule item '@start=portals' never happened: -model says smpi\n");
    free(text);
    offer.start_overruled = NULL;
    out = open_memstream(&text, &size);
    pf_schedule_report_missed(s, &offer, out);
    fclose(out);
    assert_null(strstr(text, "@start"));
    free(text);
    pf_schedule_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_phases), cmocka_unit_test(test_empty),
                                       cmocka_unit_test(test_bad),    cmocka_unit_test(test_collectives),
                                       cmocka_unit_test(test_time),   cmocka_unit_test(test_every),
                                       cmocka_unit_test(test_order),  cmocka_unit_test(test_file),
                                       cmocka_unit_test(test_noise),  cmocka_unit_test(test_missed)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
