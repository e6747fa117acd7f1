/* SPDX-License-Identifier: BSD-3-Clause */
/* Decides what of a run is traced. */
#include "lowlevel/trace/filter.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/config.h"
#include "base/log.h"
#include "base/memory.h"

struct pf_trace_layers pf_trace_layers;

static struct range {
    int first, last;
} * ranges; /* of ranks */
static size_t range_count;
static bool *nodes; /* that carry one of them */
static int node_count;

static void read_layers(void)
{
    const char *text = pf_config.trace_layers;
    for (size_t length; *text; text += length + (text[length] == ',')) {
        length = strcspn(text, ",");
        if (length == 3 && strncmp(text, "mpi", 3) == 0)
            pf_trace_layers.mpi = true;
        else if (length == 3 && strncmp(text, "nic", 3) == 0)
            pf_trace_layers.nic = true;
        else
            pf_die("PARFOCAL_TRACE_LAYERS: '%.*s' is neither mpi nor nic", (int)length, text);
    }
    if (!pf_trace_layers.mpi && !pf_trace_layers.nic)
        pf_die("PARFOCAL_TRACE_LAYERS is empty: mpi, nic, or both");
}

/* The number at the begin of the text; `end` is behind it. */
static int read_rank(const char *text, char **end)
{
    long rank = isdigit((unsigned char)*text) ? strtol(text, end, 10) : -1;
    if (rank < 0 || rank > 1 << 30)
        pf_die("PARFOCAL_TRACE_RANKS: '%s' is no list of ranks such as 0-3,8", pf_config.trace_ranks);
    return (int)rank;
}

static void read_ranks(void)
{
    const char *text = pf_config.trace_ranks;
    ranges = pf_calloc(strlen(text) + 1, sizeof *ranges);
    while (*text) {
        char *end = NULL;
        struct range *range = &ranges[range_count++];
        range->first = range->last = read_rank(text, &end);
        if (*end == '-')
            range->last = read_rank(end + 1, &end);
        if ((*end && *end != ',') || range->last < range->first || (*end && !end[1]))
            pf_die("PARFOCAL_TRACE_RANKS: '%s' is no list of ranks such as 0-3,8", pf_config.trace_ranks);
        text = end + (*end == ',');
    }
}

void pf_trace_filter_open(void)
{
    read_layers();
    read_ranks();
}

static bool rank_is_traced(int rank)
{
    for (size_t i = 0; i < range_count; i++)
        if (rank >= ranges[i].first && rank <= ranges[i].last)
            return true;
    return false;
}

void pf_trace_filter_place(int rank, int node)
{
    if (!rank_is_traced(rank))
        return;
    PF_ARRAY_REACH(nodes, node_count, node);
    nodes[node] = true;
}

static bool node_is_traced(int node)
{
    return node < node_count && nodes[node];
}

bool pf_trace_filter_keeps(const struct pf_trace_record *record)
{
    if (range_count == 0)
        return true;
    if (record->track == PF_TRACE_RANK)
        return rank_is_traced(record->from.rank);
    return node_is_traced(record->from.node) || node_is_traced(record->to.node);
}
