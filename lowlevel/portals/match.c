/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds the oldest match in a list, by an index where masks allow it. */
#include "lowlevel/portals/match.h"

#include <stddef.h>
#include <stdlib.h>

static bool keys_equal(struct ptl_match_key a, struct ptl_match_key b)
{
    return a.bits == b.bits && a.sender == b.sender;
}

static struct ptl_match_key without(struct ptl_match_key key, struct ptl_match_key ignore)
{
    return (struct ptl_match_key){key.bits & ~ignore.bits, key.sender & ~ignore.sender};
}

/* The index */

static uint32_t hash(int group, struct ptl_match_key key)
{
    uint64_t h = key.bits * 0x9e3779b97f4a7c15U;
    h = (h ^ h >> 32 ^ key.sender) * 0xd6e8feb86659fd93U;
    h = (h ^ h >> 32 ^ (uint64_t)group) * 0xd6e8feb86659fd93U;
    return (uint32_t)(h >> 32);
}

static struct ptl_match_node **bucket(const struct ptl_match_list *list, int group, struct ptl_match_key key)
{
    return &list->table[hash(group, key) & (list->table_size - 1)];
}

static struct ptl_match_key index_key(const struct ptl_match_list *list, const struct ptl_match_node *node)
{
    return without(node->key, list->groups[node->group].ignore);
}

static struct ptl_match_node **bucket_of(const struct ptl_match_list *list, const struct ptl_match_node *node)
{
    return bucket(list, node->group, index_key(list, node));
}

/* The oldest of a key. */
static struct ptl_match_node *look_up(const struct ptl_match_list *list, int group, struct ptl_match_key key)
{
    struct ptl_match_node *node = *bucket(list, group, key);
    while (node && (node->group != group || !keys_equal(index_key(list, node), key)))
        node = node->bucket_next;
    return node;
}

static void bucket_insert(struct ptl_match_node **place, struct ptl_match_node *node)
{
    node->bucket_prev = NULL;
    node->bucket_next = *place;
    if (*place)
        (*place)->bucket_prev = node;
    *place = node;
}

/* The next of the same key, or NULL, takes the place of the oldest. */
static void bucket_replace(struct ptl_match_list *list, struct ptl_match_node *node,
                           struct ptl_match_node *successor)
{
    struct ptl_match_node *next = node->bucket_next;
    if (successor) {
        successor->bucket_prev = node->bucket_prev;
        successor->bucket_next = node->bucket_next;
        if (next)
            next->bucket_prev = successor;
        next = successor;
    } else if (next) {
        next->bucket_prev = node->bucket_prev;
    }
    if (node->bucket_prev)
        node->bucket_prev->bucket_next = next;
    else
        *bucket_of(list, node) = next;
}

static int group_of(struct ptl_match_list *list, struct ptl_match_key ignore)
{
    int free_group = PTL_MATCH_OTHERS;
    for (int group = 0; group < PTL_MATCH_GROUPS; group++) {
        if (list->groups[group].length == 0) {
            if (free_group == PTL_MATCH_OTHERS)
                free_group = group;
        } else if (keys_equal(list->groups[group].ignore, ignore)) {
            return group;
        }
    }
    if (free_group != PTL_MATCH_OTHERS)
        list->groups[free_group].ignore = ignore;
    return free_group;
}

/* The others hang together as those of one key do. */
static void others_append(struct ptl_match_list *list, struct ptl_match_node *node)
{
    node->same_prev = list->others_last;
    if (list->others_last)
        list->others_last->same_next = node;
    else
        list->others = node;
    list->others_last = node;
}

static void index_append(struct ptl_match_list *list, struct ptl_match_node *node)
{
    node->same_prev = node->same_next = NULL;
    node->group = group_of(list, (struct ptl_match_key){node->ignore.bits | list->searched.bits,
                                                        node->ignore.sender | list->searched.sender});
    if (node->group == PTL_MATCH_OTHERS) {
        others_append(list, node);
        return;
    }
    list->groups[node->group].length++;
    struct ptl_match_node *oldest = look_up(list, node->group, index_key(list, node));
    if (!oldest) {
        node->same_last = node;
        bucket_insert(bucket_of(list, node), node);
        return;
    }
    node->same_prev = oldest->same_last;
    oldest->same_last->same_next = node;
    oldest->same_last = node;
}

static void index_remove(struct ptl_match_list *list, struct ptl_match_node *node)
{
    struct ptl_match_node *prev = node->same_prev, *next = node->same_next;
    if (prev)
        prev->same_next = next;
    if (next)
        next->same_prev = prev;
    if (node->group == PTL_MATCH_OTHERS) {
        if (!prev)
            list->others = next;
        if (!next)
            list->others_last = prev;
        return;
    }
    list->groups[node->group].length--;
    if (!prev) {
        if (next)
            next->same_last = node->same_last;
        bucket_replace(list, node, next);
    } else if (!next) {
        look_up(list, node->group, index_key(list, node))->same_last = prev;
    }
}

/* When there is no memory for a larger table, the present one does; without any, the list is walked. */
static void resize(struct ptl_match_list *list, uint32_t size)
{
    struct ptl_match_node **table = calloc(size, sizeof(struct ptl_match_node *));
    if (!table)
        return;
    struct ptl_match_node **old = list->table;
    uint32_t old_size = list->table_size;
    list->table = table;
    list->table_size = size;
    for (uint32_t i = 0; old && i < old_size; i++)
        for (struct ptl_match_node *node = old[i], *next; node; node = next) {
            next = node->bucket_next;
            bucket_insert(bucket_of(list, node), node);
        }
    free(old);
}

