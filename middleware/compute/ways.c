/* SPDX-License-Identifier: BSD-3-Clause */
/* Recorded computation by the places of the program between which it was. */
#include "middleware/compute/ways.h"

#include <stdlib.h>

#include "base/memory.h"
#include "loader/image.h"

#define PAGE_BITS 12 /* objects begin and end with pages */
#define ASKS      1u /* in the number of a way to a question */
#define PATIENCE  4  /* calls, after which what a rank is behind is computed in any case */

struct pf_way {
    uint32_t number;
    size_t next, end; /* of its intervals, in the order in which they were recorded */
    uint64_t mean;
};

struct item {
    uint32_t way;
    size_t index;
};

/* Each rank has a copy of the program at another address. */
static uint64_t place_of(struct pf_way_memory *memory, const void *site)
{
    uintptr_t at = (uintptr_t)site, page = at >> PAGE_BITS, inside = at & ((1u << PAGE_BITS) - 1);
    struct pf_image_place place;
    if (!site)
        return 0;
    if (memory->page != page) {
        memory->page = page;
        memory->first = pf_loaded_where(site, &place) ? place.offset - inside : 0;
    }
    return memory->first + inside;
}

uint32_t pf_way_to(struct pf_way_memory *memory, const void *site, bool asks)
{
    uint64_t place = place_of(memory, site);
    uint64_t both = (memory->before * 0x9e3779b97f4a7c15u ^ place) * 0xd6e8feb86659fd93u;
    memory->before = place;
    return ((uint32_t)(both >> 32) & ~ASKS) | (asks ? ASKS : 0);
}

static int in_order(const void *left, const void *right)
{
    const struct item *a = left, *b = right;
    if (a->way != b->way)
        return a->way < b->way ? -1 : 1;
    return a->index < b->index ? -1 : a->index > b->index;
}

static void add_up(struct pf_ways *ways, const struct pf_intervals *recorded)
{
    ways->between = pf_calloc(recorded->count + 1, sizeof *ways->between);
    for (size_t i = 0; i < recorded->count; i++) {
        struct pf_between *between = &ways->between[ways->calls];
        between->sum += recorded->ns[i];
        between->last = recorded->ns[i];
        ways->calls += !(recorded->way[i] & ASKS);
    }
}

void pf_ways_sort(struct pf_ways *ways, const struct pf_intervals *recorded)
{
    struct item *items = pf_calloc(recorded->count, sizeof *items);
    for (size_t i = 0; i < recorded->count; i++)
        items[i] = (struct item){recorded->way[i], i};
    qsort(items, recorded->count, sizeof *items, in_order);
    ways->ns = pf_calloc(recorded->count, sizeof *ways->ns);
    for (size_t i = 0, end; i < recorded->count; i = end) {
        uint64_t sum = 0;
        for (end = i; end < recorded->count && items[end].way == items[i].way; end++)
            sum += ways->ns[end] = recorded->ns[items[end].index];
        ways->ways = pf_reallocarray(ways->ways, ways->count + 1, sizeof *ways->ways);
        ways->ways[ways->count++] = (struct pf_way){items[i].way, i, end, sum / (end - i)};
    }
    free(items);
    add_up(ways, recorded);
}

/* The next one on this way; 0 when nothing was recorded there. */
static uint64_t next_on(struct pf_ways *ways, uint32_t way)
{
    size_t low = 0, high = ways->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (ways->ways[middle].number < way)
            low = middle + 1;
        else
            high = middle;
    }
    struct pf_way *found = &ways->ways[low];
    if (low == ways->count || found->number != way)
        return 0;
    return found->next < found->end ? ways->ns[found->next++] : found->mean;
}

uint64_t pf_ways_next(struct pf_ways *ways, uint32_t way)
{
    uint64_t ns = next_on(ways, way);
    if (ways->next >= ways->calls)
        return ns;
    if (!(way & ASKS)) {
        const struct pf_between *between = &ways->between[ways->next++];
        int64_t most = 2 * (int64_t)between->last, rest = (int64_t)between->sum - ways->ahead;
        ns = rest < 0 ? 0 : rest > most && ways->behind < PATIENCE ? (uint64_t)most : (uint64_t)rest;
        ways->ahead -= (int64_t)between->sum;
        ways->behind = ways->ahead + (int64_t)ns < 0 ? ways->behind + 1 : 0;
    }
    ways->ahead += (int64_t)ns;
    return ns;
}
