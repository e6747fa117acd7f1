/* SPDX-License-Identifier: BSD-3-Clause */
/* Where the ranks pass marks, and what is done there. */
#include "middleware/sampling/sampling.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/config.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/output_file.h"
#include "lowlevel/engine/engine.h"
#include "middleware/account/accounting.h"
#include "middleware/compute/compute.h"
#include "middleware/agree/switch.h"
#include "middleware/core/job_state.h"
#include "middleware/core/upcalls.h"
#include "middleware/sampling/bounds.h"
#include "middleware/sampling/marks.h"
#include "middleware/sampling/sites.h"
#include "middleware/sampling/slices.h"
#include "middleware/sampling/windows.h"
#include "pf_fn.h"

static struct {
    bool on;
    bool windows; /* there are some */
    bool counts; /* calls from each place and by their dates: to find structure, which who opens windows knows
                  */
    FILE *out;   /* NULL: no marks are written */
    unsigned kinds;
    uint64_t site; /* when its kind counts */
    struct pf_marks *marks;
    struct pf_sites *sites; /* NULL when nobody asks for them */
    struct pf_slices *slices;
    struct pf_bounds *bounds; /* of slices, if they are the marks */
    double *end;              /* then: when each rank has ended; negative: it has not */
    int ended;
    struct pf_account_spent begin; /* when the first rank began */
    bool decided;                  /* whether the run goes on: it does */
} all;

/* In the order of enum pf_mark_at. */
static const char *const kind_names[PF_MARK_KINDS] = {"start", "phase", "pcontrol", "collective",
                                                      "site",  "slice", "end"};

static const char slices_at[] = "slices:"; /* a file: PARFOCAL_MARKS_AT */

/* When the rank passes this point, without making it wait for what it owes to the clock. */
static double date_of(const struct pf_rank *r)
{
    const struct pf_instance *in = r->ahead;
    return pf_engine_now() + (in ? in->ops->ahead(in) : 0.0) + pf_compute_due(r);
}

#define SOON 1.0 /* s of processor time, in which a run may end without that anything was decided */

/* What is decided before the end of the program is in the file at once. */
static void put_at_once(const char *decision)
{
    fputs(decision, all.out);
    fflush(all.out);
}

/* PARFOCAL_MARKS_END_SHARE: no model takes less time than the application. The larger its share is, the less
 * another model could save, and the more marks are worth a look. */
static bool is_dear(unsigned mark)
{
    unsigned end = (unsigned)pf_config.marks_end;
    double processor = pf_account_spent().processor - all.begin.processor;
    double part = mark < end ? mark / (double)end : 1;
    if (all.decided || processor < SOON)
        return false;
    if (pf_account_application_since(&all.begin) < pf_config.marks_end_share * part * processor) {
        put_at_once("# left\n");
        return true;
    }
    all.decided = mark >= end;
    if (all.decided)
        put_at_once("# whole\n");
    return false;
}

/* What follows the mark is not asked for: PARFOCAL_MARKS_END. */
static void end_after(unsigned mark)
{
    unsigned end = (unsigned)pf_config.marks_end;
    if (!all.out || !end || !pf_marks_passed(all.marks, mark))
        return;
    if (pf_config.marks_end_share > 0 ? !is_dear(mark) : mark != end)
        return;
    pf_marks_stop(all.marks);
    pf_job_leave(pf_sampling_finish() ? 0 : 1);
}

/* `runs`: the rank itself, NULL when it has ended. */
static void note(int rank, struct pf_rank *runs, enum pf_mark_at at, const char *name, double date)
{
    unsigned mark = pf_marks_pass(all.marks, rank, at, pf_marks_name(all.marks, name), date);
    if (all.windows)
        pf_windows_pass(rank, runs, mark, date);
    if (runs)
        end_after(mark);
}

static void pass(struct pf_rank *r, enum pf_mark_at at, const char *name, double date)
{
    if (all.kinds & 1u << at || at == PF_MARK_START || at == PF_MARK_END)
        note(r->self.rank, at == PF_MARK_END ? NULL : r, at, name, date);
}

/* Ends of slices that are reached. Ranks that have ended pass each with the first one that does. */
static void pass_bounds(int rank, struct pf_rank *runs)
{
    double date;
    bool first;
    while (pf_bounds_next(all.bounds, rank, &date, &first)) {
        note(rank, runs, PF_MARK_SLICE, "", date);
        for (int i = 0; first && all.ended > 0 && i < pf_job_state.size; i++)
            if (all.end[i] >= 0)
                pass_bounds(i, NULL);
    }
}

