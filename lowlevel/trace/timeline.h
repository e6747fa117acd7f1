/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "lowlevel/trace/sink.h"

/*
 * Brings begins and ends into the order of their dates. Layers know some dates in advance (a step on a bus),
 * others when they come (the end of a message); what is known waits here until the present has passed it.
 * So the memory is that of what is in flight.
 */

/* An operation starts at what->start, which is not in the past. The record is the timeline's. */
struct pf_trace_record *pf_timeline_begin(const struct pf_trace_record *what);
/* It ends at `date`, not in the past either. The record is not the caller's any more. */
void pf_timeline_end(struct pf_trace_record *record, double date, enum pf_trace_outcome outcome);
/* Both are known. */
void pf_timeline_add(const struct pf_trace_record *what);
/* Nothing has happened after all; only at the date of its begin. The record is not the caller's any more. */
void pf_timeline_drop(struct pf_trace_record *record);

/* Where the begins and ends go. */
void pf_timeline_start(void (*begin)(const struct pf_trace_record *),
                       void (*end)(const struct pf_trace_record *));
/* Ends what has not ended, passes on everything that is left, and returns the date of the last record. When a
 * record was interrupted in the middle, the rest is dropped. */
double pf_timeline_finish(void);
