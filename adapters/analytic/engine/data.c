/* SPDX-License-Identifier: BSD-3-Clause */
/* Copies the application's data; layouts are those of SMPI's datatypes. */
#include "adapters/analytic/engine/engine.h"

#include <stdlib.h>
#include <string.h>

#include "adapters/local/local.h"
#include "adapters/local/types.h"
#include "base/memory.h"
#include "pf_fn.h"

/* Blocks of 64 bytes, 128 bytes ... 4 MiB; larger ones come from malloc(), which maps new pages each time. */
#define CLASSES 17

static void *free_rooms[CLASSES];

static size_t class_bytes(int class)
{
    return (size_t)64 << class;
}

char *an_data_room(size_t bytes, int *class)
{
    int c = 0;
    while (c < CLASSES && class_bytes(c) < bytes)
        c++;
    *class = c;
    if (c < CLASSES && free_rooms[c]) {
        void *room = free_rooms[c];
        free_rooms[c] = *(void **)room;
        return room;
    }
    char *room = pf_malloc(c < CLASSES ? class_bytes(c) : bytes);
    return room;
}

void an_data_give_back(char *room, int class)
{
    if (class == CLASSES) {
        free(room);
        return;
    }
    *(void **)room = free_rooms[class];
    free_rooms[class] = room;
}

int an_check_data(int count, MPI_Datatype type)
{
    if (count < 0)
        return MPI_ERR_COUNT;
    return pf_local_type_is_ready(type) ? MPI_SUCCESS : MPI_ERR_TYPE;
}

bool an_data_is_derived(MPI_Datatype type)
{
    return pf_local_type_is_derived(type);
}

bool an_data_has_gaps(MPI_Datatype type)
{
    return pf_local_type_is_derived(type) &&
           (ptrdiff_t)pf_local_type_size(type) != pf_local_type_extent(type);
}

size_t an_data_bytes(int count, MPI_Datatype type)
{
    return count > 0 ? (size_t)count * pf_local_type_size(type) : 0;
}

size_t an_data_sent(int count, MPI_Datatype type)
{
    const struct {
        MPI_Datatype type;
        size_t bytes;
    } pairs[] = {{MPI_DOUBLE_INT, sizeof(double) + sizeof(int)},
                 {MPI_LONG_INT, sizeof(long) + sizeof(int)},
                 {MPI_SHORT_INT, sizeof(short) + sizeof(int)},
                 {MPI_LONG_DOUBLE_INT, sizeof(long double) + sizeof(int)}};
    for (size_t i = 0; count > 0 && i < sizeof pairs / sizeof pairs[0]; i++)
        if (type == pairs[i].type)
            return (size_t)count * pairs[i].bytes;
    return an_data_bytes(count, type);
}

void an_data_pack(const void *from, int count, MPI_Datatype type, char *packed)
{
    if (!an_job.moves_data || count <= 0)
        return;
    if (pf_local_type_is_derived(type))
        pf_local_type_serialize(type, count, from, packed);
    else
        memcpy(packed, from, an_data_bytes(count, type));
}

void an_data_unpack(const char *packed, size_t bytes, void *to, MPI_Datatype type)
{
    if (an_job.moves_data)
        pf_local_type_unpack_bytes(type, packed, bytes, to);
}

/* Copies data of a derived type by packing them. Both addresses may be the same, MPI_BOTTOM for example, and
 * the data still be elsewhere. */
static void repack(const void *from, int from_count, MPI_Datatype from_type, void *to, MPI_Datatype to_type,
                   size_t bytes)
{
    int class;
    char *room = an_data_room(an_data_bytes(from_count, from_type), &class);
    an_data_pack(from, from_count, from_type, room);
    an_data_unpack(room, bytes, to, to_type);
    an_data_give_back(room, class);
}

void an_data_move(const void *from, int from_count, MPI_Datatype from_type, void *to, int to_count,
                  MPI_Datatype to_type)
{
    size_t bytes = an_data_bytes(from_count, from_type), room = an_data_bytes(to_count, to_type);
    if (room < bytes)
        bytes = room;
    if (!an_job.moves_data || bytes == 0 || (from == to && from_type == to_type))
        return;
    if (pf_local_type_is_derived(from_type))
        repack(from, from_count, from_type, to, to_type, bytes);
    else if (pf_local_type_is_derived(to_type))
        an_data_unpack(from, bytes, to, to_type);
    else
        memmove(to, from, bytes);
}

/* Where `count` items lie, seen from the address of the first: a type may reach to both sides of it. */
static void span_of(int count, MPI_Datatype type, ptrdiff_t *first, ptrdiff_t *last)
{
    ptrdiff_t step = pf_local_type_extent(type) * (count - 1);
    pf_local_type_span(type, first, last);
    *(step < 0 ? first : last) += step;
}

void an_items_take(struct an_items *copy, const void *from, int count, MPI_Datatype type)
{
    ptrdiff_t first = 0, last = (ptrdiff_t)an_data_bytes(count, type);
    if (pf_local_type_is_derived(type) && count > 0)
        span_of(count, type, &first, &last);
    copy->room = an_data_room((size_t)(last - first), &copy->class);
    copy->items = copy->room - first;
    an_items_copy(from, copy->items, count, type);
}

void an_items_give_back(struct an_items *copy)
{
    if (copy->room)
        an_data_give_back(copy->room, copy->class);
    copy->room = copy->items = NULL;
}

void an_items_copy(const void *from, void *to, int count, MPI_Datatype type)
{
    if (count <= 0 || from == to)
        return;
    if (pf_local_type_is_derived(type))
        pf_local_type_copy(type, count, from, to);
    else
        memcpy(to, from, an_data_bytes(count, type));
}

/* ---- MPI_Pack and its like: SMPI's, which checks the communicator and does not use it ---- */

static int an_pack(const void *from, int count, MPI_Datatype type, void *packed, int size, int *position,
                   MPI_Comm comm)
{
    return comm ? pf_local_pack(from, count, type, packed, size, position, MPI_COMM_WORLD) : MPI_ERR_COMM;
}

static int an_unpack(const void *packed, int size, int *position, void *to, int count, MPI_Datatype type,
                     MPI_Comm comm)
{
    return comm ? pf_local_unpack(packed, size, position, to, count, type, MPI_COMM_WORLD) : MPI_ERR_COMM;
}

static int an_pack_size(int count, MPI_Datatype type, MPI_Comm comm, int *size)
{
    return comm ? pf_local_pack_size(count, type, MPI_COMM_WORLD, size) : MPI_ERR_COMM;
}

void an_data_install(struct pf_own_fn *fn)
{
    fn->Pack = an_pack;
    fn->Unpack = an_unpack;
    fn->Pack_size = an_pack_size;
}