/* A rank that has ended waits for the others: slices end later than it. */
static void end_bounds(int rank, double date)
{
    pass_bounds(rank, NULL);
    all.end[rank] = date;
    if (++all.ended < pf_job_state.size)
        return;
    pf_bounds_end(all.bounds, date);
    for (int i = 0; i < pf_job_state.size; i++)
        pass_bounds(i, NULL);
    for (int i = 0; i < pf_job_state.size; i++)
        note(i, NULL, PF_MARK_END, "", all.end[i]);
}

static void on_phase(struct pf_rank *r, const char *name)
{
    static const char pcontrol[] = "pcontrol:";
    bool level = strncmp(name, pcontrol, sizeof pcontrol - 1) == 0;
    if (level && all.counts)
        pf_sites_count(all.sites, r->self.rank, r->call.site,
                       PF_FN_Pcontrol); /* no mark is at it, but told */
    pass(r, level ? PF_MARK_PCONTROL : PF_MARK_PHASE, level ? name + sizeof pcontrol - 1 : name, date_of(r));
}

/* How often a program asks for a message depends on the time: that is no part of what it does. */
static bool is_question(int fn)
{
    return fn == PF_FN_Iprobe || fn == PF_FN_Improbe;
}

static void on_call(struct pf_rank *r, const struct pf_call_shape *shape)
{
    int fn = r->call.fn;
    if (shape->all)
        pass(r, PF_MARK_COLLECTIVE, pf_fn_name(fn), date_of(r));
    if (all.kinds & 1u << PF_MARK_SITE && pf_sites_name(all.sites, r->self.rank, r->call.site) == all.site)
        pass(r, PF_MARK_SITE, pf_fn_name(fn), date_of(r));
    if (all.bounds)
        pass_bounds(r->self.rank, r);
    if (is_question(fn))
        return;
    if (all.bounds)
        pf_bounds_call(all.bounds, date_of(r));
    uint64_t bytes = shape->bytes > 0 ? (uint64_t)shape->bytes : 0;
    uint64_t hash = pf_marks_mix((uint64_t)fn << 8 | pf_marks_size_class(bytes));
    hash = pf_marks_mix(hash ^ (uint64_t)(unsigned)shape->members << 32 ^ (unsigned)shape->peer);
    pf_marks_call(all.marks, r->self.rank, hash, bytes);
    if (!all.counts)
        return;
    pf_sites_count(all.sites, r->self.rank, r->call.site, fn);
    pf_slices_call(all.slices, date_of(r), bytes);
}

static void read_kinds(void)
{
    const char *at = pf_config.marks_at;
    char *end;
    for (int i = PF_MARK_PHASE; i < PF_MARK_SITE; i++)
        if (strcmp(at, kind_names[i]) == 0 || strcmp(at, "auto") == 0)
            all.kinds |= 1u << i;
    if (strncmp(at, slices_at, sizeof slices_at - 1) == 0)
        all.kinds = 1u << PF_MARK_SLICE;
    if (strncmp(at, "site:", 5) != 0)
        return;
    errno = 0;
    all.site = strtoull(at + 5, &end, 16);
    if (!at[5] || *end || errno)
        pf_die(
            "%s: site: must be followed by a hexadecimal number, as '# site' of the marks says it, not '%s'",
            pf_config_given("marks_at"), at + 5);
    all.kinds = 1u << PF_MARK_SITE;
}

static void give_up(void)
{
    if (!all.out)
        return;
    fclose(all.out);
    all.out = NULL;
    remove(pf_config.marks);
}

static void open_marks(void)
{
    all.out = pf_output_open(pf_config.marks, "we");
    if (!all.out)
        pf_die("%s: cannot write the marks '%s': %s", pf_config_given("marks"), pf_config.marks,
               strerror(errno));
    pf_at_end(give_up);
}

void pf_sampling_start(void)
{
    if (*pf_config.windows_result && !*pf_config.windows)
        pf_die("%s: there are no windows: PARFOCAL_WINDOWS names their file",
               pf_config_given("windows_result"));
    if (!*pf_config.marks && !*pf_config.windows)
        return;
    read_kinds();
    if (*pf_config.marks)
        open_marks();
    all.windows = *pf_config.windows;
    if (all.windows)
        pf_windows_read();
    all.on = true;
    pf_upcalls.communicates = on_call;
    pf_upcalls.entered_phase = on_phase;
}

static void begin_bounds(void)
{
    size_t ranks = (size_t)pf_job_state.size;
    all.bounds = pf_bounds_read(pf_config.marks_at + sizeof slices_at - 1, pf_job_state.size);
    all.end = pf_calloc(ranks, sizeof *all.end);
    for (size_t i = 0; i < ranks; i++)
        all.end[i] = -1;
}

