/* SPDX-License-Identifier: BSD-3-Clause */
/* The past of paths: a tree of parts, of which those that belong together are added up. */
#include "lowlevel/engine/history.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/pool.h"

/* Of several parts, the oldest first. */
struct sums {
    uint64_t hops;
    int first_rank, last_rank; /* of the first part and of the last one */
    int ranks;
    int64_t *of_rank;
    struct table {
        int count;
        int64_t (*spent)[PF_CHAIN_CLASSES];
    } phases, sites; /* by number */
    int pieces;
    struct pf_chain_part piece[PF_CHAIN_PIECES];
    int longest_count;
    struct longest {
        int64_t begin, spent;
        int rank, phase, what, site;
    } longest[PF_CHAIN_LONGEST];
};

struct pf_chain_node {
    struct pf_chain_node *before;
    struct sums *sums; /* of the parts between `before` and this one, NULL: none */
    uint64_t references;
    struct pf_chain_part part;
};

enum { FEWEST = 1 << 16 };

static struct pf_pool pool = PF_POOL(struct pf_chain_node);
static size_t many = FEWEST;

struct pf_chain_node *pf_chain_node_new(struct pf_chain_node *before, const struct pf_chain_part *part)
{
    struct pf_chain_node *node = pf_pool_get(&pool);
    *node = (struct pf_chain_node){.before = before, .references = 1, .part = *part};
    return node;
}

struct pf_chain_node *pf_chain_node_keep(struct pf_chain_node *node)
{
    if (node)
        node->references++;
    return node;
}

static void free_sums(struct sums *sums)
{
    if (!sums)
        return;
    free(sums->of_rank);
    free(sums->phases.spent);
    free(sums->sites.spent);
    free(sums);
}

void pf_chain_node_drop(struct pf_chain_node *node)
{
    while (node && --node->references == 0) {
        struct pf_chain_node *before = node->before;
        free_sums(node->sums);
        pf_pool_put(&pool, node);
        node = before;
    }
}

bool pf_chain_node_take(struct pf_chain_node **last, struct pf_chain_part *part)
{
    struct pf_chain_node *node = *last;
    if (!node || node->sums)
        return false;
    *part = node->part;
    *last = pf_chain_node_keep(node->before);
    pf_chain_node_drop(node);
    return true;
}

static int64_t total(const int64_t spent[PF_CHAIN_CLASSES])
{
    int64_t sum = 0;
    for (int what = 0; what < PF_CHAIN_CLASSES; what++)
        sum += spent[what];
    return sum;
}

static void add(int64_t to[PF_CHAIN_CLASSES], const int64_t spent[PF_CHAIN_CLASSES])
{
    for (int what = 0; what < PF_CHAIN_CLASSES; what++)
        to[what] += spent[what];
}

/* Zeros behind what is there. */
static void *room_for(void *array, int *have, int wanted, size_t size)
{
    if (wanted <= *have)
        return array;
    int count = wanted > 2 * *have ? wanted : 2 * *have;
    char *bigger = pf_reallocarray(array, (size_t)count, size);
    memset(bigger + (size_t)*have * size, 0, (size_t)(count - *have) * size);
    *have = count;
    return bigger;
}

static double seconds(int64_t units)
{
    return (double)units * PF_CHAIN_UNIT;
}

static void add_to_table(struct table *table, int number, const int64_t spent[PF_CHAIN_CLASSES])
{
    table->spent = room_for(table->spent, &table->count, number + 1, sizeof *table->spent);
    add(table->spent[number], spent);
}

static void add_table(struct table *table, const struct table *later)
{
    for (int i = later->count - 1; i >= 0; i--)
        add_to_table(table, i, later->spent[i]);
}

static void copy_table(const struct table *table, int *count, double (**out)[PF_CHAIN_CLASSES])
{
    *count = table->count;
    *out = pf_calloc((size_t)table->count + 1, sizeof **out);
    for (int i = 0; i < table->count; i++)
        for (int what = 0; what < PF_CHAIN_CLASSES; what++)
            (*out)[i][what] = seconds(table->spent[i][what]);
}

/* Two parts as one, on the rank of the longer one. */
static struct pf_chain_part merged(const struct pf_chain_part *first, const struct pf_chain_part *second)
{
    struct pf_chain_part both = total(first->spent) > total(second->spent) ? *first : *second;
    both.end = second->end;
    memcpy(both.spent, first->spent, sizeof both.spent);
    add(both.spent, second->spent);
    return both;
}

static void add_piece(struct sums *sums, const struct pf_chain_part *part)
{
    if (sums->pieces == PF_CHAIN_PIECES) {
        sums->pieces /= 2;
        for (int i = 0; i < sums->pieces; i++)
            sums->piece[i] = merged(&sums->piece[(size_t)2 * i], &sums->piece[(size_t)2 * i + 1]);
    }
    sums->piece[sums->pieces++] = *part;
}

/* Sorted; of two that are equally long the earlier one comes first. */
static void add_longest(struct sums *sums, const struct longest *one)
{
    int at = sums->longest_count;
    while (at > 0 && sums->longest[at - 1].spent < one->spent)
        at--;
    if (at == PF_CHAIN_LONGEST)
        return;
    if (sums->longest_count < PF_CHAIN_LONGEST)
        sums->longest_count++;
    memmove(&sums->longest[at + 1], &sums->longest[at],
            (size_t)(sums->longest_count - 1 - at) * sizeof *sums->longest);
    sums->longest[at] = *one;
}

