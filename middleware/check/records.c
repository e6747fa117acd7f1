/* SPDX-License-Identifier: BSD-3-Clause */
/* What is known about the handles of a rank: looking it up. */
#include <string.h>

#include "middleware/check/internal.h"

struct pf_check_record *pf_check_record_of(struct pf_rank *r, uintptr_t value, uint32_t keyval)
{
    struct pf_check_record *record, wanted;
    memset(&wanted.key, 0, sizeof wanted.key);
    wanted.key.value = value;
    wanted.key.keyval = keyval;
    HASH_FIND(hh, r->check->records, &wanted.key, sizeof wanted.key, record);
    return record;
}

struct pf_check_record *pf_check_find(struct pf_rank *r, const void *handle)
{
    return pf_check_record_of(r, (uintptr_t)handle, 0);
}
