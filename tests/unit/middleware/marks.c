/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "middleware/sampling/marks.h"

#define PHASE      (1u << PF_MARK_PHASE)
#define COLLECTIVE (1u << PF_MARK_COLLECTIVE)

static struct pf_marks *make(int ranks, bool alone)
{
    return pf_marks_new(ranks, PHASE | COLLECTIVE, alone);
}

static unsigned pass(struct pf_marks *marks, int rank, enum pf_mark_at at, const char *name, double date)
{
    return pf_marks_pass(marks, rank, at, pf_marks_name(marks, name), date);
}

static void pass_all(struct pf_marks *marks, int ranks, enum pf_mark_at at, const char *name, double date)
{
    for (int rank = 0; rank < ranks; rank++)
        pass(marks, rank, at, name, date);
}

static void test_dates_are_the_latest_and_sums_are_of_what_follows(void **state)
{
    struct pf_marks *marks = make(2, false);
    (void)state;
    pass_all(marks, 2, PF_MARK_START, "", 0);
    pf_marks_call(marks, 0, 1, 100);
    assert_int_equal(pass(marks, 0, PF_MARK_PHASE, "a", 2), 1);
    pf_marks_call(marks, 0, 1, 10);
    pf_marks_call(marks, 0, 1, 10);
    assert_int_equal(pass(marks, 0, PF_MARK_END, "", 5), 2);
    assert_null(pf_marks_best(marks));
    assert_int_equal(pass(marks, 1, PF_MARK_PHASE, "a", 3), 1);
    pf_marks_call(marks, 1, 1, 7);
    pass(marks, 1, PF_MARK_END, "", 4);
    const struct pf_mark_sequence *all = pf_marks_best(marks);
    assert_non_null(all);
    assert_int_equal(all->count, 3);
    assert_true(all->marks[1].date == 3 && all->marks[2].date == 5);
    assert_int_equal(all->marks[0].calls, 1);
    assert_int_equal(all->marks[0].bytes, 100);
    assert_int_equal(all->marks[1].calls, 3);
    assert_int_equal(all->marks[1].bytes, 27);
    assert_int_equal(all->marks[2].signature, 0);
    assert_string_equal(pf_marks_name_of(marks, all->marks[1].name), "a");
    pf_marks_free(marks);
}

/* The signature of one stretch in which two ranks make these calls, each in this order. */
static uint64_t signature(const int calls[2][2], int first_rank)
{
    struct pf_marks *marks = make(2, false);
    for (int i = 0; i < 2; i++) {
        int rank = (first_rank + i) % 2;
        pass(marks, rank, PF_MARK_START, "", 0);
        for (int k = 0; k < 2; k++)
            pf_marks_call(marks, rank, (uint64_t)calls[rank][k], 1);
        pass(marks, rank, PF_MARK_END, "", 1);
    }
    uint64_t found = pf_marks_best(marks)->marks[0].signature;
    pf_marks_free(marks);
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
    struct pf_marks *marks = make(3, false);
    (void)state;
    pass_all(marks, 3, PF_MARK_START, "", 0);
    for (int i = 1; i < 200; i++) { /* more than the first room */
        for (int rank = 0; rank < 3; rank++)
            pf_marks_call(marks, rank, (uint64_t)(i % 5 ? 1 : 2), 1);
        pass_all(marks, 3, PF_MARK_COLLECTIVE, "c", i);
    }
    pass_all(marks, 3, PF_MARK_END, "", 200);
    const struct pf_mark_sequence *all = pf_marks_best(marks);
    assert_int_equal(all->count, 201);
    for (unsigned i = 5; i < 199; i++)
        assert_true((all->marks[i].signature == all->marks[i % 5].signature));
    assert_true(all->marks[3].signature != all->marks[4].signature);
    pf_marks_free(marks);
}

static void test_a_kind_that_not_all_pass_is_left_out(void **state)
{
    struct pf_marks *marks = make(2, true);
    (void)state;
    pass_all(marks, 2, PF_MARK_START, "", 0);
    pass(marks, 0, PF_MARK_PHASE, "only rank 0", 1);
    pass_all(marks, 2, PF_MARK_COLLECTIVE, "c", 2);
    pass_all(marks, 2, PF_MARK_END, "", 3);
    const struct pf_mark_sequence *best = pf_marks_best(marks);
    assert_non_null(best);
    assert_int_equal(best->count, 3);
    assert_int_equal(best->marks[1].at, PF_MARK_COLLECTIVE);
    assert_int_equal(pf_marks_unequal(marks), PHASE);
    pf_marks_free(marks);
}

static void test_other_names_are_other_marks(void **state)
{
    struct pf_marks *marks = make(2, true);
    (void)state;
    pass_all(marks, 2, PF_MARK_START, "", 0);
    pass(marks, 0, PF_MARK_PHASE, "red", 1);
    pass(marks, 1, PF_MARK_PHASE, "blue", 1);
    pass(marks, 0, PF_MARK_COLLECTIVE, "c", 1);
    pass(marks, 1, PF_MARK_COLLECTIVE, "d", 1);
    pass_all(marks, 2, PF_MARK_END, "", 3);
    const struct pf_mark_sequence *best = pf_marks_best(marks);
    assert_int_equal(best->count, 2); /* start and end are always there */
    assert_int_equal(pf_marks_unequal(marks), PHASE | COLLECTIVE);
    pf_marks_free(marks);
}

static void test_classes_of_sizes(void **state)
{
    (void)state;
    assert_int_equal(pf_marks_size_class(0), 0);
    assert_int_equal(pf_marks_size_class(1), 1);
    assert_int_equal(pf_marks_size_class(1024), pf_marks_size_class(2047));
    assert_int_not_equal(pf_marks_size_class(1023), pf_marks_size_class(1024));
    assert_int_equal(pf_marks_size_class(UINT64_MAX), 64);
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
