/* SPDX-License-Identifier: BSD-3-Clause */
/* Thread keys for libraries of which every rank has a copy, in one thread. */
#include "loader/keys.h"

#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* The values of a key, by owner. */
struct key {
    const void **values;
    size_t room;
};

static struct {
    struct key *keys; /* by number, those of the C library first */
    size_t room;
    pthread_key_t next;
} all = {.next = PTHREAD_KEYS_MAX};

/* Makes room for `index` in an array of entries that begin as zeroes. */
static int grow(void **array, size_t *room, size_t index, size_t entry)
{
    size_t more = 2 * index + 1;
    if (index < *room)
        return 0;
    char *grown = reallocarray(*array, more, entry);
    if (!grown)
        return ENOMEM;
    memset(grown + *room * entry, 0, (more - *room) * entry);
    *array = grown;
    *room = more;
    return 0;
}

int pf_keys_create(pthread_key_t *key)
{
    int error = grow((void **)&all.keys, &all.room, all.next, sizeof *all.keys);
    if (!error)
        *key = all.next++;
    return error;
}

void *pf_keys_get(pthread_key_t key, size_t owner)
{
    if (key >= all.room || owner >= all.keys[key].room)
        return NULL;
    return (void *)(uintptr_t)all.keys[key].values[owner];
}

int pf_keys_set(pthread_key_t key, size_t owner, const void *value)
{
    int error = grow((void **)&all.keys, &all.room, key, sizeof *all.keys);
    if (!error)
        error = grow((void **)&all.keys[key].values, &all.keys[key].room, owner, sizeof value);
    if (!error)
        all.keys[key].values[owner] = value;
    return error;
}
