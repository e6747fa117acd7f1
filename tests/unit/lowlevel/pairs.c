/* SPDX-License-Identifier: BSD-3-Clause */
/* Pointers for pairs: each pair has its own, which stays, and a search is short however the pairs are chosen.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/pairs.h"

enum { MOST = 1500 };

static char things[MOST * MOST];

static size_t longest_search(const struct pf_pairs *pairs)
{
    size_t run = 0, longest = 0;
    for (size_t i = 0; i < (size_t)1 << pairs->bits; i++) {
        run = pairs->places[i].block ? run + 1 : 0;
        longest = run > longest ? run : longest;
    }
    return longest;
}

/* Of `count` numbers that are `step` apart, each with those up to `reach` of them behind it, as a ring. */
static void check(unsigned int count, unsigned int step, unsigned int reach)
{
    static struct pf_pairs all[8]; /* they stay */
    static int used;
    struct pf_pairs *pairs = &all[used++];
    for (unsigned int i = 0; i < count; i++)
        for (unsigned int d = 1; d <= reach; d++) {
            void **place = pf_pairs_get(pairs, (uint64_t)i * step, (i + d) % count * step);
            assert_null(*place);
            *place = &things[i * MOST + d];
        }
    for (unsigned int i = 0; i < count; i++)
        for (unsigned int d = 1; d <= reach; d++)
            assert_ptr_equal(*pf_pairs_get(pairs, (uint64_t)i * step, (i + d) % count * step),
                             &things[i * MOST + d]);
    assert_true(longest_search(pairs) < 40);
}

static void test_all(void **state)
{
    (void)state;
    check(2, 1, 1);
    check(16, 4, 15);
    check(64, 4, 63);
    check(500, 4, 499);
}

static void test_neighbours(void **state)
{
    (void)state;
    check(MOST, 1, 30);
    check(1024, 4, 8);
    check(1024, 64, 8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_all), cmocka_unit_test(test_neighbours)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
