/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/*
 * Lists in which the oldest of those that match counts. Patterns (list entries) and what they are compared
 * with (message headers) have the same form: 64 match bits and a sender, each with a mask of the bits
 * that do not matter. A list holds either patterns, of which a message wants the oldest that matches it, or
 * headers, of which an entry wants the oldest that it matches.
 *
 * Short lists are walked. A long one has an index: elements with the same masks form a group, and those of
 * one group with the same remaining bits are chained by age under one hash key. A search looks at one key of
 * each group, and age decides between the groups: neither addresses nor the order in the table reach a
 * result. Elements of a group too many stay in a list of their own that is walked. Everything is linked
 * through the elements; only the table grows by allocation.
 *
 * Headers have no masks, searches have: all are in one group, of the mask of a search that has
 * walked far in vain. Searches with no more mask than that look at one key.
 */
struct ptl_match_key {
    uint64_t bits, sender;
};

struct ptl_match_node {
    struct ptl_match_node *prev, *next; /* all elements, by age */
    struct ptl_match_key key;           /* without the bits that do not matter */
    struct ptl_match_key ignore;
    uint64_t age;
    int group; /* in the index; PTL_MATCH_OTHERS: walked */
    /* The oldest of a key stands in the table for all. */
    struct ptl_match_node *bucket_prev, *bucket_next;
    struct ptl_match_node *same_prev, *same_next; /* of the same key, or walked, by age */
    struct ptl_match_node *same_last;             /* valid in the oldest */
};

enum { PTL_MATCH_GROUPS = 8, PTL_MATCH_OTHERS = -1 };

/* An index is made when a list becomes longer than the first and given up when it is shorter than the second.
 */
enum { PTL_MATCH_LONG = 32, PTL_MATCH_SHORT = 8 };

struct ptl_match_group {
    struct ptl_match_key ignore;
    int length;
};

/* All zeros: an empty list. */
struct ptl_match_list {
    struct ptl_match_node *first, *last;
    int length;
    uint64_t next_age;
    bool indexed;
    struct ptl_match_key searched; /* of headers: the mask of their group */
    int in_vain;                   /* steps of searches since the headers have that group */
    struct ptl_match_group groups[PTL_MATCH_GROUPS];
    struct ptl_match_node *others, *others_last;
    struct ptl_match_node **table;
    uint32_t table_size; /* a power of two */
};

/* The caller sets `key` and `ignore`. */
void ptl_match_append(struct ptl_match_list *list, struct ptl_match_node *node);
void ptl_match_remove(struct ptl_match_list *list, struct ptl_match_node *node);
/* Gives the memory of an empty list back. */
void ptl_match_release(struct ptl_match_list *list);

/* A further condition, for elements that match. */
typedef bool (*ptl_match_condition)(const struct ptl_match_node *node, const void *arg);

/* The oldest pattern of the list that matches the header and meets the condition; NULL when there is none. */
struct ptl_match_node *ptl_match_find(const struct ptl_match_list *list, struct ptl_match_key header,
                                      ptl_match_condition condition, const void *arg);

/* The oldest header of the list that the pattern matches and that is younger than `after`: NULL, or
 * what the previous search with this pattern has found. */
struct ptl_match_node *ptl_match_next(struct ptl_match_list *list, const struct ptl_match_node *pattern,
                                      const struct ptl_match_node *after, ptl_match_condition condition,
                                      const void *arg);

static inline bool ptl_match_keys(struct ptl_match_key a, struct ptl_match_key b, struct ptl_match_key ignore)
{
    return !(((a.bits ^ b.bits) & ~ignore.bits) | ((a.sender ^ b.sender) & ~ignore.sender));
}
