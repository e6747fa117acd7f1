/* SPDX-License-Identifier: BSD-3-Clause */
/* What Open MPI gets for asprintf() writes what the C library writes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "adapters/openmpi/asprintf.h"

#define SAME(...)                                                                                            \
    do {                                                                                                     \
        char *ours, *theirs;                                                                                 \
        int length = asprintf(&theirs, __VA_ARGS__);                                                         \
        assert_int_equal(pf_ompi_asprintf(&ours, 1, __VA_ARGS__), length);                                   \
        assert_string_equal(ours, theirs);                                                                   \
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

static void others(void **state)
{
    (void)state;
    SAME("%s %d%% of %5.1f, %-6s|", "is", 50, 2.5, "left");
    SAME("%s%c%s", "a", ':', "b");
    SAME("%.*s", 2, "cut");
    SAME("%llu of %s", 1ULL << 40, "them");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(texts), cmocka_unit_test(others)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
