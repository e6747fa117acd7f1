/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stddef.h>

#include "lowlevel/trace/output.h"
#include "lowlevel/trace/record.h"

/*
 * A format. It gets every begin and every end in the order of their dates; those of the same date come in
 * the order in which the simulation did them. Each writes as it goes, but for the diagrams, which are
 * limited.
 */
struct pf_trace_sink {
    const struct pf_trace_sink_ops *ops;
    struct pf_trace_output output;
    void *state; /* the format's own */
    bool opened; /* ops->open has been */
};

struct pf_trace_sink_ops {
    size_t size; /* of this table */
    const char *name;
    const char *suffix; /* the end of the file's name, where readers rely on it; often "" */
    /* Before the first record. */
    void (*open)(struct pf_trace_sink *sink);
    void (*begin)(struct pf_trace_sink *sink, const struct pf_trace_record *record);
    void (*end)(struct pf_trace_sink *sink, const struct pf_trace_record *record);
    /* A recording of the calls of all ranks, whose file stays the caller's; NULL: the format has no place for
     * it. */
    void (*recorded)(struct pf_trace_sink *sink, int fd);
    /* `date`: of the last thing that has happened. */
    void (*close)(struct pf_trace_sink *sink, double date);
};

extern const struct pf_trace_sink_ops pf_trace_csv, pf_trace_paje, pf_trace_chrome, pf_trace_text,
    pf_trace_svg;
/* Properties of a location whose names begin so hold a rank's part of a recording (docs/replay.md). */
#define PF_TRACE_OTF2_RECORDING "parfocal-replay "
#ifdef PF_HAVE_OTF2
extern const struct pf_trace_sink_ops pf_trace_otf2;
#endif
