/* SPDX-License-Identifier: BSD-3-Clause */
/* Where the ranks pass markers, and the file of them. */
#include "middleware/sampling/sampling.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/config.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/output_file.h"
#include "lowlevel/engine/engine.h"
#include "middleware/account/accounting.h"
#include "middleware/compute/compute.h"
#include "middleware/agree/switch.h"
#include "middleware/core/job_state.h"
#include "middleware/core/sites.h"
#include "middleware/core/upcalls.h"
#include "middleware/sampling/markers.h"
#include "middleware/sampling/regions.h"
#include "pf_fn.h"

static struct {
    bool on;
    bool regions; /* there are some */
    bool counts;  /* calls from each call site, among which a marker may be found */
    FILE *out;    /* NULL: no markers are written */
    unsigned kinds;
    uint64_t site; /* when its kind counts */
    struct pf_markers *markers;
    struct pf_sites *sites;
    struct pf_account_spent begin; /* when the first rank began */
    bool decided;                  /* whether the run goes on: it does */
    bool early;                    /* the early marker has been noted */
    int hold;                      /* from which the decision is read; -1: none */
    unsigned hold_at;              /* marker at which it is; 0: that of is_dear() */
} all = {.hold = -1};

/* In the order of enum pf_marker_at. */
static const char *const kind_names[PF_MARKER_KINDS] = {"start",      "phase", "pcontrol",
                                                        "collective", "site",  "end"};

/* The simulated time of the rank, which does not wait here for what it owes to the clock. */
static double date_of(const struct pf_rank *r)
{
    const struct pf_instance *in = r->ahead;
    return pf_engine_now() + (in ? in->ops->ahead(in) : 0.0) + pf_compute_due(r);
}

/* s of processor time, before which nothing is decided: a shorter run is not worth a sample. After the first
 * part of it another model is compared, whose run then costs little. */
#define SOON  2.0
#define EARLY (SOON / 8)

/* Processor time of the run, without its start. */
static double processor_time(void)
{
    return pf_account_spent().processor - all.begin.processor;
}

/* The sampling tool reads what is decided while the run goes on, and where it was. */
static void put_at_once(const char *what, unsigned marker)
{
    fprintf(all.out, "# %s %u %.6g\n", what, marker, processor_time());
    fflush(all.out);
}

/* PARFOCAL_MARKERS_HOLD: the run waits for the sampling tool, without one it does not. A byte means that it
 * goes on; the end of the file, which comes as well when the tool has ended, that it does not. */
static bool may_go_on(void)
{
    char byte;
    ssize_t got;
    do
        got = read(all.hold, &byte, 1);
    while (got < 0 && errno == EINTR);
    return got == 1;
}

/* PARFOCAL_MARKERS_END_SHARE: no model takes less time than the application. The larger its share is, the
 * less another model could save, and the more markers are observed before the run is given up. */
static bool is_dear(unsigned marker)
{
    unsigned end = (unsigned)pf_config.markers_end;
    double processor = processor_time();
    double part = marker < end ? marker / (double)end : 1;
    if (!all.early && (processor >= EARLY || marker == end)) {
        put_at_once("early", marker);
        all.early = true;
    }
    if (all.decided || processor < SOON)
        return false;
    if (pf_account_application_since(&all.begin) < pf_config.markers_end_share * part * processor) {
        put_at_once("left", marker);
        if (all.hold < 0 || !may_go_on())
            return true;
        all.decided = true;
    }
    all.decided |= marker >= end;
    if (all.decided)
        put_at_once("whole", marker);
    return false;
}

/* The other model's run, up to where the first one was early. */
static bool is_too_dear(unsigned marker)
{
    if (all.hold < 0 || !all.hold_at || marker != all.hold_at)
        return false;
    put_at_once("held", marker);
    return !may_go_on();
}

/* PARFOCAL_MARKERS_END: the run ends when all ranks have passed this marker. */
static void end_after(unsigned marker)
{
    unsigned end = (unsigned)pf_config.markers_end;
    if (!all.out || !end || !pf_markers_passed(all.markers, marker))
        return;
    if (pf_config.markers_end_share > 0 ? !is_dear(marker) : !is_too_dear(marker) && marker != end)
        return;
    pf_markers_stop(all.markers);
    pf_job_leave(pf_sampling_finish() ? 0 : 1);
}