/* What is added goes from a rank to a rank. */
static void add_hop(struct sums *sums, int first, int last)
{
    if (sums->pieces == 0)
        sums->first_rank = first;
    else if (sums->last_rank != first)
        sums->hops++;
    sums->last_rank = last;
}

static void add_part(struct sums *sums, const struct pf_chain_part *part)
{
    add_hop(sums, part->rank, part->rank);
    if (part->rank >= 0) {
        sums->of_rank = room_for(sums->of_rank, &sums->ranks, part->rank + 1, sizeof *sums->of_rank);
        sums->of_rank[part->rank] += total(part->spent);
    }
    add_to_table(&sums->phases, part->phase, part->spent);
    add_to_table(&sums->sites, part->site, part->spent);
    add_piece(sums, part);
    int64_t begin = part->end - total(part->spent);
    for (int what = 0; what < PF_CHAIN_CLASSES; what++) {
        if (part->spent[what] > 0 && (sums->longest_count < PF_CHAIN_LONGEST ||
                                      part->spent[what] > sums->longest[PF_CHAIN_LONGEST - 1].spent))
            add_longest(
                sums, &(struct longest){begin, part->spent[what], part->rank, part->phase, what, part->site});
        begin += part->spent[what];
    }
}

static void add_sums(struct sums *sums, const struct sums *later)
{
    sums->hops += later->hops;
    add_hop(sums, later->first_rank, later->last_rank);
    sums->of_rank = room_for(sums->of_rank, &sums->ranks, later->ranks, sizeof *sums->of_rank);
    for (int i = 0; i < later->ranks; i++)
        sums->of_rank[i] += later->of_rank[i];
    add_table(&sums->phases, &later->phases);
    add_table(&sums->sites, &later->sites);
    for (int i = 0; i < later->pieces; i++)
        add_piece(sums, &later->piece[i]);
    for (int i = 0; i < later->longest_count; i++)
        add_longest(sums, &later->longest[i]);
}

bool pf_chain_nodes_are_many(void)
{
    return pool.in_use >= many;
}

void pf_chain_nodes_added_up(void)
{
    many = 2 * pool.in_use > FEWEST ? 2 * pool.in_use : FEWEST;
}

/* The part before this one, which no other path needs, and all before that one with it. */
static void take_over(struct pf_chain_node *node)
{
    struct pf_chain_node *before = node->before;
    struct sums *sums = before->sums ? before->sums : pf_calloc(1, sizeof *sums);
    add_part(sums, &before->part);
    if (node->sums)
        add_sums(sums, node->sums);
    free_sums(node->sums);
    node->sums = sums;
    node->before = before->before;
    pf_pool_put(&pool, before);
}

/* From the oldest on, so that each part is added once. */
static size_t chain_of(struct pf_chain_node *last, struct pf_chain_node ***chain)
{
    size_t count = 0, at;
    for (const struct pf_chain_node *node = last; node; node = node->before)
        count++;
    *chain = pf_reallocarray(NULL, count + 1, sizeof(struct pf_chain_node *));
    at = count;
    for (struct pf_chain_node *node = last; node; node = node->before)
        (*chain)[--at] = node;
    return count;
}

void pf_chain_nodes_add_up(struct pf_chain_node *last)
{
    struct pf_chain_node **chain;
    size_t count = chain_of(last, &chain);
    for (size_t i = 1; i < count; i++)
        if (chain[i - 1]->references == 1)
            take_over(chain[i]);
    free(chain);
}

static void copy_out(const struct sums *sums, int ranks, struct pf_chain_report *report)
{
    report->hops = sums->hops;
    report->ranks = ranks;
    report->of_rank = pf_calloc((size_t)ranks + 1, sizeof *report->of_rank);
    for (int i = 0; i < ranks && i < sums->ranks; i++)
        report->of_rank[i] = seconds(sums->of_rank[i]);
    copy_table(&sums->phases, &report->phases, &report->phase);
    copy_table(&sums->sites, &report->sites, &report->site);
    int64_t sum[PF_CHAIN_CLASSES] = {0};
    for (int i = 0; i < sums->phases.count; i++)
        add(sum, sums->phases.spent[i]);
    for (int what = 0; what < PF_CHAIN_CLASSES; what++)
        report->sum[what] = seconds(sum[what]);
    report->pieces = sums->pieces;
    for (int i = 0; i < sums->pieces; i++) {
        const struct pf_chain_part *from = &sums->piece[i];
        struct pf_chain_piece *to = &report->piece[i];
        *to = (struct pf_chain_piece){seconds(from->end), from->rank, from->phase, from->site, {0}};
        for (int what = 0; what < PF_CHAIN_CLASSES; what++)
            to->spent[what] = seconds(from->spent[what]);
    }
    report->longest_count = sums->longest_count;
    for (int i = 0; i < sums->longest_count; i++) {
        const struct longest *from = &sums->longest[i];
        report->longest[i].begin = seconds(from->begin);
        report->longest[i].spent = seconds(from->spent);
        report->longest[i].rank = from->rank;
        report->longest[i].phase = from->phase;
        report->longest[i].what = (enum pf_chain_class)from->what;
        report->longest[i].site = from->site;
    }
}

void pf_chain_node_report(struct pf_chain_node *last, int ranks, struct pf_chain_report *report)
{
    struct pf_chain_node **chain;
    size_t count = chain_of(last, &chain);
    struct sums *all = pf_calloc(1, sizeof *all);
    for (size_t i = 0; i < count; i++) {
        if (chain[i]->sums)
            add_sums(all, chain[i]->sums);
        add_part(all, &chain[i]->part);
    }
    free(chain);
    copy_out(all, ranks, report);
    free_sums(all);
}
