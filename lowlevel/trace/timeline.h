/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "lowlevel/trace/record.h"

/*
 * What the layers see goes to a log in memory as it is, so that the run is hardly slower. When the log is
 * full, and at the end, it is worked off: begins and ends are brought into the order of their dates. Layers
 * know some dates in advance (a step on a bus), others when they come (the end of a message); what is known
 * waits until the present has passed it.
 */

/* An operation starts at what->start, which is not in the past. */
pf_trace_span pf_timeline_begin(const struct pf_trace_record *what);
/* It ends at `date`, not in the past either. The span is not the caller's any more. */
void pf_timeline_end(pf_trace_span span, double date, enum pf_trace_outcome outcome);
/* The same, unless that is the date of its begin: then nothing has happened after all. */
void pf_timeline_end_later(pf_trace_span span, double date);
/* Both are known. */
void pf_timeline_add(const struct pf_trace_record *what);
/* Its header has arrived. */
void pf_timeline_arrived(pf_trace_span span);
/* Model, phase and colour, unless the clock has passed its begin. */
void pf_timeline_alter(pf_trace_span span, const struct pf_trace_record *what);

/* Where the begins and ends go. */
void pf_timeline_start(void (*begin)(const struct pf_trace_record *),
                       void (*end)(const struct pf_trace_record *));
/* Works off what is in the log. */
void pf_timeline_work_off(void);
/* The same; then ends what has not ended, passes on everything that is left, and returns the date of the last
 * record. When this was interrupted in the middle, the rest is dropped. */
double pf_timeline_finish(void);
