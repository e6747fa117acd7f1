/* SPDX-License-Identifier: BSD-3-Clause */
/* The communication matrix. */
#include "lowlevel/network/traffic.h"

#include "base/memory.h"

struct pf_traffic *pf_traffic;

void pf_traffic_begin(int ranks)
{
    int each = (ranks + PF_TRAFFIC_ROWS - 1) / PF_TRAFFIC_ROWS;
    pf_traffic = pf_calloc(1, sizeof *pf_traffic);
    *pf_traffic = (struct pf_traffic){.ranks = ranks, .each = each, .rows = (ranks + each - 1) / each};
    pf_traffic->cells =
        pf_calloc((size_t)pf_traffic->rows * (size_t)pf_traffic->rows, sizeof *pf_traffic->cells);
}
