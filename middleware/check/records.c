/* SPDX-License-Identifier: BSD-3-Clause */
/* What is known about the handles of a rank: looking it up. */
#include <stdlib.h>

#include "base/memory.h"
#include "base/pool.h"
#include "middleware/check/internal.h"

static struct pf_pool records = PF_POOL(struct pf_check_record);

/* Where the key is, or could be. There is a free place. */
static struct pf_check_place_of *place_of(const struct pf_check *check, uintptr_t key)
{
    size_t mask = check->records.capacity - 1;
    size_t at = (size_t)((uint64_t)key * UINT64_C(0x9e3779b97f4a7c15) >> 32) & mask;
    while (check->records.places[at].record && check->records.places[at].key != key)
        at = (at + 1) & mask;
    return &check->records.places[at];
}

struct pf_check_record *pf_check_find_key(struct pf_rank *r, uintptr_t key)
{
    return r->check->records.count ? place_of(r->check, key)->record : NULL;
}

struct pf_check_record *pf_check_find(struct pf_rank *r, const void *handle)
{
    return pf_check_find_key(r, (uintptr_t)handle);
}

static void grow(struct pf_check *check)
{
    struct pf_check_place_of *old = check->records.places;
    size_t count = check->records.capacity;
    check->records.capacity = count ? 2 * count : 64;
    check->records.places = pf_calloc(check->records.capacity, sizeof *old);
    for (size_t i = 0; i < count; i++)
        if (old[i].record)
            *place_of(check, old[i].key) = old[i];
    free(old);
}

struct pf_check_record *pf_check_add(struct pf_rank *r, uintptr_t key)
{
    struct pf_check *check = r->check;
    if (2 * check->records.count >= check->records.capacity)
        grow(check);
    struct pf_check_place_of *place = place_of(check, key);
    *place = (struct pf_check_place_of){key, pf_pool_get(&records)};
    check->records.count++;
    return place->record;
}

static int by_order(const void *a, const void *b)
{
    const struct pf_check_record *const *x = a, *const *y = b;
    return (*x)->order < (*y)->order ? -1 : 1;
}

struct pf_check_record **pf_check_all_records(struct pf_rank *r)
{
    const struct pf_check *check = r->check;
    size_t count = 0;
    struct pf_check_record **all = pf_calloc(check->records.count + 1, sizeof(struct pf_check_record *));
    for (size_t i = 0; i < check->records.capacity; i++)
        if (check->records.places[i].record)
            all[count++] = check->records.places[i].record;
    qsort(all, count, sizeof(struct pf_check_record *), by_order);
    return all;
}
