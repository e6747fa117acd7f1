/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads and writes files of computations. */
#include "middleware/compute/compute_file.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/config.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/output_file.h"

#define VERSION 1

void pf_intervals_add(struct pf_intervals *intervals, uint64_t ns, uint32_t way)
{
    if (intervals->count >= (size_t)pf_config.computation_max)
        pf_die("a rank computes more than %d times: PARFOCAL_COMPUTATION_MAX allows more",
               (int)pf_config.computation_max);
    if (intervals->count == intervals->capacity) {
        intervals->capacity = intervals->capacity ? 2 * intervals->capacity : 64;
        intervals->ns = pf_reallocarray(intervals->ns, intervals->capacity, sizeof *intervals->ns);
        if (pf_config.computation_ways)
            intervals->way = pf_reallocarray(intervals->way, intervals->capacity, sizeof *intervals->way);
    }
    if (intervals->way)
        intervals->way[intervals->count] = way;
    intervals->ns[intervals->count++] = ns;
}

/* ---- reading ---- */

static void read_numbers(FILE *in, struct pf_intervals *intervals, size_t count, int rank, const char *name)
{
    while (intervals->count < count) {
        char text[48], *end;
        errno = 0;
        if (fscanf(in, "%47s", text) != 1)
            pf_die("%s ends within the computations of rank %d", name, rank);
        uint64_t ns = strtoull(text, &end, 10), times = 1;
        bool good = isdigit((unsigned char)*text) && !errno;
        uint32_t way = 0;
        if (good && *end == '@') {
            char *number = end + 1;
            way = (uint32_t)strtoul(number, &end, 16);
            good = isxdigit((unsigned char)*number) && !errno;
        } else if (good && pf_config.computation_ways) {
            pf_die("%s was not recorded with PARFOCAL_COMPUTATION_WAYS", name);
        }
        if (good && *end == '*') {
            char *number = end + 1;
            times = strtoull(number, &end, 10);
            good = isdigit((unsigned char)*number) && !errno;
        }
        if (!good || *end || times == 0 || times > count - intervals->count)
            pf_die("%s: '%s' among the computations of rank %d is no interval", name, text, rank);
        while (times-- > 0)
            pf_intervals_add(intervals, ns, way);
    }
}

void pf_recorded_read(struct pf_recorded *recorded, const char *name, int ranks)
{
    FILE *in = fopen(name, "r");
    int version = 0, rank;
    size_t count;
    if (!in)
        pf_die("computations cannot be read from %s: %s", name, strerror(errno));
    if (fscanf(in, "parfocal-computation %d ranks %d speed %lf", &version, &recorded->ranks,
               &recorded->speed) < 1)
        pf_die("%s is no file of recorded computations", name);
    if (version != VERSION)
        pf_die("%s has version %d of recorded computations; this is version %d", name, version, VERSION);
    if (!(recorded->speed > 0) || !isfinite(recorded->speed) || recorded->ranks < 1)
        pf_die("%s: ranks and speed must be greater than 0", name);
    if (recorded->ranks != ranks)
        pf_die("%s was recorded with %d ranks, this run has %d", name, recorded->ranks, ranks);
    recorded->rank = pf_calloc((size_t)ranks, sizeof *recorded->rank);
    for (int i = 0; i < ranks; i++) {
        if (fscanf(in, " rank %d intervals %zu", &rank, &count) != 2 || rank != i)
            pf_die("%s: the computations of rank %d are missing", name, i);
        read_numbers(in, &recorded->rank[i], count, i, name);
    }
    char rest;
    if (fscanf(in, " %c", &rest) == 1)
        pf_die("%s goes on after the computations of its last rank", name);
    fclose(in);
}

/* ---- writing ---- */

static void write_numbers(FILE *out, const struct pf_intervals *intervals)
{
    enum { PER_LINE = 16 };
    size_t next;
    int written = 0;
    for (size_t i = 0; i < intervals->count; i = next) {
        next = i + 1;
        while (next < intervals->count && intervals->ns[next] == intervals->ns[i] &&
               (!intervals->way || intervals->way[next] == intervals->way[i]))
            next++;
        fprintf(out, "%" PRIu64, intervals->ns[i]);
        if (intervals->way)
            fprintf(out, "@%" PRIx32, intervals->way[i]);
        if (next - i > 1)
            fprintf(out, "*%zu", next - i);
        fputc(++written % PER_LINE == 0 || next == intervals->count ? '\n' : ' ', out);
    }
}

void pf_recorded_write(const struct pf_recorded *recorded, const char *name)
{
    FILE *out = pf_output_open(name, "w");
    if (!out)
        pf_die("computations cannot be written to %s: %s", name, strerror(errno));
    fprintf(out, "parfocal-computation %d\nranks %d\nspeed %.17g\n", VERSION, recorded->ranks,
            recorded->speed);
    for (int i = 0; i < recorded->ranks; i++) {
        fprintf(out, "rank %d intervals %zu\n", i, recorded->rank[i].count);
        write_numbers(out, &recorded->rank[i]);
    }
    bool failed = ferror(out) != 0;
    if (fclose(out) != 0 || failed)
        pf_die("computations cannot be written to %s: %s", name, strerror(errno));
}
