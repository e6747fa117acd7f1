/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdint.h>

#include "base/export.h"

/*
 * The communication matrix: messages and bytes from rank to rank. In larger jobs neighbouring ranks share a
 * row, so that it never takes more than 1 MiB. Each message is counted by the lowest layer that knows it: the
 * NIC, or where there is none the middleware, for what the program itself sends.
 */
enum { PF_TRAFFIC_ROWS = 256 };

struct pf_traffic_cell {
    uint64_t messages, bytes;
};

struct pf_traffic {
    int ranks, each; /* ranks in a row */
    int rows;
    struct pf_traffic_cell *cells;
};

PF_EXPORT extern struct pf_traffic *pf_traffic; /* NULL: it is not wanted */

/* Begins to count. */
PF_EXPORT void pf_traffic_begin(int ranks);

static inline void pf_traffic_count(int from, int to, uint64_t bytes)
{
    const struct pf_traffic *t = pf_traffic;
    if (__builtin_expect(!t, 1) || from < 0 || to < 0 || from >= t->ranks || to >= t->ranks)
        return;
    int row = t->each == 1 ? from : from / t->each, column = t->each == 1 ? to : to / t->each;
    struct pf_traffic_cell *cell = &t->cells[row * t->rows + column];
    cell->messages++;
    cell->bytes += bytes;
}
