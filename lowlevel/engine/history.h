/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "lowlevel/engine/chain.h"

/*
 * What paths have in common, and the past of each: parts of one rank, one after the other, in a tree whose
 * root is the begin of the run. Parts are counted; where only one path leads through a part, it is added to
 * the sums of the next one from time to time, so that the memory is that of the ranks, and not of the run.
 *
 * Times are whole numbers of units, so that sums of parts are exact.
 */
#define PF_CHAIN_UNIT 0x1p-46 /* s; 18 h are the longest time, half of what fits */

struct pf_chain_part {
    int64_t spent[PF_CHAIN_CLASSES];
    int64_t end;
    int rank, phase, site, call; /* in which it is; computation: after it */
    struct pf_chain_message message;
};

/* Copies whole words one by one: what was stored as a word a moment ago is slow to be read as part of
 * something wider. */
static inline void pf_chain_copy_words(void *to, const void *from, size_t bytes)
{
    typedef volatile int64_t __attribute__((may_alias)) word;
    for (size_t i = 0; i < bytes / sizeof(word); i++)
        ((word *)to)[i] = ((const word *)from)[i];
}

/* The links of a route; NULL: they are not known. */
extern pf_chain_cross_fn *pf_chain_node_cross;

struct pf_chain_node;

/* The part behind `before`, whose reference goes over to it. */
struct pf_chain_node *pf_chain_node_new(struct pf_chain_node *before, const struct pf_chain_part *part);
struct pf_chain_node *pf_chain_node_keep(struct pf_chain_node *node);
void pf_chain_node_drop(struct pf_chain_node *node);

/* Takes the last part off; false, and nothing is changed: there is none, or it is one with those before it.
 */
bool pf_chain_node_take(struct pf_chain_node **last, struct pf_chain_part *part);

/* In a job of so many ranks. */
void pf_chain_nodes_begin(int ranks);

/* So many parts that it is worth while to add up; then, for the end of each path that lives. */
bool pf_chain_nodes_are_many(void);
void pf_chain_nodes_add_up(struct pf_chain_node *last);
void pf_chain_nodes_added_up(void);

/* The whole path: sums, pieces, the longest. */
void pf_chain_node_report(struct pf_chain_node *last, int ranks, struct pf_chain_report *report);