static void begin_index(struct ptl_match_list *list)
{
    if (!list->table) /* otherwise it is empty since index_end() */
        resize(list, 4 * PTL_MATCH_LONG);
    if (!list->table)
        return;
    for (struct ptl_match_node *node = list->first; node; node = node->next)
        index_append(list, node);
    list->indexed = true;
}

static void end_index(struct ptl_match_list *list)
{
    for (struct ptl_match_node *node = list->first; node; node = node->next)
        index_remove(list, node);
    list->indexed = false;
}

/* The list */

void ptl_match_append(struct ptl_match_list *list, struct ptl_match_node *node)
{
    node->key = without(node->key, node->ignore);
    node->age = list->next_age++;
    node->prev = list->last;
    node->next = NULL;
    if (list->last)
        list->last->next = node;
    else
        list->first = node;
    list->last = node;
    list->length++;
    if (list->indexed) {
        if ((uint32_t)list->length > list->table_size)
            resize(list, 2 * list->table_size);
        index_append(list, node);
    } else if (list->length > PTL_MATCH_LONG) {
        begin_index(list);
    }
}

void ptl_match_remove(struct ptl_match_list *list, struct ptl_match_node *node)
{
    if (list->indexed)
        index_remove(list, node);
    if (node->prev)
        node->prev->next = node->next;
    else
        list->first = node->next;
    if (node->next)
        node->next->prev = node->prev;
    else
        list->last = node->prev;
    list->length--;
    if (list->indexed && list->length < PTL_MATCH_SHORT)
        end_index(list);
}

void ptl_match_release(struct ptl_match_list *list)
{
    free(list->table);
    list->table = NULL;
    list->table_size = 0;
}

static bool meets(const struct ptl_match_node *node, ptl_match_condition condition, const void *arg)
{
    return !condition || condition(node, arg);
}

static struct ptl_match_node *walk_patterns(struct ptl_match_node *node, uint64_t before,
                                            struct ptl_match_key header, ptl_match_condition condition,
                                            const void *arg)
{
    for (; node && node->age < before; node = node->same_next)
        if (ptl_match_keys(node->key, header, node->ignore) && meets(node, condition, arg))
            return node;
    return NULL;
}

static struct ptl_match_node *find_in_index(const struct ptl_match_list *list, struct ptl_match_key header,
                                            ptl_match_condition condition, const void *arg)
{
    struct ptl_match_node *best = NULL;
    uint64_t before = UINT64_MAX;
    for (int group = 0; group < PTL_MATCH_GROUPS; group++) {
        if (list->groups[group].length == 0)
            continue;
        struct ptl_match_node *node = look_up(list, group, without(header, list->groups[group].ignore));
        while (node && node->age < before && !meets(node, condition, arg))
            node = node->same_next;
        if (node && node->age < before) {
            best = node;
            before = node->age;
        }
    }
    struct ptl_match_node *other = walk_patterns(list->others, before, header, condition, arg);
    return other ? other : best;
}

struct ptl_match_node *ptl_match_find(const struct ptl_match_list *list, struct ptl_match_key header,
                                      ptl_match_condition condition, const void *arg)
{
    struct ptl_match_node *oldest = list->first; /* as often as entries are used in the order of posting */
    if (oldest && ptl_match_keys(oldest->key, header, oldest->ignore) && meets(oldest, condition, arg))
        return oldest;
    if (list->indexed)
        return find_in_index(list, header, condition, arg);
    for (struct ptl_match_node *node = list->first; node; node = node->next)
        if (ptl_match_keys(node->key, header, node->ignore) && meets(node, condition, arg))
            return node;
    return NULL;
}

/* Headers of one key may differ in what this search does not ignore, but others cannot match. */
static bool is_in_one_key(const struct ptl_match_list *list, struct ptl_match_key ignore)
{
    struct ptl_match_key beyond = without(ignore, list->searched);
    return !(beyond.bits | beyond.sender);
}

/* Searches like this one have walked by as many headers as there are. */
static void index_for(struct ptl_match_list *list, struct ptl_match_key ignore)
{
    end_index(list);
    list->searched = ignore;
    list->in_vain = 0;
    begin_index(list);
}

struct ptl_match_node *ptl_match_next(struct ptl_match_list *list, const struct ptl_match_node *pattern,
                                      const struct ptl_match_node *after, ptl_match_condition condition,
                                      const void *arg)
{
    if (list->indexed && list->in_vain > list->length && !keys_equal(list->searched, pattern->ignore))
        index_for(list, pattern->ignore);
    bool one_key = list->indexed && is_in_one_key(list, pattern->ignore);
    struct ptl_match_node *node;
    if (after)
        node = one_key ? after->same_next : after->next;
    else
        node = one_key ? look_up(list, 0, without(pattern->key, list->searched)) : list->first;
    for (; node; node = one_key ? node->same_next : node->next) {
        if (ptl_match_keys(node->key, pattern->key, pattern->ignore) && meets(node, condition, arg))
            return node;
        list->in_vain += list->in_vain <= list->length;
    }
    return NULL;
}