/* `runs`: the rank itself, NULL when it has ended. */
static void note(int rank, struct pf_rank *runs, enum pf_marker_at at, const char *name, double date)
{
    unsigned marker = pf_markers_pass(all.markers, rank, at, name, date);
    if (all.regions)
        pf_regions_pass(rank, runs, marker, date);
    if (runs)
        end_after(marker);
}

static void pass(struct pf_rank *r, enum pf_marker_at at, const char *name, double date)
{
    if (all.kinds & 1u << at || at == PF_MARKER_START || at == PF_MARKER_END)
        note(r->self.rank, at == PF_MARKER_END ? NULL : r, at, name, date);
}

static void on_phase(struct pf_rank *r, const char *name)
{
    static const char pcontrol[] = "pcontrol:";
    bool level = strncmp(name, pcontrol, sizeof pcontrol - 1) == 0;
    if (level && all.counts)
        pf_sites_count(all.sites, r->self.rank, r->call.site,
                       PF_FN_Pcontrol); /* for the list of call sites */
    pass(r, level ? PF_MARKER_PCONTROL : PF_MARKER_PHASE, level ? name + sizeof pcontrol - 1 : name,
         date_of(r));
}

static void on_call(struct pf_rank *r, const struct pf_call_shape *shape)
{
    int fn = r->call.fn;
    if (shape->all)
        pass(r, PF_MARKER_COLLECTIVE, pf_fn_name(fn), date_of(r));
    if (all.kinds & 1u << PF_MARKER_SITE && pf_sites_name(all.sites, r->self.rank, r->call.site) == all.site)
        pass(r, PF_MARKER_SITE, pf_fn_name(fn), date_of(r));
    /* The number of probes depends on the time: they are no part of a signature. */
    if (fn == PF_FN_Iprobe || fn == PF_FN_Improbe)
        return;
    uint64_t bytes = shape->bytes > 0 ? (uint64_t)shape->bytes : 0;
    uint64_t hash = pf_markers_mix((uint64_t)fn << 8 | pf_markers_size_class(bytes));
    hash = pf_markers_mix(hash ^ (uint64_t)(unsigned)shape->members << 32 ^ (unsigned)shape->peer);
    pf_markers_call(all.markers, r->self.rank, hash, bytes);
    if (all.counts)
        pf_sites_count(all.sites, r->self.rank, r->call.site, fn);
}

static void read_kinds(void)
{
    const char *at = pf_config.markers_at;
    char *end;
    for (int i = PF_MARKER_PHASE; i < PF_MARKER_SITE; i++)
        if (strcmp(at, kind_names[i]) == 0 || strcmp(at, "auto") == 0)
            all.kinds |= 1u << i;
    if (strncmp(at, "site:", 5) != 0)
        return;
    errno = 0;
    all.site = strtoull(at + 5, &end, 16);
    if (!at[5] || *end || errno)
        pf_die("%s: site: must be followed by a hexadecimal number, as in '# site' of the markers, not '%s'",
               pf_config_given("markers_at"), at + 5);
    all.kinds = 1u << PF_MARKER_SITE;
}

/* "FD" or "FD:MARKER". */
static void read_hold(void)
{
    const char *text = pf_config.markers_hold;
    int end = 0;
    if (!*text)
        return;
    if (sscanf(text, "%d%n:%u%n", &all.hold, &end, &all.hold_at, &end) < 1 || text[end] || all.hold < 0)
        pf_die("%s: '%s' is neither FD nor FD:MARKER", pf_config_given("markers_hold"), text);
}

static void give_up(void)
{
    if (!all.out)
        return;
    fclose(all.out);
    all.out = NULL;
    remove(pf_config.markers);
}

void pf_sampling_start(void)
{
    read_hold();
    if (!*pf_config.markers && !*pf_config.regions)
        return;
    read_kinds();
    all.out = *pf_config.markers ? pf_output_open(pf_config.markers, "we") : NULL;
    if (*pf_config.markers && !all.out)
        pf_die("%s: cannot write the markers '%s': %s", pf_config_given("markers"), pf_config.markers,
               strerror(errno));
    pf_at_end(give_up);
    all.regions = *pf_config.regions;
    if (all.regions)
        pf_regions_read();
    all.on = true;
    pf_upcalls.communicates = on_call;
    pf_upcalls.entered_phase = on_phase;
}

