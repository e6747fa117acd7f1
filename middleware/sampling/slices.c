/* SPDX-License-Identifier: BSD-3-Clause */
/* Counts calls by their dates. */
#include "middleware/sampling/slices.h"

#include <inttypes.h>
#include <string.h>

#include "base/memory.h"

#define SHORTEST 1e-7 /* s */

static void set_length(struct pf_slices *slices, double length)
{
    slices->per_second = 1 / length;
    /* A date just below the end must not be counted behind it, however it is rounded. */
    slices->end = length * PF_SLICES_MOST * (1 - 1e-12);
}

struct pf_slices *pf_slices_new(void)
{
    struct pf_slices *slices = pf_calloc(1, sizeof *slices);
    set_length(slices, SHORTEST);
    return slices;
}

void pf_slices_reach(struct pf_slices *slices, double date)
{
    while (date >= slices->end) {
        for (unsigned i = 0; i < PF_SLICES_MOST / 2; i++) {
            const struct pf_slice *a = &slices->all[2 * i], *b = a + 1;
            slices->all[i] = (struct pf_slice){.calls = a->calls + b->calls,
                                               .bytes = a->bytes + b->bytes,
                                               .last = a->last > b->last ? a->last : b->last};
        }
        memset(&slices->all[PF_SLICES_MOST / 2], 0, sizeof slices->all / 2);
        set_length(slices, 2 / slices->per_second);
    }
}

void pf_slices_print(const struct pf_slices *slices, FILE *out)
{
    uint64_t calls = 0, bytes = 0;
    for (unsigned i = 0; i < PF_SLICES_MOST; i++) {
        const struct pf_slice *slice = &slices->all[i];
        if (slice->calls == 0)
            continue;
        calls += slice->calls;
        bytes += slice->bytes;
        fprintf(out, "# slice %" PRIu64 " %" PRIu64 " %.15g\n", calls, bytes, slice->last);
    }
}
