/* SPDX-License-Identifier: BSD-3-Clause */
/* Hides what is loaded already from the dynamic linker's search while a copy is opened. */
#include "loader/link_map.h"

#include <link.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/* A piece of the linker's list: maps that follow each other. */
struct run {
    struct link_map *first, *last;
};

static struct {
    struct run all; /* the clones of all ranks, with nothing between them */
    struct run *ranks;
    int capacity;
    struct link_map *before, *after; /* neighbours of the clones that are shown, while others are hidden */
    struct link_map *anchor;         /* the last map that is no clone, while others are hidden */
} clones;

static void join(struct link_map *left, struct link_map *right)
{
    if (left)
        left->l_next = right;
    if (right)
        right->l_prev = left;
}

static struct link_map *last_of_list(struct link_map *map)
{
    while (map->l_next)
        map = map->l_next;
    return map;
}

static struct run *run_of(int rank)
{
    if (rank >= clones.capacity) {
        int capacity = 2 * rank + 16;
        clones.ranks = pf_realloc(clones.ranks, (size_t)capacity * sizeof *clones.ranks);
        memset(clones.ranks + clones.capacity, 0,
               (size_t)(capacity - clones.capacity) * sizeof *clones.ranks);
        clones.capacity = capacity;
    }
    return &clones.ranks[rank];
}

/* What others have loaded since the last clone goes before the clones: it is always shown. */
static void move_others(void)
{
    struct run others = {clones.all.last->l_next, NULL};
    if (!others.first)
        return;
    others.last = last_of_list(others.first);
    join(clones.all.last, NULL);
    join(clones.all.first->l_prev, others.first);
    join(others.last, clones.all.first);
}

void pf_link_map_hide(int rank)
{
    const struct run *own = run_of(rank);
    if (!clones.all.first) {
        clones.anchor = last_of_list(_r_debug.r_map);
        return;
    }
    move_others();
    clones.anchor = clones.all.first->l_prev;
    if (own->first) {
        clones.before = own->first->l_prev;
        clones.after = own->last->l_next;
        join(own->last, NULL);
    }
    join(clones.anchor, own->first);
}

static int is_clone(const struct link_map *map, const char *directory)
{
    size_t length = strlen(directory);
    return strncmp(map->l_name, directory, length) == 0 && map->l_name[length] == '/';
}

static void append(struct run *run, struct link_map *map)
{
    if (run->first)
        join(run->last, map);
    else
        run->first = map;
    run->last = map;
}

void pf_link_map_show(int rank, const char *directory)
{
    struct run *own = run_of(rank), others = {NULL, NULL};
    struct link_map *next = own->first ? own->last->l_next : clones.anchor->l_next;
    bool had_clones = own->first != NULL;
    for (struct link_map *map = next; map; map = next) {
        next = map->l_next;
        append(is_clone(map, directory) ? own : &others, map);
    }
    if (others.first) {
        join(clones.anchor, others.first);
        clones.anchor = others.last;
    }
    if (!own->first) { /* nothing was opened */
        join(clones.anchor, clones.all.first);
        return;
    }
    if (had_clones) {
        /* Back to its old place. It may have been the first or the last of all. */
        bool leads = clones.all.first == own->first, ends = !clones.after;
        join(clones.anchor, leads ? own->first : clones.all.first);
        if (!leads)
            join(clones.before, own->first);
        join(own->last, clones.after);
        if (ends)
            clones.all.last = own->last;
        return;
    }
    join(own->last, NULL);
    join(clones.anchor, clones.all.first ? clones.all.first : own->first);
    if (clones.all.first)
        join(clones.all.last, own->first);
    else
        clones.all.first = own->first;
    clones.all.last = own->last;
}