/* The number of ranks is known when the first one begins. */
static void begin(void)
{
    all.begin = pf_account_spent();
    bool alone = all.out && strcmp(pf_config.markers_at, "auto") == 0;
    all.markers = pf_markers_new(pf_job_state.size, all.kinds, alone);
    all.sites = pf_sites_new(pf_job_state.size);
    all.counts = all.out && !(all.kinds & 1u << PF_MARKER_SITE) && !all.regions;
    if (all.regions)
        pf_regions_begin();
}

void pf_sampling_load(void)
{
    if (all.regions)
        pf_regions_load();
}

void pf_sampling_rank_begins(struct pf_rank *r)
{
    if (!all.on)
        return;
    if (!all.markers)
        begin();
    r->cursor.watching = true; /* every call of the rank comes here, on_call() */
    pass(r, PF_MARKER_START, "", 0);
}

void pf_sampling_rank_ends(struct pf_rank *r)
{
    if (all.on)
        pass(r, PF_MARKER_END, "", pf_engine_now());
}

/* Fields of a file of comma-separated values: with quotes where it needs them. */
static void put_name(const char *name)
{
    if (!strpbrk(name, ",\"\r\n")) {
        fputs(name, all.out);
        return;
    }
    putc('"', all.out);
    for (; *name; name++) {
        if (*name == '"')
            putc('"', all.out);
        putc(*name, all.out);
    }
    putc('"', all.out);
}

/* The value of PARFOCAL_MARKERS_AT with which a run numbers its markers as this one. */
static void put_kinds(unsigned kinds)
{
    unsigned wanted = all.kinds, chosen = kinds & wanted;
    if (chosen == wanted) {
        fprintf(all.out, "# at %s\n", pf_config.markers_at);
        return;
    }
    for (int i = PF_MARKER_PHASE; i < PF_MARKER_SITE; i++)
        if (chosen == 1u << i)
            fprintf(all.out, "# at %s\n", kind_names[i]);
    if (!chosen)
        fprintf(all.out, "# at none\n");
}

static void put_head(const struct pf_marker_sequence *sequence)
{
    unsigned unequal = pf_markers_unequal(all.markers);
    fprintf(all.out, "# parfocal-markers 1\n# ranks %d\n", pf_job_state.size);
    put_kinds(sequence->kinds);
    for (int i = 0; i < PF_MARKER_KINDS; i++)
        if (unequal & 1u << i)
            fprintf(all.out, "# unequal %s\n", kind_names[i]);
    fprintf(all.out, "# end %.15g\n", sequence->markers[sequence->count - 1].date);
    pf_sites_print(all.sites, all.out);
    fputs("marker,at,name,date_s,signature,calls,bytes\n", all.out);
}

static void put_markers(const struct pf_marker_sequence *sequence)
{
    for (unsigned i = 0; i < sequence->count; i++) {
        const struct pf_marker *marker = &sequence->markers[i];
        fprintf(all.out, "%u,%s,", i, kind_names[marker->at]);
        put_name(marker->name);
        fprintf(all.out, ",%.15g,%016" PRIx64 ",%" PRIu64 ",%" PRIu64 "\n", marker->date, marker->signature,
                marker->calls, marker->bytes);
    }
}

static bool write_markers(void)
{
    const struct pf_marker_sequence *best = all.markers ? pf_markers_best(all.markers) : NULL;
    if (!best) {
        give_up();
        pf_warn(
            "no markers are written to '%s': not all ranks have passed the same ones and called MPI_Finalize",
            pf_config.markers);
        return false;
    }
    put_head(best);
    put_markers(best);
    bool written = fflush(all.out) == 0 && !ferror(all.out);
    if (fclose(all.out) != 0 || !written)
        pf_die("cannot write the markers '%s': %s", pf_config.markers, strerror(errno));
    all.out = NULL;
    return true;
}

bool pf_sampling_finish(void)
{
    bool written = !all.out || write_markers();
    if (all.regions)
        pf_regions_finish();
    pf_markers_free(all.markers);
    pf_sites_free(all.sites);
    all.markers = NULL;
    all.sites = NULL;
    all.on = false;
    return written;
}
