/* SPDX-License-Identifier: BSD-3-Clause */
/* The past of paths: a tree of parts, of which those that belong together are added up. */
#include "lowlevel/engine/history.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/pool.h"

enum { HINT_BITS = 4, HINTS = 1 << HINT_BITS, FEWEST_WAYS = 16 };

/* Of several parts, the oldest first. */
struct sums {
    uint64_t hops;
    int first_rank, last_rank; /* of the first part and of the last one */
    int ranks;
    int64_t *of_rank;
    struct shares {
        int count, room;
        int hint[HINTS]; /* where keys were found */
        struct share {
            int64_t key, spent[PF_CHAIN_CLASSES];
        } * at; /* by key */
    } places;
    struct ways { /* by route; split between links at the end, so that it matters not what was added when */
        uint32_t count, room; /* room: 0 or a power of two, of which half is used at most */
        struct way {
            struct pf_chain_message message;
            int64_t latency, transfer; /* both 0: a free place */
        } * at;
    } ways;
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

pf_chain_cross_fn *pf_chain_node_cross;

static struct pf_pool pool = PF_POOL(struct pf_chain_node);
/* So many parts stay in the caches where ranks are few. */
enum { FEWEST_OF_RANK = 32, FEWEST_OF_JOB = 128 };
static size_t fewest = FEWEST_OF_JOB, many = FEWEST_OF_JOB;

void pf_chain_nodes_begin(int ranks)
{
    size_t wanted = FEWEST_OF_RANK * (size_t)ranks;
    many = fewest = wanted > FEWEST_OF_JOB ? wanted : FEWEST_OF_JOB;
}

struct pf_chain_node *pf_chain_node_new(struct pf_chain_node *before, const struct pf_chain_part *part)
{
    struct pf_chain_node *node = pf_pool_get(&pool);
    node->before = before;
    node->sums = NULL;
    node->references = 1;
    pf_chain_copy_words(&node->part, part, sizeof *part);
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
    free(sums->ways.at);
    free(sums->places.at);
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
static __attribute__((noinline)) void *grow(void *array, int *have, int wanted, size_t size)
{
    int count = wanted > 2 * *have ? wanted : 2 * *have;
    array = pf_array_extend(array, (size_t)*have, (size_t)count, size);
    *have = count;
    return array;
}

static inline void *room_for(void *array, int *have, int wanted, size_t size)
{
    return array && wanted <= *have ? array : grow(array, have, wanted, size);
}

static double seconds(int64_t units)
{
    return (double)units * PF_CHAIN_UNIT;
}

static void in_seconds(double to[PF_CHAIN_CLASSES], const int64_t spent[PF_CHAIN_CLASSES])
{
    for (int what = 0; what < PF_CHAIN_CLASSES; what++)
        to[what] = seconds(spent[what]);
}

static __attribute__((noinline)) int look_up(struct shares *shares, int64_t key)
{
    int first = 0, behind = shares->count;
    while (first < behind) {
        int middle = first + (behind - first) / 2;
        if (shares->at[middle].key < key)
            first = middle + 1;
        else
            behind = middle;
    }
    if (first == shares->count || shares->at[first].key != key) {
        shares->at = room_for(shares->at, &shares->room, shares->count + 1, sizeof *shares->at);
        memmove(&shares->at[first + 1], &shares->at[first],
                (size_t)(shares->count++ - first) * sizeof *shares->at);
        shares->at[first] = (struct share){.key = key};
    }
    return first;
}

static inline int64_t *share_of(struct shares *shares, int64_t key)
{
    int *hint = &shares->hint[(uint64_t)key * 0x9E3779B97F4A7C15u >> (64 - HINT_BITS)];
    if (*hint >= shares->count || shares->at[*hint].key != key)
        *hint = look_up(shares, key);
    return shares->at[*hint].spent;
}

static void add_shares(struct shares *shares, const struct shares *later)
{
    for (int i = 0; i < later->count; i++)
        add(share_of(shares, later->at[i].key), later->at[i].spent);
}

/* By number; what has none is 0. */
static void copy_table(struct shares *shares, int *count, double (**out)[PF_CHAIN_CLASSES])
{
    *count = shares->count ? (int)shares->at[shares->count - 1].key + 1 : 0;
    *out = pf_calloc((size_t)*count + 1, sizeof **out);
    for (int i = 0; i < shares->count; i++)
        in_seconds((*out)[shares->at[i].key], shares->at[i].spent);
    free(shares->at);
}

static int64_t key_of_link(int kind, int number)
{
    return (int64_t)kind << 32 | (uint32_t)number;
}

static inline bool is_same_way(const struct pf_chain_message *a, const struct pf_chain_message *b)
{
    return a->from == b->from && a->to == b->to && a->link == b->link && a->routes == b->routes &&
           a->back == b->back;
}

static inline struct way *place_of(const struct ways *ways, const struct pf_chain_message *message)
{
    uint32_t hash = (uint32_t)message->from * 31 + (uint32_t)message->to * 17 + (uint32_t)message->link * 7 +
                    message->back;
    for (uint32_t i = (hash * 0x9E3779B1u) >> 16;; i++) {
        struct way *way = &ways->at[i & (ways->room - 1)];
        if ((way->latency | way->transfer) == 0 || is_same_way(&way->message, message))
            return way;
    }
}

static __attribute__((noinline)) void enlarge(struct ways *ways)
{
    struct ways more = {.count = ways->count, .room = ways->room ? 2 * ways->room : FEWEST_WAYS};
    more.at = pf_calloc(more.room, sizeof *more.at);
    for (uint32_t i = 0; i < ways->room; i++)
        if ((ways->at[i].latency | ways->at[i].transfer) != 0)
            *place_of(&more, &ways->at[i].message) = ways->at[i];
    free(ways->at);
    *ways = more;
}

static inline void add_way(struct ways *ways, const struct pf_chain_message *message, int64_t latency,
                           int64_t transfer)
{
    if ((latency | transfer) == 0)
        return;
    if (2 * ways->count >= ways->room)
        enlarge(ways);
    struct way *way = place_of(ways, message);
    if ((way->latency | way->transfer) == 0) {
        way->message = *message;
        ways->count++;
    }
    way->latency += latency;
    way->transfer += transfer;
}

static void add_ways(struct ways *ways, const struct ways *later)
{
    for (uint32_t i = 0; i < later->room; i++)
        add_way(ways, &later->at[i].message, later->at[i].latency, later->at[i].transfer);
}

/* Of a part: phase, site, call and class of message, from which all sums but those of ranks and links come.
 */
enum { SIZE_BITS = 3, PROTOCOL_BITS = 4, CALL_BITS = 12, SITE_BITS = 22, PHASE_BITS = 22 };
_Static_assert(PF_CHAIN_SIZES <= 1 << SIZE_BITS && PF_CHAIN_PROTOCOLS <= 1 << PROTOCOL_BITS, "they fit");
_Static_assert(PF_CHAIN_CALLS <= 1 << CALL_BITS, "they fit");

/* Sites without a number of their own count as none, phases as the last one. */
static inline int below(int number, int bits, int otherwise)
{
    return number < 1 << bits ? number : otherwise;
}

static inline int64_t key_of_place(const struct pf_chain_part *part)
{
    const struct pf_chain_message *m = &part->message;
    int64_t phase = below(part->phase, PHASE_BITS, (1 << PHASE_BITS) - 1);
    int64_t place = (phase << SITE_BITS | below(part->site, SITE_BITS, 0)) << CALL_BITS | part->call;
    return (place << PROTOCOL_BITS | m->protocol) << SIZE_BITS | m->size;
}

/* The number in a key's last bits, which it then lacks. */
static int taken(int64_t *key, int bits)
{
    int number = (int)(*key & ((1 << bits) - 1));
    *key >>= bits;
    return number;
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

static bool is_same_place(const struct pf_chain_part *a, const struct pf_chain_part *b)
{
    return a->rank == b->rank && a->phase == b->phase && a->site == b->site;
}

/* A place that is left with a message and not by the rank remains one piece. */
static void add_piece(struct sums *sums, const struct pf_chain_part *part)
{
    struct pf_chain_part *last = sums->pieces > 0 ? &sums->piece[sums->pieces - 1] : NULL;
    if (last && is_same_place(last, part)) {
        last->end = part->end;
        add(last->spent, part->spent);
        return;
    }
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
    add(share_of(&sums->places, key_of_place(part)), part->spent);
    add_way(&sums->ways, &part->message, part->spent[PF_CHAIN_LATENCY], part->spent[PF_CHAIN_TRANSFER]);
    add_piece(sums, part);
    int64_t begin = part->end - total(part->spent);
    for (int what = 0; what < PF_CHAIN_CLASSES; begin += part->spent[what++])
        if (part->spent[what] > sums->longest[PF_CHAIN_LONGEST - 1].spent) /* 0: there is none */
            add_longest(
                sums, &(struct longest){begin, part->spent[what], part->rank, part->phase, what, part->site});
}

static void add_sums(struct sums *sums, const struct sums *later)
{
    sums->hops += later->hops;
    add_hop(sums, later->first_rank, later->last_rank);
    sums->of_rank = room_for(sums->of_rank, &sums->ranks, later->ranks, sizeof *sums->of_rank);
    for (int i = 0; i < later->ranks; i++)
        sums->of_rank[i] += later->of_rank[i];
    add_shares(&sums->places, &later->places);
    add_ways(&sums->ways, &later->ways);
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
    many = 2 * pool.in_use > fewest ? 2 * pool.in_use : fewest;
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

/* From the oldest on, so that each part is added once. Until the next call. */
static size_t chain_of(struct pf_chain_node *last, struct pf_chain_node ***chain)
{
    static struct pf_chain_node **room;
    static size_t size;
    size_t at = size;
    for (struct pf_chain_node *node = last; node; node = node->before) {
        if (at == 0) {
            size_t more = size > 0 ? size : 256;
            room = pf_reallocarray(room, size + more, sizeof(struct pf_chain_node *));
            memmove(room + more, room, size * sizeof(struct pf_chain_node *));
            size += more;
            at = more;
        }
        room[--at] = node;
    }
    *chain = room + at;
    return size - at;
}

void pf_chain_nodes_add_up(struct pf_chain_node *last)
{
    struct pf_chain_node **chain;
    size_t count = chain_of(last, &chain);
    for (size_t i = 1; i < count; i++)
        if (chain[i - 1]->references == 1)
            take_over(chain[i]);
}

/* The latency of several links is split between them so that it stays the same in all. */
static void split(struct shares *shares, const struct way *way)
{
    int64_t latency = way->latency, transfer = way->transfer, given = 0;
    const struct pf_chain_link unseen = {PF_CHAIN_LINK_UNSEEN, way->message.routes, 0}, *links = &unseen;
    int count = 1, longest = 0;
    double whole = 0, sum = 0;
    if (pf_chain_node_cross && way->message.routes)
        count = pf_chain_node_cross(&way->message, &links, &longest);
    for (int i = 0; i < count; i++)
        whole += links[i].latency;
    for (int i = 0; i < count; i++) {
        sum += whole > 0 ? links[i].latency / whole : 1.0 / count;
        int64_t until = i + 1 < count ? (int64_t)((double)latency * sum + 0.5) : latency;
        if (until > given || (i == longest && transfer > 0)) {
            int64_t *spent = share_of(shares, key_of_link(links[i].kind, links[i].number));
            spent[PF_CHAIN_LATENCY] += until - given;
            spent[PF_CHAIN_TRANSFER] += i == longest ? transfer : 0;
        }
        given = until;
    }
}

static void copy_links(const struct sums *sums, struct pf_chain_report *report)
{
    struct shares all = {0};
    for (uint32_t i = 0; i < sums->ways.room; i++)
        if ((sums->ways.at[i].latency | sums->ways.at[i].transfer) != 0)
            split(&all, &sums->ways.at[i]);
    report->link = pf_calloc((size_t)all.count + 1, sizeof *report->link);
    for (int i = 0; i < all.count; i++) {
        const struct share *from = &all.at[i];
        report->link[report->links++] = (struct pf_chain_link_share){
            (int)(from->key >> 32), (int)(from->key & UINT32_MAX), seconds(from->spent[PF_CHAIN_LATENCY]),
            seconds(from->spent[PF_CHAIN_TRANSFER])};
    }
    free(all.at);
}

/* Adds these classes, if there is any time of them. */
static void add_classes(struct shares *shares, int64_t key, const int64_t spent[PF_CHAIN_CLASSES],
                        unsigned classes)
{
    for (int what = 0; what < PF_CHAIN_CLASSES; what++)
        if ((classes >> what & 1) && spent[what] > 0)
            share_of(shares, key)[what] += spent[what];
}

/* What ranks do is no message's. */
static void copy_messages(const struct sums *sums, struct pf_chain_report *report)
{
    enum { OF_RANKS = 1 << PF_CHAIN_COMPUTATION | 1 << PF_CHAIN_SOFTWARE | 1 << PF_CHAIN_FILES };
    struct shares all = {0};
    for (int i = 0; i < sums->places.count; i++) {
        const struct share *from = &sums->places.at[i];
        add_classes(&all, 0, from->spent, OF_RANKS);
        add_classes(&all, from->key & ((1 << (CALL_BITS + PROTOCOL_BITS + SIZE_BITS)) - 1), from->spent,
                    ~OF_RANKS);
    }
    report->message = pf_calloc((size_t)all.count + 1, sizeof *report->message);
    for (int i = 0; i < all.count; i++) {
        struct pf_chain_message_share *to = &report->message[report->messages++];
        int64_t key = all.at[i].key;
        to->size = taken(&key, SIZE_BITS);
        to->protocol = taken(&key, PROTOCOL_BITS);
        to->call = (int)key;
        in_seconds(to->spent, all.at[i].spent);
    }
    free(all.at);
}

/* And what there is in all. */
static void copy_places(const struct sums *sums, struct pf_chain_report *report)
{
    struct shares phases = {0}, sites = {0};
    int64_t sum[PF_CHAIN_CLASSES] = {0};
    for (int i = 0; i < sums->places.count; i++) {
        const struct share *from = &sums->places.at[i];
        int64_t key = from->key >> (CALL_BITS + PROTOCOL_BITS + SIZE_BITS);
        add(share_of(&sites, taken(&key, SITE_BITS)), from->spent);
        add(share_of(&phases, key), from->spent);
        add(sum, from->spent);
    }
    copy_table(&phases, &report->phases, &report->phase);
    copy_table(&sites, &report->sites, &report->site);
    in_seconds(report->sum, sum);
}

static void copy_out(struct sums *sums, int ranks, struct pf_chain_report *report)
{
    copy_links(sums, report);
    copy_messages(sums, report);
    copy_places(sums, report);
    report->hops = sums->hops;
    report->ranks = ranks;
    report->of_rank = pf_calloc((size_t)ranks + 1, sizeof *report->of_rank);
    for (int i = 0; i < ranks && i < sums->ranks; i++)
        report->of_rank[i] = seconds(sums->of_rank[i]);
    report->pieces = sums->pieces;
    for (int i = 0; i < sums->pieces; i++) {
        const struct pf_chain_part *from = &sums->piece[i];
        struct pf_chain_piece *to = &report->piece[i];
        *to = (struct pf_chain_piece){seconds(from->end), from->rank, from->phase, from->site, {0}};
        in_seconds(to->spent, from->spent);
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
    copy_out(all, ranks, report);
    free_sums(all);
}
