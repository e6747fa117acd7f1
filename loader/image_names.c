/* SPDX-License-Identifier: BSD-3-Clause */
/* Names of an image, thousands of them, which are put in order at every start. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "loader/image_layout.h"

/* Buckets of the names whose hashes begin alike: there are about as many as names. */
enum { BUCKET_BITS = 12, BUCKETS = 1 << BUCKET_BITS };

static size_t bucket(uint32_t hash)
{
    return hash >> (32 - BUCKET_BITS);
}

/* Long names that begin alike: their FNV-1a hashes differ sooner than their letters. */
static uint32_t hash_of(const char *name)
{
    uint32_t h = 2166136261U;
    for (; *name; name++)
        h = (h ^ (unsigned char)*name) * 16777619U;
    return h;
}

void pf_image_names_add(struct pf_image_names *names, struct pf_image_name name)
{
    if (names->count == names->room)
        names->list = pf_reallocarray(names->list, names->room = 2 * names->room + 256, sizeof *names->list);
    name.hash = hash_of(name.name);
    names->list[names->count++] = name;
}

/* Those of a name in the order in which they came. */
static int compare(const struct pf_image_name *a, const struct pf_image_name *b)
{
    if (a->hash != b->hash)
        return a->hash < b->hash ? -1 : 1;
    int order = strcmp(a->name, b->name);
    if (order == 0)
        order = (a->object > b->object) - (a->object < b->object);
    return order ? order : (a->place > b->place) - (a->place < b->place);
}

void pf_image_names_sort(struct pf_image_names *names)
{
    struct pf_image_name *sorted = pf_calloc(names->count + 1, sizeof *sorted);
    uint32_t *begins = pf_calloc(BUCKETS + 1, sizeof *begins);
    for (size_t i = 0; i < names->count; i++)
        begins[bucket(names->list[i].hash)]++;
    for (size_t b = 0, before = 0; b <= BUCKETS; b++) {
        size_t here = begins[b];
        begins[b] = (uint32_t)before;
        before += here;
    }
    for (size_t i = 0; i < names->count; i++) /* moves the beginnings to the ends, which are the next's */
        sorted[begins[bucket(names->list[i].hash)]++] = names->list[i];
    memmove(begins + 1, begins, BUCKETS * sizeof *begins);
    begins[0] = 0;
    for (size_t b = 0; b < BUCKETS; b++)
        for (size_t i = begins[b] + 1; i < begins[b + 1]; i++) {
            struct pf_image_name one = sorted[i];
            size_t to = i;
            for (; to > begins[b] && compare(&sorted[to - 1], &one) > 0; to--)
                sorted[to] = sorted[to - 1];
            sorted[to] = one;
        }
    free(names->list);
    names->list = sorted;
    names->room = names->count;
    names->begins = begins;
}

const struct pf_image_name *pf_image_names_find(const struct pf_image_names *names, const char *name)
{
    uint32_t wanted = hash_of(name);
    size_t b = bucket(wanted);
    for (size_t i = names->begins[b]; i < names->begins[b + 1]; i++)
        if (names->list[i].hash == wanted && strcmp(names->list[i].name, name) == 0)
            return &names->list[i];
    return NULL;
}

void pf_image_names_free(struct pf_image_names *names)
{
    free(names->list);
    free(names->begins);
}
