/* SPDX-License-Identifier: BSD-3-Clause */
/* Which identifiers of communicators are free, and which only seem to be. */
#include "middleware/comm/comm_id.h"

#include <stdbool.h>
#include <string.h>

#include "adapters/adapter.h"
#include "base/memory.h"

static int *free_ids;
static int free_count, free_capacity, next_id;

/*
 * A freed shadow lives on while its rank has operations of it under way, as a buffered send without a
 * wait: a second one of the same identifier would be refused. The identifier is passed over until the last
 * such shadow is gone.
 */
static struct kept {
    struct pf_instance *in;
    int id;
} * kept;
static int kept_count, kept_capacity;

static bool is_kept(int id)
{
    bool yes = false;
    for (int i = kept_count - 1; i >= 0; i--) {
        if (kept[i].id != id)
            continue;
        if (kept[i].in->ops->comm_kept(kept[i].in, id))
            yes = true;
        else
            kept[i] = kept[--kept_count];
    }
    return yes;
}

int pf_comm_id_take(void)
{
    for (int i = free_count - 1; i >= 0; i--) {
        int id = free_ids[i];
        if (kept_count && is_kept(id))
            continue;
        free_count--;
        memmove(&free_ids[i], &free_ids[i + 1], (size_t)(free_count - i) * sizeof *free_ids);
        return id;
    }
    return next_id++;
}

void pf_comm_id_give_back(int id)
{
    PF_ARRAY_ROOM(free_ids, free_capacity, free_count + 1);
    free_ids[free_count++] = id;
}

void pf_comm_id_freed(struct pf_instance *in, int id)
{
    if (!in->ops->comm_kept(in, id))
        return;
    PF_ARRAY_ROOM(kept, kept_capacity, kept_count + 1);
    kept[kept_count++] = (struct kept){in, id};
}
