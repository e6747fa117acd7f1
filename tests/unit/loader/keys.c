/* SPDX-License-Identifier: BSD-3-Clause */
/* Keys that no thread has: more than the process could have, and a value for each owner. */
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "loader/keys.h"

static void values_belong_to_key_and_owner(void **state)
{
    enum { KEYS = 2 * PTHREAD_KEYS_MAX, OWNERS = 5 };
    static pthread_key_t keys[KEYS];
    static char values[KEYS][OWNERS];
    (void)state;
    for (int i = 0; i < KEYS; i++) {
        assert_int_equal(pf_keys_create(&keys[i]), 0);
        assert_null(pf_keys_get(keys[i], 0));
        for (int owner = OWNERS - 1; owner >= 0; owner--)
            assert_int_equal(pf_keys_set(keys[i], (size_t)owner * 100, &values[i][owner]), 0);
    }
    for (int i = 0; i < KEYS; i++)
        for (int owner = 0; owner < OWNERS; owner++) {
            assert_ptr_equal(pf_keys_get(keys[i], (size_t)owner * 100), &values[i][owner]);
            assert_null(pf_keys_get(keys[i], (size_t)owner * 100 + 1));
        }
}

/* The C library's numbers are never given, and can be used. */
static void real_keys_are_apart(void **state)
{
    pthread_key_t made;
    int value;
    (void)state;
    assert_int_equal(pf_keys_create(&made), 0);
    assert_true(made >= PTHREAD_KEYS_MAX);
    assert_null(pf_keys_get(3, 7));
    assert_int_equal(pf_keys_set(3, 7, &value), 0);
    assert_ptr_equal(pf_keys_get(3, 7), &value);
    assert_null(pf_keys_get(3, 6));
    assert_null(pf_keys_get(made, 7));
    assert_null(pf_keys_get(made + 1000, 0));
    assert_int_equal(pf_keys_set(3, 7, NULL), 0);
    assert_null(pf_keys_get(3, 7));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(values_belong_to_key_and_owner),
                                       cmocka_unit_test(real_keys_are_apart)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
