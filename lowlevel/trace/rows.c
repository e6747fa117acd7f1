/* SPDX-License-Identifier: BSD-3-Clause */
/* Which rows of a trace have been announced, and what they are called. */
#include "lowlevel/trace/rows.h"

#include <stdlib.h>

#include "base/memory.h"

static bool is_new(struct pf_trace_seen *seen, int index)
{
    PF_ARRAY_REACH(seen->marks, seen->count, index);
    bool result = !seen->marks[index];
    seen->marks[index] = 1;
    return result;
}

bool pf_trace_new_node(struct pf_trace_rows *rows, int node)
{
    return is_new(&rows->nodes, node);
}

bool pf_trace_new_row(struct pf_trace_rows *rows, const struct pf_trace_record *record)
{
    if (record->track == PF_TRACE_RANK)
        return is_new(&rows->ranks, record->from.rank);
    size_t set = (size_t)pf_trace_node(record) * PF_TRACE_TRACK_COUNT + record->track;
    PF_ARRAY_REACH(rows->lanes, rows->lane_sets, set);
    return is_new(&rows->lanes[set], record->lane);
}

void pf_trace_put_row_name(struct pf_trace_output *output, const struct pf_trace_record *record)
{
    pf_trace_put_text(output, pf_trace_track_name(record->track));
    if (record->track == PF_TRACE_RANK)
        pf_trace_put(output, " ", record->from.rank);
    else if (record->lane > 0)
        pf_trace_put(output, " ", record->lane + 1);
}

void pf_trace_rows_free(struct pf_trace_rows *rows)
{
    for (size_t i = 0; i < rows->lane_sets; i++)
        free(rows->lanes[i].marks);
    free(rows->lanes);
    free(rows->nodes.marks);
    free(rows->ranks.marks);
}
