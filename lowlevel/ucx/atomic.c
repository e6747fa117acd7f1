/* SPDX-License-Identifier: BSD-3-Clause */
/* What a NIC makes of an integer in its memory. */
#include <string.h>

#include "lowlevel/ucx/internal.h"

static uint64_t after(const struct ucx_atomic *atomic, uint64_t mask)
{
    uint64_t operand = atomic->operands[0];
    switch (atomic->operation) {
    case UCP_ATOMIC_FETCH_OP_FADD:
        return atomic->before + operand;
    case UCP_ATOMIC_FETCH_OP_CSWAP:
        return ((atomic->before ^ atomic->operands[1]) & mask) == 0 ? operand : atomic->before;
    case UCP_ATOMIC_FETCH_OP_FAND:
        return atomic->before & operand;
    case UCP_ATOMIC_FETCH_OP_FOR:
        return atomic->before | operand;
    case UCP_ATOMIC_FETCH_OP_FXOR:
        return atomic->before ^ operand;
    default:
        return operand;
    }
}

/* The lower bytes come first. */
void ucx_atomic_apply(struct ucx_message *m)
{
    struct ucx_atomic *atomic = m->bytes;
    uint64_t mask = m->length < sizeof mask ? UINT32_MAX : UINT64_MAX;
    memcpy(&atomic->before, atomic->place, m->length);
    uint64_t value = after(atomic, mask);
    memcpy(atomic->place, &value, m->length);
}
