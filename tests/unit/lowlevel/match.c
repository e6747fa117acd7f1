/* SPDX-License-Identifier: BSD-3-Clause */
/* The index of long match lists stays flat, for keys as MPI makes them; what it answers is fuzzed
 * (tests/fuzz). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "lowlevel/portals/match.h"

enum { ENTRIES = 100000, LONGEST_CHAIN = 12 };

static int longest_chain(const struct ptl_match_list *list)
{
    int longest = 0;
    for (uint32_t i = 0; i < list->table_size; i++) {
        int length = 0;
        for (const struct ptl_match_node *node = list->table[i]; node; node = node->bucket_next)
            length++;
        if (length > longest)
            longest = length;
    }
    return longest;
}

/* Keys by number: tags of one sender, senders of one tag, tags in the upper half, pairs of both. */
static struct ptl_match_key key_of(int family, uint64_t i)
{
    switch (family) {
    case 0:
        return (struct ptl_match_key){i, 7ULL << 32};
    case 1:
        return (struct ptl_match_key){42, i << 32};
    case 2:
        return (struct ptl_match_key){i << 40, i % 16};
    default:
        return (struct ptl_match_key){i % 317 << 24 | 1, i / 317 << 32 | i % 5};
    }
}

static void test_flat(void **state)
{
    (void)state;
    struct ptl_match_node *nodes = calloc(ENTRIES, sizeof *nodes);
    for (int family = 0; family < 4; family++)
        for (int masked = 0; masked < 2; masked++) {
            struct ptl_match_list list = {0};
            for (uint64_t i = 0; i < ENTRIES; i++) {
                nodes[i].key = key_of(family, i);
                nodes[i].ignore = (struct ptl_match_key){0, masked ? UINT32_MAX : 0};
                ptl_match_append(&list, &nodes[i]);
            }
            assert_true(list.indexed && list.others == NULL);
            assert_true(longest_chain(&list) <= LONGEST_CHAIN);
            for (uint64_t i = 0; i < ENTRIES; i += 997)
                assert_ptr_equal(ptl_match_find(&list, key_of(family, i), NULL, NULL)->key.bits ==
                                         nodes[i].key.bits
                                     ? &nodes[i]
                                     : NULL,
                                 &nodes[i]);
            for (uint64_t i = 0; i < ENTRIES; i++)
                ptl_match_remove(&list, &nodes[i]);
            assert_true(!list.indexed && list.length == 0);
            ptl_match_release(&list);
        }
    free(nodes);
}

/* Many of one key, as receives of one tag: one chain, in order, and taking from either end costs the same. */
static void test_same_key(void **state)
{
    (void)state;
    struct ptl_match_node *nodes = calloc(ENTRIES, sizeof *nodes);
    struct ptl_match_list list = {0};
    const struct ptl_match_key key = {1, 2}, other = {3, 2};
    struct ptl_match_node last = {.key = other};
    for (int i = 0; i < ENTRIES; i++) {
        nodes[i].key = key;
        ptl_match_append(&list, &nodes[i]);
    }
    ptl_match_append(&list, &last);
    assert_int_equal(longest_chain(&list) <= 2, 1);
    assert_ptr_equal(ptl_match_find(&list, other, NULL, NULL), &last);
    for (int i = 0; i < ENTRIES; i++) {
        assert_ptr_equal(ptl_match_find(&list, key, NULL, NULL), &nodes[i]);
        ptl_match_remove(&list, &nodes[i]);
    }
    ptl_match_remove(&list, &last);
    ptl_match_release(&list);
    free(nodes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_flat), cmocka_unit_test(test_same_key)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
