/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Data of a window move in events, where SMPI's datatypes cannot be used: they need the context of a rank,
 * and the application may have freed them. So the call walks through SMPI's datatype once and stores its
 * layout.
 */
#include "adapters/analytic/rma/memory/window.h"

#include <string.h>

#include "adapters/local/types.h"
#include "base/memory.h"

enum { MOST_ITEMS = 1 << 30 }; /* that an operation combines at once */

/* The blocks of the layout that is being made; reused, as large as the largest one so far. */
static struct {
    struct an_block *blocks;
    int count, capacity;
    MPI_Datatype basic;
} found;

static void add_block(ptrdiff_t offset, size_t bytes)
{
    PF_ARRAY_ROOM(found.blocks, found.capacity, found.count + 1);
    found.blocks[found.count++] = (struct an_block){offset, bytes};
}

static void visit(ptrdiff_t offset, int items, void *basic)
{
    size_t bytes = (size_t)items * pf_local_type_size(basic);
    struct an_block *last = found.count ? &found.blocks[found.count - 1] : NULL;
    if (bytes == 0)
        return;
    if (last && last->offset + (ptrdiff_t)last->bytes == offset)
        last->bytes += bytes;
    else
        add_block(offset, bytes);
    if (!found.basic || pf_local_type_size(basic) > pf_local_type_size(found.basic))
        found.basic = basic;
}

static void find_span(struct an_layout *layout)
{
    layout->first = found.blocks[0].offset;
    layout->last = layout->first;
    for (int i = 0; i < found.count; i++) {
        ptrdiff_t end = found.blocks[i].offset + (ptrdiff_t)found.blocks[i].bytes;
        if (found.blocks[i].offset < layout->first)
            layout->first = found.blocks[i].offset;
        if (end > layout->last)
            layout->last = end;
    }
}

static void keep_blocks(struct an_layout *layout)
{
    size_t bytes = (size_t)found.count * sizeof *found.blocks;
    layout->count = found.count;
    layout->blocks = (struct an_block *)(void *)an_data_room(bytes, &layout->class);
    memcpy(layout->blocks, found.blocks, bytes);
}

void an_layout_make(struct an_layout *layout, char *at, int count, MPI_Datatype type)
{
    *layout = (struct an_layout){.at = at, .bytes = an_data_bytes(count, type), .basic = type};
    layout->last = (ptrdiff_t)layout->bytes;
    if (layout->bytes == 0 || !an_data_is_derived(type))
        return;
    found.count = 0;
    found.basic = NULL;
    pf_local_type_walk(type, count, visit);
    layout->basic = found.basic;
    find_span(layout);
    if (found.count > 1) {
        keep_blocks(layout);
        return;
    }
    layout->at = (char *)((intptr_t)layout->at + found.blocks[0].offset);
    layout->last -= layout->first;
    layout->first = 0;
}

void an_layout_drop(struct an_layout *layout)
{
    if (layout->blocks)
        an_data_give_back((char *)layout->blocks, layout->class);
    layout->blocks = NULL;
}

/* The blocks of the first `bytes` bytes, one after the other. */
struct walk {
    const struct an_layout *layout;
    size_t left;
    int next;
};

static struct walk walk_begin(const struct an_layout *layout, size_t bytes)
{
    return (struct walk){layout, bytes < layout->bytes ? bytes : layout->bytes, 0};
}

static bool walk_on(struct walk *walk, char **at, size_t *bytes)
{
    const struct an_layout *layout = walk->layout;
    if (walk->left == 0)
        return false;
    *at = layout->at;
    *bytes = walk->left;
    if (layout->blocks) {
        const struct an_block *block = &layout->blocks[walk->next++];
        *at = (char *)((intptr_t)layout->at + block->offset);
        if (block->bytes < walk->left)
            *bytes = block->bytes;
    }
    walk->left -= *bytes;
    return true;
}

void an_layout_read(const struct an_layout *layout, char *packed, size_t bytes)
{
    struct walk walk = walk_begin(layout, bytes);
    char *at;
    size_t part;
    for (; walk_on(&walk, &at, &part); packed += part)
        memcpy(packed, at, part);
}

void an_layout_write(const struct an_layout *layout, const char *packed, size_t bytes)
{
    struct walk walk = walk_begin(layout, bytes);
    char *at;
    size_t part;
    for (; walk_on(&walk, &at, &part); packed += part)
        memcpy(at, packed, part);
}

void an_layout_combine(const struct an_layout *layout, const char *packed, size_t bytes, MPI_Op op,
                       MPI_Datatype basic)
{
    struct walk walk = walk_begin(layout, bytes);
    size_t item = pf_local_type_size(basic), part;
    char *at;
    while (walk_on(&walk, &at, &part))
        for (size_t items = part / item, n; items > 0; items -= n, packed += n * item, at += n * item) {
            n = items < MOST_ITEMS ? items : MOST_ITEMS;
            pf_local_op_combine(op, basic, (int)n, packed, at);
        }
}
