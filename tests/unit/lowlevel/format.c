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

static void same_number(double value)
{
    static const int places[] = {0, 6, 12};
    char mine[PF_TRACE_NUMBER_ROOM], theirs[PF_TRACE_NUMBER_ROOM];
    for (int i = 0; i < 3; i++) {
        *pf_trace_put_fixed(mine, value, places[i]) = 0;
        snprintf(theirs, sizeof theirs, "%.*f", places[i], value);
        assert_string_equal(mine, theirs);
    }
}

static void same_whole(uint64_t number)
{
    char mine[PF_TRACE_NUMBER_ROOM], theirs[PF_TRACE_NUMBER_ROOM];
    *pf_trace_put_whole(mine, number) = 0;
    snprintf(theirs, sizeof theirs, "%" PRIu64, number);
    assert_string_equal(mine, theirs);
}

static void numbers(void **state)
{
    (void)state;
    srand(1);
    for (int i = 0; i < ROUNDS; i++) {
        double value = ldexp((double)rand(), -(rand() % 120));
        same_number(value);
        same_number((double)(rand() % 100000) / 1e12);
        uint64_t number = (uint64_t)rand();
        same_whole(number * number * 8 >> rand() % 64);
        same_whole((uint64_t)i);
    }
    same_whole(UINT64_MAX);
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
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers),
        cmocka_unit_test(halves),
        cmocka_unit_test(unusual),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
