/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "middleware/sampling/markers.h"

#define PHASE      (1u << PF_MARKER_PHASE)
#define COLLECTIVE (1u << PF_MARKER_COLLECTIVE)

static struct pf_markers *make(int ranks, bool alone)
{
    return pf_markers_new(ranks, PHASE | COLLECTIVE, alone);
}

static unsigned pass(struct pf_markers *markers, int rank, enum pf_marker_at at, const char *name,
                     double date)
{
    return pf_markers_pass(markers, rank, at, name, date);
}

static void pass_all(struct pf_markers *markers, int ranks, enum pf_marker_at at, const char *name,
                     double date)
{
    for (int rank = 0; rank < ranks; rank++)
        pass(markers, rank, at, name, date);
}

static void test_dates_are_the_latest_and_sums_are_of_what_follows(void **state)
{
    struct pf_markers *markers = make(2, false);
    (void)state;
    pass_all(markers, 2, PF_MARKER_START, "", 0);
    pf_markers_call(markers, 0, 1, 100);
    assert_int_equal(pass(markers, 0, PF_MARKER_PHASE, "a", 2), 1);
    pf_markers_call(markers, 0, 1, 10);
    pf_markers_call(markers, 0, 1, 10);
    assert_int_equal(pass(markers, 0, PF_MARKER_END, "", 5), 2);
    assert_null(pf_markers_best(markers));
    assert_int_equal(pass(markers, 1, PF_MARKER_PHASE, "a", 3), 1);
    pf_markers_call(markers, 1, 1, 7);
    pass(markers, 1, PF_MARKER_END, "", 4);
    const struct pf_marker_sequence *all = pf_markers_best(markers);
    assert_non_null(all);
    assert_int_equal(all->count, 3);
    assert_true(all->markers[1].date == 3 && all->markers[2].date == 5);
    assert_int_equal(all->markers[0].calls, 1);
    assert_int_equal(all->markers[0].bytes, 100);
    assert_int_equal(all->markers[1].calls, 3);
    assert_int_equal(all->markers[1].bytes, 27);
    assert_int_equal(all->markers[2].signature, 0);
    assert_string_equal(all->markers[1].name, "a");
    pf_markers_free(markers);
}

/* The signature of one stretch in which two ranks make these calls, each in this order. */
static uint64_t signature(const int calls[2][2], int first_rank)
{
    struct pf_markers *markers = make(2, false);
    for (int i = 0; i < 2; i++) {
        int rank = (first_rank + i) % 2;
        pass(markers, rank, PF_MARKER_START, "", 0);
        for (int k = 0; k < 2; k++)
            pf_markers_call(markers, rank, (uint64_t)calls[rank][k], 1);
        pass(markers, rank, PF_MARKER_END, "", 1);
    }
    uint64_t found = pf_markers_best(markers)->markers[0].signature;
    pf_markers_free(markers);
    return found;
}

static void test_a_signature_knows_the_ranks_but_not_the_order_of_their_calls(void **state)
{
    (void)state;
    const int calls[2][2] = {{1, 2}, {3, 4}}, turned[2][2] = {{2, 1}, {4, 3}};
    const int exchanged[2][2] = {{3, 4}, {1, 2}}, other[2][2] = {{1, 2}, {3, 5}};
    uint64_t found = signature(calls, 0);
    assert_true(found == signature(calls, 1));
    assert_true(found == signature(turned, 0));
    assert_true(found != signature(exchanged, 0));
    assert_true(found != signature(other, 0));
}

static void test_later_stretches_of_the_same_calls_are_of_one_kind(void **state)
{
    struct pf_markers *markers = make(3, false);
    (void)state;
    pass_all(markers, 3, PF_MARKER_START, "", 0);
    for (int i = 1; i < 200; i++) { /* more than the first room */
        for (int rank = 0; rank < 3; rank++)
            pf_markers_call(markers, rank, (uint64_t)(i % 5 ? 1 : 2), 1);
        pass_all(markers, 3, PF_MARKER_COLLECTIVE, "c", i);
    }
    pass_all(markers, 3, PF_MARKER_END, "", 200);
    const struct pf_marker_sequence *all = pf_markers_best(markers);
    assert_int_equal(all->count, 201);
    for (unsigned i = 5; i < 199; i++)
        assert_true((all->markers[i].signature == all->markers[i % 5].signature));
    assert_true(all->markers[3].signature != all->markers[4].signature);
    pf_markers_free(markers);
}

static void test_a_kind_that_not_all_pass_is_left_out(void **state)
{
    struct pf_markers *markers = make(2, true);
    (void)state;
    pass_all(markers, 2, PF_MARKER_START, "", 0);
    pass(markers, 0, PF_MARKER_PHASE, "only rank 0", 1);
    pass_all(markers, 2, PF_MARKER_COLLECTIVE, "c", 2);
    pass_all(markers, 2, PF_MARKER_END, "", 3);
    const struct pf_marker_sequence *best = pf_markers_best(markers);
    assert_non_null(best);
    assert_int_equal(best->count, 3);
    assert_int_equal(best->markers[1].at, PF_MARKER_COLLECTIVE);
    assert_int_equal(pf_markers_unequal(markers), PHASE);
    pf_markers_free(markers);
}

static void test_other_names_are_other_marks(void **state)
{
    struct pf_markers *markers = make(2, true);
    (void)state;
    pass_all(markers, 2, PF_MARKER_START, "", 0);
    pass(markers, 0, PF_MARKER_PHASE, "red", 1);
    pass(markers, 1, PF_MARKER_PHASE, "blue", 1);
    pass(markers, 0, PF_MARKER_COLLECTIVE, "c", 1);
    pass(markers, 1, PF_MARKER_COLLECTIVE, "d", 1);
    pass_all(markers, 2, PF_MARKER_END, "", 3);
    const struct pf_marker_sequence *best = pf_markers_best(markers);
    assert_int_equal(best->count, 2); /* start and end are always there */
    assert_int_equal(pf_markers_unequal(markers), PHASE | COLLECTIVE);
    pf_markers_free(markers);
}

static void test_classes_of_sizes(void **state)
{
    (void)state;
    assert_int_equal(pf_markers_size_class(0), 0);
    assert_int_equal(pf_markers_size_class(1), 1);
    assert_int_equal(pf_markers_size_class(1024), pf_markers_size_class(2047));
    assert_int_not_equal(pf_markers_size_class(1023), pf_markers_size_class(1024));
    assert_int_equal(pf_markers_size_class(UINT64_MAX), 64);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_dates_are_the_latest_and_sums_are_of_what_follows),
        cmocka_unit_test(test_a_signature_knows_the_ranks_but_not_the_order_of_their_calls),
        cmocka_unit_test(test_later_stretches_of_the_same_calls_are_of_one_kind),
        cmocka_unit_test(test_a_kind_that_not_all_pass_is_left_out),
        cmocka_unit_test(test_other_names_are_other_marks),
        cmocka_unit_test(test_classes_of_sizes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
