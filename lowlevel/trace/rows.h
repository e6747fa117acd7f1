/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "lowlevel/trace/output.h"
#include "lowlevel/trace/record.h"

/* For formats that announce their rows: which nodes, and which rows of theirs, have been there. */
struct pf_trace_seen {
    unsigned char *marks;
    size_t count;
};
struct pf_trace_rows {
    struct pf_trace_seen nodes, ranks;
    struct pf_trace_seen *lanes; /* by node and track */
    size_t lane_sets;
};

bool pf_trace_new_node(struct pf_trace_rows *rows, int node);
/* A row is a rank, or a lane of another track of a node. */
bool pf_trace_new_row(struct pf_trace_rows *rows, const struct pf_trace_record *record);

/* "rank 3", "NIC tx", "NIC tx 2". */
void pf_trace_put_row_name(struct pf_trace_output *output, const struct pf_trace_record *record);

void pf_trace_rows_free(struct pf_trace_rows *rows);
