/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>
#include <cmocka.h>

#include "middleware/sampling/bounds.h"
#include "middleware/sampling/slices.h"

#define RANKS 3

/* What pf_slices_print() says, line by line. */
static unsigned lines(const struct pf_slices *slices, unsigned long *calls, unsigned long *bytes,
                      double *last)
{
    FILE *file = tmpfile();
    unsigned count = 0;
    assert_non_null(file);
    pf_slices_print(slices, file);
    rewind(file);
    while (fscanf(file, "# slice %lu %lu %lf\n", &calls[count], &bytes[count], &last[count]) == 3)
        count++;
    assert_true(feof(file));
    fclose(file);
    return count;
}

static void test_slices_are_even_and_lose_no_call(void **state)
{
    static unsigned long calls[PF_SLICES_MOST], bytes[PF_SLICES_MOST];
    static double last[PF_SLICES_MOST];
    struct pf_slices *slices = pf_slices_new();
    const int number = 100000;
    (void)state;
    /* In no order: 7919 and their number have no common divisor. */
    for (int i = 0; i < number; i++)
        pf_slices_call(slices, (double)(i * 7919L % number) * 1e-5, 3);
    unsigned count = lines(slices, calls, bytes, last);
    assert_true(count > PF_SLICES_MOST / 2 && count <= PF_SLICES_MOST);
    assert_int_equal(calls[count - 1], number);
    assert_int_equal(bytes[count - 1], 3 * number);
    assert_true(last[count - 1] == (number - 1) * 1e-5);
    for (unsigned i = 1; i < count; i++) {
        assert_true(last[i] > last[i - 1]);
        /* As many calls as there are dates up to the last one. */
        assert_int_equal(calls[i], (unsigned long)(last[i] / 1e-5 + 0.5) + 1);
        if (i < count - 1)
            assert_in_range(calls[i] - calls[i - 1], number / PF_SLICES_MOST,
                            2 * number / PF_SLICES_MOST + 2);
    }
    free(slices);
}

static void test_slices_without_calls_are_none(void **state)
{
    static unsigned long calls[PF_SLICES_MOST], bytes[PF_SLICES_MOST];
    static double last[PF_SLICES_MOST];
    struct pf_slices *slices = pf_slices_new();
    (void)state;
    assert_int_equal(lines(slices, calls, bytes, last), 0);
    pf_slices_call(slices, 0, 1);
    pf_slices_call(slices, 1000, 2);
    pf_slices_call(slices, 3e6, 4);
    assert_int_equal(lines(slices, calls, bytes, last), 3);
    assert_int_equal(calls[1], 2);
    assert_int_equal(bytes[2], 7);
    assert_true(last[0] == 0 && last[1] == 1000 && last[2] == 3e6);
    free(slices);
}

static struct pf_bounds *bounds_of(const char *text)
{
    char path[] = "/tmp/pf-bounds-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    FILE *file = fdopen(fd, "w");
    fputs(text, file);
    fclose(file);
    struct pf_bounds *bounds = pf_bounds_read(path, RANKS);
    unlink(path);
    return bounds;
}

static void test_all_ranks_pass_what_all_have_reached(void **state)
{
    struct pf_bounds *bounds = bounds_of("2\n3\n100\n");
    double date;
    bool first;
    (void)state;
    pf_bounds_call(bounds, 1);
    assert_false(pf_bounds_next(bounds, 0, &date, &first));
    pf_bounds_call(bounds, 2);
    assert_true(pf_bounds_next(bounds, 1, &date, &first));
    assert_true(date == 2 && first);
    assert_false(pf_bounds_next(bounds, 1, &date, &first));
    pf_bounds_call(bounds, 5);
    assert_true(pf_bounds_next(bounds, 0, &date, &first));
    assert_true(date == 2 && !first);
    assert_true(pf_bounds_next(bounds, 0, &date, &first)); /* both at once */
    assert_true(date == 5 && first);
    assert_false(pf_bounds_next(bounds, 0, &date, &first));
    pf_bounds_end(bounds, 9);
    for (int i = 0; i < 3; i++)
        assert_true(pf_bounds_next(bounds, 2, &date, &first));
    assert_true(date == 9 && first);
    assert_false(pf_bounds_next(bounds, 2, &date, &first));
    assert_int_equal(pf_bounds_calls(bounds), 3);
    pf_bounds_free(bounds);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_slices_are_even_and_lose_no_call),
        cmocka_unit_test(test_slices_without_calls_are_none),
        cmocka_unit_test(test_all_ranks_pass_what_all_have_reached),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
