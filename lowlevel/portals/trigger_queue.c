/* SPDX-License-Identifier: BSD-3-Clause */
/* Triggered operations by threshold and age. */
#include "lowlevel/portals/trigger_queue.h"

#include <stdbool.h>
#include <stddef.h>

static bool is_before(const struct ptl_trigger_node *a, const struct ptl_trigger_node *b)
{
    return a->threshold != b->threshold ? a->threshold < b->threshold : a->age < b->age;
}

/* One heap of two, whose roots have no siblings. */
static struct ptl_trigger_node *meld(struct ptl_trigger_node *a, struct ptl_trigger_node *b)
{
    if (!a || !b)
        return a ? a : b;
    struct ptl_trigger_node *root = is_before(b, a) ? b : a, *other = root == a ? b : a;
    other->sibling = root->child;
    root->child = other;
    return root;
}

void ptl_trigger_queue_add(struct ptl_trigger_queue *queue, struct ptl_trigger_node *node)
{
    node->child = node->sibling = NULL;
    node->age = queue->next_age++;
    queue->first = meld(queue->first, node);
}

/* Takes the first two heaps out of a list of siblings and melds them. */
static struct ptl_trigger_node *meld_pair(struct ptl_trigger_node **siblings)
{
    struct ptl_trigger_node *a = *siblings, *b = a->sibling;
    *siblings = b ? b->sibling : NULL;
    a->sibling = NULL;
    if (b)
        b->sibling = NULL;
    return meld(a, b);
}

struct ptl_trigger_node *ptl_trigger_queue_take(struct ptl_trigger_queue *queue)
{
    struct ptl_trigger_node *first = queue->first, *siblings = first->child, *pairs = NULL, *rest = NULL;
    while (siblings) {
        struct ptl_trigger_node *pair = meld_pair(&siblings);
        pair->sibling = pairs;
        pairs = pair;
    }
    while (pairs) {
        struct ptl_trigger_node *pair = pairs;
        pairs = pair->sibling;
        pair->sibling = NULL;
        rest = meld(rest, pair);
    }
    queue->first = rest;
    return first;
}