/* The number of ranks is known when the first one begins. */
static void begin(void)
{
    all.begin = pf_account_spent();
    bool alone = all.out && strcmp(pf_config.marks_at, "auto") == 0;
    all.marks = pf_marks_new(pf_job_state.size, all.kinds, alone);
    all.sites = pf_sites_new(pf_job_state.size);
    all.counts =
        all.out && !(all.kinds & (1u << PF_MARK_SITE | 1u << PF_MARK_SLICE)) && !pf_config.windows_open;
    if (all.counts)
        all.slices = pf_slices_new();
    if (all.kinds & 1u << PF_MARK_SLICE)
        begin_bounds();
    if (all.windows)
        pf_windows_begin(pf_job_state.size);
}

void pf_sampling_load(void)
{
    if (all.windows)
        pf_windows_load();
}

void pf_sampling_rank_begins(struct pf_rank *r)
{
    if (!all.on)
        return;
    if (!all.marks)
        begin();
    r->cursor.watching = true; /* every call of the rank comes here, on_call() */
    pass(r, PF_MARK_START, "", 0);
}

void pf_sampling_rank_ends(struct pf_rank *r)
{
    if (all.on && all.bounds)
        end_bounds(r->self.rank, pf_engine_now());
    else if (all.on)
        pass(r, PF_MARK_END, "", pf_engine_now());
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

/* What to say for PARFOCAL_MARKS_AT to get these numbers again. */
static void put_kinds(unsigned kinds)
{
    unsigned wanted = all.kinds, chosen = kinds & wanted;
    if (chosen == wanted) {
        fprintf(all.out, "# at %s\n", pf_config.marks_at);
        return;
    }
    for (int i = PF_MARK_PHASE; i < PF_MARK_SITE; i++)
        if (chosen == 1u << i)
            fprintf(all.out, "# at %s\n", kind_names[i]);
    if (!chosen)
        fprintf(all.out, "# at none\n");
}

static void put_head(const struct pf_mark_sequence *sequence)
{
    unsigned unequal = pf_marks_unequal(all.marks);
    fprintf(all.out, "# parfocal-marks 1\n# ranks %d\n", pf_job_state.size);
    put_kinds(sequence->kinds);
    for (int i = 0; i < PF_MARK_KINDS; i++)
        if (unequal & 1u << i)
            fprintf(all.out, "# unequal %s\n", kind_names[i]);
    fprintf(all.out, "# end %.15g\n", sequence->marks[sequence->count - 1].date);
    pf_sites_print(all.sites, all.out);
    if (all.slices)
        pf_slices_print(all.slices, all.out);
    if (all.bounds)
        fprintf(all.out, "# calls %" PRIu64 "\n", pf_bounds_calls(all.bounds));
    fputs("mark,at,name,date_s,signature,calls,bytes\n", all.out);
}

static void put_marks(const struct pf_mark_sequence *sequence)
{
    for (unsigned i = 0; i < sequence->count; i++) {
        const struct pf_mark *mark = &sequence->marks[i];
        fprintf(all.out, "%u,%s,", i, kind_names[mark->at]);
        put_name(pf_marks_name_of(all.marks, mark->name));
        fprintf(all.out, ",%.15g,%016" PRIx64 ",%" PRIu64 ",%" PRIu64 "\n", mark->date, mark->signature,
                mark->calls, mark->bytes);
    }
}

static bool write_marks(void)
{
    const struct pf_mark_sequence *best = all.marks ? pf_marks_best(all.marks) : NULL;
    if (!best) {
        give_up();
        pf_warn("no marks are written to '%s': not all ranks %s", pf_config.marks,
                all.kinds & 1u << PF_MARK_SITE ? "have called equally often from that site, and ended"
                                               : "have passed the same ones and called MPI_Finalize");
        return false;
    }
    put_head(best);
    put_marks(best);
    bool written = fflush(all.out) == 0 && !ferror(all.out);
    if (fclose(all.out) != 0 || !written)
        pf_die("cannot write the marks '%s': %s", pf_config.marks, strerror(errno));
    all.out = NULL;
    return true;
}

bool pf_sampling_finish(void)
{
    bool written = !all.out || write_marks();
    if (all.windows)
        written &= pf_windows_finish(all.ended == pf_job_state.size ? pf_bounds_calls(all.bounds) : 0);
    pf_marks_free(all.marks);
    pf_sites_free(all.sites);
    pf_bounds_free(all.bounds);
    free(all.slices);
    free(all.end);
    all.marks = NULL;
    all.sites = NULL;
    all.bounds = NULL;
    all.slices = NULL;
    all.end = NULL;
    all.on = false;
    return written;
}
