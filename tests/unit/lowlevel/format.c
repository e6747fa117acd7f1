/* SPDX-License-Identifier: BSD-3-Clause */
/* Texts of traces are those of snprintf, to the last digit. */
#include "lowlevel/trace/format.h"

#include <inttypes.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { ROUNDS = 200000 };

/* Both have the same arguments. */
#define SAME(...)                                                                                            \
    do {                                                                                                     \
        char mine[256], theirs[256];                                                                         \
        int length = snprintf(theirs, sizeof theirs, __VA_ARGS__);                                           \
        assert_int_equal(pf_trace_format(mine, sizeof mine, __VA_ARGS__), length);                           \
        assert_string_equal(mine, theirs);                                                                   \
    } while (0)

static void same_number(double value)
{
    SAME("%.12f", value);
    SAME("%.6f", value);
    SAME("%.0f", value);
}

static void numbers(void **state)
{
    (void)state;
    srand(1);
    for (int i = 0; i < ROUNDS; i++) {
        double value = ldexp((double)rand(), -(rand() % 120));
        same_number(value);
        same_number((double)(rand() % 100000) / 1e12);
        int number = rand() - RAND_MAX / 2;
        SAME("%d,%" PRIu64 "|", number, (uint64_t)number * (uint64_t)number * 8);
    }
}

static void halves(void **state)
{
    (void)state;
    for (int i = 0; i < 64; i++) {
        same_number(i / 2.0);
        same_number(i / 128.0);              /* halves of the sixth place */
        same_number(ldexp(i, -13) + i);      /* of the twelfth */
        same_number(nextafter(i / 2.0, 0));  /* just less */
        same_number(nextafter(i / 2.0, 99)); /* just more */
    }
}

static void unusual(void **state)
{
    (void)state;
    const double values[] = {0, -0.0, -1.5, 1e6, 999999.9999999999, 1e300, INFINITY, -INFINITY, NAN, 5e-324};
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++)
        same_number(values[i]);
    SAME("%14.6f %14s %04x %%", 1.25, "x", 7U);
    SAME("%s%c%d", "", 'c', INT32_MIN);
    SAME("%.13f", 1 / 3.0);
}

static void short_room(void **state)
{
    (void)state;
    for (size_t size = 1; size < 12; size++) {
        char mine[16], theirs[16];
        assert_int_equal(pf_trace_format(mine, size, "%d:%s", 1234, "abc"),
                         snprintf(theirs, size, "%d:%s", 1234, "abc"));
        assert_string_equal(mine, theirs);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers),
        cmocka_unit_test(halves),
        cmocka_unit_test(unusual),
        cmocka_unit_test(short_room),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
