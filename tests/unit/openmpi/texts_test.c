/* SPDX-License-Identifier: BSD-3-Clause */
/* What Open MPI gets for asprintf() and snprintf() writes what the C library writes. */
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "adapters/openmpi/texts.h"

#define SAME(...)                                                                                            \
    do {                                                                                                     \
        char *ours, *theirs;                                                                                 \
        int length = asprintf(&theirs, __VA_ARGS__);                                                         \
        assert_int_equal(pf_ompi_asprintf(&ours, 1, __VA_ARGS__), length);                                   \
        assert_string_equal(ours, theirs);                                                                   \
        for (size_t room = 0; room < (size_t)length + 2; room++) {                                           \
            memset(ours, '#', (size_t)length + 1);                                                           \
            memset(theirs, '#', (size_t)length + 1);                                                         \
            assert_int_equal(snprintf(theirs, room, __VA_ARGS__), length);                                   \
            assert_int_equal(pf_ompi_snprintf(ours, room, 1, room, __VA_ARGS__), length);                    \
            assert_memory_equal(ours, theirs, (size_t)length + 1);                                           \
        }                                                                                                    \
        free(ours);                                                                                          \
        free(theirs);                                                                                        \
    } while (0)

static void texts(void **state)
{
    (void)state;
    SAME("%s%s", "OMPI_MCA_", "pml");
    SAME("%s%s", "", "");
    SAME("nothing but characters");
    SAME("%s_%s:%s/", "one", "two", "three");
    SAME("%s%s%s%s%s%s%s%s%s%s", "more ", "than ", "are ", "joined ", "here ", "and ", "so ", "left ", "to ",
         "it");
}

static void numbers(void **state)
{
    (void)state;
    SAME("%s.%s.%d.%d", "mtl", "portals4", 4, 1);
    SAME("[%lu,%lu]", 0UL, ULONG_MAX);
    SAME("%ld%ld", LONG_MIN, LONG_MAX);
    SAME("%d %d %u", INT_MIN, 0, UINT_MAX);
    SAME("%d%d%d%d%d%d%d%d%d", 1, -2, 3, -4, 5, -6, 7, -8, 9);
}

static void others(void **state)
{
    (void)state;
    SAME("%s %d%% of %5.1f, %-6s|", "is", 50, 2.5, "left");
    SAME("%s%c%s", "a", ':', "b");
    SAME("%.*s", 2, "cut");
    SAME("%05d %x", 7, 255);
    SAME("%llu of %s", 1ULL << 40, "them");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(texts), cmocka_unit_test(numbers),
                                       cmocka_unit_test(others)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
