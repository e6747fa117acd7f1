/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages that are longer than an implementation can count. */
#include "base/log.h"
#include "middleware/datatype/limits.h"

int pf_call_too_long(const struct pf_instance *in, MPI_Count size, double count)
{
    const struct pf_rank *r = pf_self()->mpi;
    pf_warn("rank %d: %s: %.0f items of %lld bytes are more than model %s can carry, which counts bytes in "
            "an int; "
            "smaller messages, or another model",
            r->self.rank, pf_fn_name(r->call.fn), count, (long long)size, pf_model_name(in->model));
    return -1;
}

/* NULL is refused as a wrong count, too. */
const int *pf_native_counts(const struct pf_instance *in, const int *counts, int n, const MPI_Datatype *types,
                            bool one)
{
    const struct pf_native_values *values = in->values;
    double bytes = 0, items = 0;
    if (!values->most_item || !counts || !types)
        return counts;
    for (int i = 0; i < n; i++) {
        MPI_Count size = pf_datatype_size(types[one ? 0 : i]);
        if (counts[i] <= 0 || size <= 0)
            continue;
        items += counts[i];
        bytes += (double)counts[i] * (double)size;
    }
    if (bytes <= values->most_bytes)
        return counts;
    pf_call_too_long(in, (MPI_Count)(bytes / items), items);
    return NULL;
}
