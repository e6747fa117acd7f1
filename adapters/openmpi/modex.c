/* SPDX-License-Identifier: BSD-3-Clause */
/* What ranks publish for each other when they start. */
#include "adapters/openmpi/modex.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

struct value {
    int type;
    size_t size;
    void *data; /* NULL: not published */
};

struct pf_modex_key {
    char *name;
    struct value *values; /* by rank */
    int room;
    struct pf_modex_key *next;
};

static struct pf_modex_key *find(struct pf_modex_key *key, const char *name)
{
    while (key && strcmp(key->name, name) != 0)
        key = key->next;
    return key;
}

void pf_modex_put(struct pf_modex_key **keys, int rank, const char *name, int type, const void *data,
                  size_t n)
{
    struct pf_modex_key *key = find(*keys, name);
    if (!key) {
        key = pf_calloc(1, sizeof *key);
        *key = (struct pf_modex_key){.name = pf_strdup(name), .next = *keys};
        *keys = key;
    }
    PF_ARRAY_REACH(key->values, key->room, rank);
    struct value *value = &key->values[rank];
    free(value->data);
    *value = (struct value){type, n, pf_malloc(n ? n : 1)};
    memcpy(value->data, data, n);
}

bool pf_modex_get(struct pf_modex_key *keys, int rank, const char *name, int *type, const void **data,
                  size_t *n)
{
    const struct pf_modex_key *key = find(keys, name);
    if (!key || rank >= key->room || !key->values[rank].data)
        return false;
    *type = key->values[rank].type;
    *data = key->values[rank].data;
    *n = key->values[rank].size;
    return true;
}
