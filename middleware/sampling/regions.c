/* SPDX-License-Identifier: BSD-3-Clause */
/* Stretches of a run in a fine model, between markers. */
#include "middleware/sampling/regions.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/config.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/output_file.h"
#include "middleware/account/accounting.h"
#include "middleware/agree/switch.h"
#include "middleware/core/job_state.h"

struct region {
    unsigned first, last;
    double *dates;                 /* the latest of any rank, from `first` to `last`, both included */
    int left;                      /* ranks that have passed the last marker */
    bool entered;                  /* by a rank */
    struct pf_account_spent begin; /* when it was entered */
    double cost;                   /* s of processor time, without the application's */
};

/* Where a rank is. */
struct part {
    unsigned region; /* the one in which it is, or the next one */
    bool inside;
    enum pf_model before; /* the model in force outside */
};

static struct {
    struct region *regions;
    unsigned count;
    bool ends;      /* the run, after its last region, */
    unsigned ended; /* at this marker, or 0 */
    enum pf_model model;
    struct part *parts;
    char *path; /* of the result */
    FILE *out;
} all;

static _Noreturn void refuse(unsigned line, const char *what)
{
    pf_die("%s: %s: line %u: %s", pf_config_given("regions"), pf_config.regions, line, what);
}

/* One line of the file, without its comment; an empty one has no region. */
static void read_line(char *text, unsigned line)
{
    struct region region = {0};
    char rest;
    text[strcspn(text, "#\n")] = 0;
    if (!text[strspn(text, " \t\r")])
        return;
    if (strchr(text, '-') || sscanf(text, "%u %u %c", &region.first, &region.last, &rest) != 2)
        refuse(line, "expected two numbers of markers, FIRST LAST");
    if (region.first >= region.last)
        refuse(line, "the last marker must come after the first");
    const struct region *before = all.count ? &all.regions[all.count - 1] : NULL;
    if (before && region.first < before->last)
        refuse(line, "a region must not begin before the one above ends");
    all.regions = pf_reallocarray(all.regions, all.count + 1, sizeof region);
    all.regions[all.count++] = region;
}

static void choose_model(void)
{
    const char *name = pf_config.regions_model;
    if (!pf_model_parse(name, strlen(name), &all.model))
        pf_die("%s: unknown model '%s'; models: %s", pf_config_given("regions_model"), name, pf_model_list());
    if (pf_model_missing(all.model))
        pf_die("%s: model '%s' is %s", pf_config_given("regions_model"), name, pf_model_missing(all.model));
}

static void give_up(void)
{
    if (!all.out)
        return;
    fclose(all.out);
    all.out = NULL;
    remove(all.path);
}

void pf_regions_read(void)
{
    FILE *file = fopen(pf_config.regions, "re");
    char *text = NULL;
    size_t room = 0;
    if (!file)
        pf_die("%s: cannot read '%s': %s", pf_config_given("regions"), pf_config.regions, strerror(errno));
    for (unsigned line = 1; getline(&text, &room, file) > 0; line++)
        read_line(text, line);
    if (ferror(file))
        pf_die("%s: cannot read '%s': %s", pf_config_given("regions"), pf_config.regions, strerror(errno));
    free(text);
    fclose(file);
    choose_model();
    all.path = pf_asprintf("%s.dates", pf_config.regions);
    all.out = pf_output_open(all.path, "we");
    if (!all.out)
        pf_die("%s: cannot write '%s': %s", pf_config_given("regions"), all.path, strerror(errno));
    pf_at_end(give_up);
    all.ends = !*pf_config.markers && !*pf_config.trace && !*pf_config.replay_record &&
               !*pf_config.computation_record;
}

void pf_regions_begin(void)
{
    all.parts = pf_calloc((size_t)pf_job_state.size, sizeof *all.parts);
    for (unsigned i = 0; i < all.count; i++)
        all.regions[i].dates =
            pf_calloc(all.regions[i].last - all.regions[i].first + 1, sizeof *all.regions[i].dates);
}

void pf_regions_load(void)
{
    pf_model_load(all.model);
}

static void note(struct region *region, unsigned marker, double date)
{
    double *latest = &region->dates[marker - region->first];
    if (date > *latest)
        *latest = date;
}

/* The rank leaves the region in which it is, if this is its last marker. */
static void leave(struct part *part, unsigned marker, double date)
{
    struct region *region = &all.regions[part->region];
    if (!part->inside)
        return;
    note(region, marker, date);
    if (marker != region->last)
        return;
    part->inside = false;
    part->region++;
    if (++region->left < pf_job_state.size)
        return;
    double processor = pf_account_spent().processor - region->begin.processor;
    region->cost = processor - pf_account_application_since(&region->begin);
}

/* It enters the next one, if that begins here. */
static void enter(struct part *part, unsigned marker, double date)
{
    struct region *region = &all.regions[part->region];
    if (part->inside || part->region >= all.count || region->first != marker)
        return;
    part->inside = true;
    if (!region->entered)
        region->begin = pf_account_spent();
    region->entered = true;
    note(region, marker, date);
}

/* The result does not depend on what follows the last region. */
static void end_after(unsigned marker)
{
    if (!all.ends || all.count == 0 || all.regions[all.count - 1].left < pf_job_state.size)
        return;
    all.ended = marker;
    pf_regions_finish();
    pf_job_leave(0);
}

void pf_regions_pass(int rank, struct pf_rank *runs, unsigned marker, double date)
{
    struct part *part = &all.parts[rank];
    bool inside = part->inside;
    leave(part, marker, date);
    enter(part, marker, date);
    if (runs)
        end_after(marker);
    if (!runs || inside == part->inside)
        return;
    if (part->inside)
        part->before = runs->model;
    pf_switch_to(runs, part->inside ? all.model : part->before);
}

static void put_region(unsigned number, const struct region *region)
{
    if (region->left < pf_job_state.size)
        return;
    for (unsigned marker = region->first; marker <= region->last; marker++)
        fprintf(all.out, "%u,%u,%.15g\n", number, marker, region->dates[marker - region->first]);
    fprintf(all.out, "# cost %u %.6f\n", number, region->cost);
}

void pf_regions_finish(void)
{
    if (!all.out)
        return;
    fputs("region,marker,date_s\n", all.out);
    for (unsigned i = 0; i < all.count; i++) {
        put_region(i, &all.regions[i]);
        free(all.regions[i].dates);
    }
    if (all.ended)
        fprintf(all.out, "# ended %u\n", all.ended);
    bool written = fflush(all.out) == 0 && !ferror(all.out);
    if (fclose(all.out) != 0 || !written)
        pf_die("cannot write '%s': %s", all.path, strerror(errno));
    all.out = NULL;
    free(all.regions);
    free(all.parts);
    free(all.path);
}
