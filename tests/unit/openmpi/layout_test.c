/* SPDX-License-Identifier: BSD-3-Clause */
/* Sizes of Open MPI's data: those of its headers are those of its libraries, and other ones are refused in
 * one line. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "adapters/openmpi/private/layout.h"

static struct pf_elf library;
static char why[600];

static bool check(enum pf_core which, const struct pf_ompi_datum *data, int count)
{
    *why = 0;
    return pf_ompi_layout_check(&library, which, data, count, why, sizeof why);
}

static int set_up(void **state)
{
    (void)state;
    return pf_elf_read(&library, TEST_LIBDIR "/libmpi.so.40");
}

static void sizes_are_those_of_the_headers(void **state)
{
    (void)state;
    assert_true(check(PF_CORE_MPI, pf_ompi_data, pf_ompi_data_count));
    assert_string_equal(why, "");
    int of_libmpi = 0;
    for (int i = 0; i < pf_ompi_data_count; i++)
        of_libmpi += pf_ompi_data[i].library == PF_CORE_MPI;
    assert_true(of_libmpi > 0);
}

static void each_wrong_size_is_refused(void **state)
{
    (void)state;
    for (int i = 0; i < pf_ompi_data_count; i++) {
        struct pf_ompi_datum wrong = pf_ompi_data[i];
        if (wrong.library != PF_CORE_MPI)
            continue;
        wrong.size += 8;
        assert_false(check(PF_CORE_MPI, &wrong, 1));
        assert_non_null(strstr(why, wrong.symbol));
        assert_non_null(strstr(why, "; install the package "));
        assert_null(strchr(why, '\n'));
        assert_true(check(PF_CORE_PAL, &wrong, 1)); /* that of another library is not asked for here */
    }
}

static void missing_data_are_refused(void **state)
{
    (void)state;
    const struct pf_ompi_datum missing = {PF_CORE_MPI, "no_such_symbol_here", 8};
    assert_false(check(PF_CORE_MPI, &missing, 1));
    assert_non_null(strstr(why, "no_such_symbol_here has 0 bytes, but 8 were expected"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_are_those_of_the_headers),
        cmocka_unit_test(each_wrong_size_is_refused),
        cmocka_unit_test(missing_data_are_refused),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
