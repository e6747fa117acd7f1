/* SPDX-License-Identifier: BSD-3-Clause */
/* The queue of a counter's triggers: order, and that its cost does not grow with the square of its length. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "lowlevel/portals/trigger_queue.h"

static uint64_t ascending(int i)
{
    return (uint64_t)i;
}

static uint64_t descending(int i)
{
    return UINT64_MAX - (uint64_t)i;
}

static uint64_t equal(int i)
{
    (void)i;
    return 7;
}

static uint64_t mixed(int i)
{
    return (uint64_t)i * 0x9e3779b97f4a7c15U >> 54;
}

/* Takes so many out; each is behind the one before by threshold, then by age. */
static void take(struct ptl_trigger_queue *queue, int count)
{
    const struct ptl_trigger_node *before = NULL;
    for (int i = 0; i < count; i++) {
        const struct ptl_trigger_node *node = ptl_trigger_queue_take(queue);
        if (before)
            assert_true(node->threshold > before->threshold ||
                        (node->threshold == before->threshold && node > before));
        before = node;
    }
}

/* With a walk along the queue this number would take hours in the worst of these orders. */
static void test_orders(void **state)
{
    (void)state;
    enum { COUNT = 200000 };
    static uint64_t (*const orders[])(int) = {ascending, descending, equal, mixed};
    struct ptl_trigger_node *nodes = calloc(COUNT, sizeof *nodes); /* older ones have lower addresses */
    for (size_t k = 0; k < sizeof orders / sizeof orders[0]; k++) {
        struct ptl_trigger_queue queue = {0};
        for (int i = 0; i < COUNT; i++) {
            nodes[i].threshold = orders[k](i);
            ptl_trigger_queue_add(&queue, &nodes[i]);
        }
        take(&queue, COUNT);
        assert_null(queue.first);
    }
    free(nodes);
}

/* Added and taken in turn, against the smallest that a search finds. */
static void test_in_turn(void **state)
{
    (void)state;
    enum { COUNT = 3000 };
    static struct ptl_trigger_node nodes[COUNT];
    static int inside[COUNT];
    struct ptl_trigger_queue queue = {0};
    srand(11);
    int added = 0, left = 0;
    while (added < COUNT || left > 0) {
        if (added < COUNT && (left == 0 || rand() % 3 > 0)) {
            nodes[added].threshold = (uint64_t)(rand() % 50);
            ptl_trigger_queue_add(&queue, &nodes[added]);
            inside[added++] = 1;
            left++;
            continue;
        }
        int first = -1;
        for (int i = 0; i < added; i++)
            if (inside[i] && (first < 0 || nodes[i].threshold < nodes[first].threshold))
                first = i;
        assert_ptr_equal(queue.first, &nodes[first]);
        assert_ptr_equal(ptl_trigger_queue_take(&queue), &nodes[first]);
        inside[first] = 0;
        left--;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_orders), cmocka_unit_test(test_in_turn)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
