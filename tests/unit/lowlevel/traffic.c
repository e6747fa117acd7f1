/* SPDX-License-Identifier: BSD-3-Clause */
/* The communication matrix: neighbours share a row, and what is no rank is left out. */
#include "lowlevel/network/traffic.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

static uint64_t bytes_at(int from, int to)
{
    return pf_traffic->cells[from * pf_traffic->rows + to].bytes;
}

static void test_rows(void **state)
{
    (void)state;
    const int ranks[] = {1, 256, 257, 1000, 4096}, each[] = {1, 1, 2, 4, 16};
    pf_traffic_count(0, 0, 1); /* it is not wanted */
    for (int i = 0; i < 5; i++) {
        int last = ranks[i] - 1;
        pf_traffic_begin(ranks[i]);
        assert_int_equal(pf_traffic->each, each[i]);
        assert_in_range(pf_traffic->rows, 1, PF_TRAFFIC_ROWS);
        pf_traffic_count(last, 0, 5);
        pf_traffic_count(last, 0, 2);
        pf_traffic_count(-1, 0, 3);
        pf_traffic_count(0, ranks[i], 3);
        assert_int_equal(bytes_at(pf_traffic->rows - 1, 0), 7);
        assert_int_equal(pf_traffic->cells[(pf_traffic->rows - 1) * pf_traffic->rows].messages, 2);
        free(pf_traffic->cells);
        free(pf_traffic);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_rows)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
