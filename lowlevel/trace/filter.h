/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>

#include "lowlevel/trace/record.h"

/* What of a run is traced: the settings trace_layers and trace_ranks. */
struct pf_trace_layers {
    bool mpi, nic;
};
extern struct pf_trace_layers pf_trace_layers;

/* Reads the settings; a wrong one ends the process with one line. */
void pf_trace_filter_open(void);

/* A rank lives on a node. */
void pf_trace_filter_place(int rank, int node);

/* Whether the record belongs to a rank that is traced, or to a node with such a rank: a message at either of
 * its ends. */
bool pf_trace_filter_keeps(const struct pf_trace_record *record);
