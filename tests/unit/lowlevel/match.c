/* SPDX-License-Identifier: BSD-3-Clause */
/* The index of long match lists stays flat, for keys as MPI makes them, and answers what a walk of the list
 * answers; that is also fuzzed (tests/fuzz). */
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
            assert_int_equal(list.table_size & (list.table_size - 1), 0); /* a mask of the hash */
            for (uint64_t i = 0; i < ENTRIES; i++)
                assert_ptr_equal(ptl_match_find(&list, key_of(family, i), NULL, NULL), &nodes[i]);
            for (uint64_t i = 0; i < ENTRIES; i++)
                ptl_match_remove(&list, &nodes[i]);
            assert_true(!list.indexed && list.length == 0);
            ptl_match_release(&list);
        }
    free(nodes);
}

/* A long list for each of many masks in turn: a group without entries is free for another mask. */
static void test_groups(void **state)
{
    (void)state;
    enum { LENGTH = 2 * PTL_MATCH_LONG };
    struct ptl_match_node nodes[LENGTH];
    struct ptl_match_list list = {0};
    for (int mask = 0; mask < 3 * PTL_MATCH_GROUPS; mask++) {
        for (int i = 0; i < LENGTH; i++) {
            nodes[i] = (struct ptl_match_node){.key = {(uint64_t)i << 32, 1}, .ignore = {1ULL << mask, 0}};
            ptl_match_append(&list, &nodes[i]);
        }
        assert_true(list.indexed && list.others == NULL);
        for (int i = 0; i < LENGTH; i++)
            ptl_match_remove(&list, &nodes[i]);
    }
    ptl_match_release(&list);
}

/* Short lists have no index, and a list that has been released is as a new one. */
static void test_length(void **state)
{
    (void)state;
    struct ptl_match_node nodes[PTL_MATCH_LONG + 1];
    struct ptl_match_list list = {0};
    for (int turn = 0; turn < 2; turn++) {
        for (int i = 0; i <= PTL_MATCH_LONG; i++) {
            assert_false(list.indexed);
            nodes[i] = (struct ptl_match_node){.key = {(uint64_t)i, 1}};
            ptl_match_append(&list, &nodes[i]);
        }
        assert_true(list.indexed && list.table_size > PTL_MATCH_LONG);
        for (int i = 0; i <= PTL_MATCH_LONG; i++) {
            assert_int_equal(list.indexed, list.length >= PTL_MATCH_SHORT);
            ptl_match_remove(&list, &nodes[i]);
        }
        ptl_match_release(&list);
        assert_true(list.table == NULL && list.table_size == 0);
    }
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

/* Lists that grow and shrink at random, with more kinds of masks than there are groups, and few keys:
 * whatever comes first in a walk of the list is the answer, with a condition and without. */
enum { MASKS = PTL_MATCH_GROUPS + 3, MIXED = 120, STEPS = 6000 };

static uint32_t random_state;

static uint32_t below(uint32_t limit)
{
    random_state = random_state * 1664525 + 1013904223;
    return (random_state >> 8) % limit;
}

static bool is_even(const struct ptl_match_node *node, const void *arg)
{
    (void)arg;
    return node->age % 2 == 0;
}

static struct ptl_match_key some_key(void)
{
    return (struct ptl_match_key){(uint64_t)below(3) << below(MASKS), below(2)};
}

static struct ptl_match_key some_mask(void)
{
    uint32_t mask = below(MASKS);
    return (struct ptl_match_key){mask ? 1ULL << mask : 0, mask % 2 ? UINT32_MAX : 0};
}

/* From `node` on, the first that matches the key where neither has a mask. */
static struct ptl_match_node *first_in_walk(struct ptl_match_node *node, struct ptl_match_key key,
                                            struct ptl_match_key mask, ptl_match_condition condition)
{
    for (; node; node = node->next) {
        struct ptl_match_key ignore = {node->ignore.bits | mask.bits, node->ignore.sender | mask.sender};
        if (ptl_match_keys(node->key, key, ignore) && (!condition || condition(node, NULL)))
            return node;
    }
    return NULL;
}

/* What a message finds among patterns. */
static int find_pattern(struct ptl_match_list *list, ptl_match_condition condition)
{
    struct ptl_match_key header = some_key();
    struct ptl_match_node *expected =
        first_in_walk(list->first, header, (struct ptl_match_key){0}, condition);
    assert_ptr_equal(ptl_match_find(list, header, condition, NULL), expected);
    return expected && list->indexed;
}

/* What a pattern finds among headers, one after the other. */
static int find_headers(struct ptl_match_list *list, ptl_match_condition condition)
{
    int found = 0;
    struct ptl_match_node pattern = {.ignore = below(2) ? (struct ptl_match_key){0} : some_mask()},
                          *after = NULL;
    pattern.key = some_key();
    do {
        struct ptl_match_node *expected =
            first_in_walk(after ? after->next : list->first, pattern.key, pattern.ignore, condition);
        after = ptl_match_next(list, &pattern, after, condition, NULL);
        assert_ptr_equal(after, expected);
        found += expected && list->indexed;
    } while (after);
    return found;
}

static void against_a_walk(bool masks, int (*find)(struct ptl_match_list *, ptl_match_condition))
{
    struct ptl_match_node nodes[MIXED] = {{0}};
    struct ptl_match_node *order[MIXED]; /* the first `count` are in the list */
    struct ptl_match_list list = {0};
    uint32_t count = 0;
    int found = 0, indexed = 0;
    random_state = 1;
    for (int i = 0; i < MIXED; i++)
        order[i] = &nodes[i];
    for (int step = 0; step < STEPS || count > 0; step++) {
        bool grows = step < STEPS && below(100) < (step / 500 % 2 ? 30 : 70);
        uint32_t at = grows ? count : below(count + !count);
        struct ptl_match_node *node = at < MIXED ? order[at] : NULL; /* none is left to append */
        if (grows && node) {
            node->key = some_key();
            node->ignore = masks ? some_mask() : (struct ptl_match_key){0};
            ptl_match_append(&list, node);
            count++;
        } else if (!grows && count > 0) {
            ptl_match_remove(&list, node);
            order[at] = order[--count];
            order[count] = node;
        }
        indexed += list.indexed;
        found += find(&list, step % 2 ? is_even : NULL);
    }
    assert_true(found > 1000 && indexed > 1000 && indexed < STEPS);
    assert_null(list.first);
    ptl_match_release(&list);
}

static void test_patterns(void **state)
{
    (void)state;
    against_a_walk(true, find_pattern);
}

static void test_headers(void **state)
{
    (void)state;
    against_a_walk(false, find_headers);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_flat),     cmocka_unit_test(test_groups),
                                       cmocka_unit_test(test_length),   cmocka_unit_test(test_same_key),
                                       cmocka_unit_test(test_patterns), cmocka_unit_test(test_headers)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
