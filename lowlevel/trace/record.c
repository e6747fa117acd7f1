/* SPDX-License-Identifier: BSD-3-Clause */
/* Names, colours and texts of traced operations. */
#include "lowlevel/trace/record.h"

#include <inttypes.h>
#include <stdio.h>

const char *pf_trace_type_name(enum pf_trace_type type)
{
    static const char *const names[] = {
#define X(id, name, colour) name,
        PF_TRACE_TYPES(X)
#undef X
    };
    return names[type];
}

unsigned int pf_trace_type_colour(enum pf_trace_type type)
{
    static const unsigned int colours[] = {
#define X(id, name, colour) colour,
        PF_TRACE_TYPES(X)
#undef X
    };
    return colours[type];
}

const char *pf_trace_name(const struct pf_trace_record *record)
{
    return record->call ? record->call : pf_trace_type_name(record->type);
}

unsigned int pf_trace_colour(const struct pf_trace_record *record)
{
    return record->type == PF_TRACE_CALL ? record->colour : pf_trace_type_colour(record->type);
}

const char *pf_trace_track_name(enum pf_trace_track track)
{
    static const char *const names[] = {"rank", "NIC tx", "NIC rx", "PCIe"};
    return names[track];
}

const char *pf_trace_outcome_name(enum pf_trace_outcome outcome)
{
    static const char *const names[] = {"done", "lost", "unfinished"};
    return names[outcome];
}

const char *pf_trace_bytes_text(uint64_t bytes, char *text, unsigned long size)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB"};
    int unit = 0;
    while (unit < 3 && bytes >= 1024 && bytes % 1024 == 0) {
        bytes /= 1024;
        unit++;
    }
    snprintf(text, size, "%" PRIu64 " %s", bytes, units[unit]);
    return text;
}
