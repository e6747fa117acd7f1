/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "middleware/core/call.h"
#include "middleware/datatype/datatype.h"

/* SMPI counts the bytes of a message, and of all blocks of a collective's buffer, in an int. For what is
 * longer the native call gets a count that it refuses: as MPI_ERR_COUNT, before anything has happened. Says
 * why. */
int pf_call_too_long(const struct pf_instance *in, MPI_Count size, double count);

/* The count of a call that moves `times` blocks of it; a receive says 0. */
static inline __attribute__((always_inline)) int pf_native_count(const struct pf_instance *in, int count,
                                                                 MPI_Datatype datatype, int times)
{
    const struct pf_native_values *values = in->values;
    if (PF_LIKELY(!values->most_item) || count <= 0)
        return count;
    MPI_Count size = pf_datatype_size(datatype);
    if (PF_LIKELY(size <= values->most_item && (double)size * count * times <= values->most_bytes))
        return count;
    return pf_call_too_long(in, size, (double)count * times);
}

/* The counts of `n` blocks; `types` has one datatype for each, or (`one`) for all. */
const int *pf_native_counts(const struct pf_instance *in, const int *counts, int n, const MPI_Datatype *types,
                            bool one);
