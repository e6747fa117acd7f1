/* SPDX-License-Identifier: BSD-3-Clause */
/* Stretches of a run in a fine model, between marks. */
#include "middleware/sampling/windows.h"

#include <errno.h>
#include <inttypes.h>
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
#include "middleware/sampling/marks.h"

struct window {
    unsigned first, last;
    double *dates;                 /* the latest of any rank, from `first` to `last`, both included */
    int left;                      /* ranks that have passed the last mark */
    bool entered;                  /* by a rank */
    struct pf_account_spent begin; /* when it was entered */
    double cost;                   /* s of processor time, without the application's */
};

/* Where a rank is. */
struct part {
    unsigned window; /* the one in which it is, or the next one */
    bool inside;
    enum pf_model before; /* the model in force outside */
};

static struct {
    struct window *windows;
    unsigned count;
    bool ends;      /* the run, after its last window, */
    unsigned ended; /* at this mark, or 0 */
    int ranks;
    enum pf_model model;
    struct part *parts;
    FILE *out;
} all;

static _Noreturn void refuse(unsigned line, const char *what)
{
    pf_die("%s: %s: line %u: %s", pf_config_given("windows"), pf_config.windows, line, what);
}

/* One line of the file, without its comment; an empty one says nothing. */
static void read_line(char *text, unsigned line)
{
    struct window window = {0};
    char rest;
    text[strcspn(text, "#\n")] = 0;
    if (!text[strspn(text, " \t\r")])
        return;
    if (strchr(text, '-') || sscanf(text, "%u %u %c", &window.first, &window.last, &rest) != 2)
        refuse(line, "two numbers of marks are wanted, FIRST LAST");
    if (window.first >= window.last)
        refuse(line, "the last mark must come after the first");
    const struct window *before = all.count ? &all.windows[all.count - 1] : NULL;
    if (before && window.first < before->last)
        refuse(line, "a window must not begin before the one above ends");
    all.windows = pf_reallocarray(all.windows, all.count + 1, sizeof window);
    all.windows[all.count++] = window;
}

static void choose_model(void)
{
    const char *name = pf_config.windows_model;
    if (!pf_model_parse(name, strlen(name), &all.model))
        pf_die("%s: unknown model '%s'; models: %s", pf_config_given("windows_model"), name, pf_model_list());
    if (pf_model_missing(all.model))
        pf_die("%s: model '%s' is %s", pf_config_given("windows_model"), name, pf_model_missing(all.model));
}

static void give_up(void)
{
    if (!all.out)
        return;
    fclose(all.out);
    all.out = NULL;
    remove(pf_config.windows_result);
}

void pf_windows_read(void)
{
    FILE *file = fopen(pf_config.windows, "re");
    char *text = NULL;
    size_t room = 0;
    if (!file)
        pf_die("%s: cannot read '%s': %s", pf_config_given("windows"), pf_config.windows, strerror(errno));
    if (!*pf_config.windows_result)
        pf_die("%s: PARFOCAL_WINDOWS_RESULT must name a file for their times", pf_config_given("windows"));
    for (unsigned line = 1; getline(&text, &room, file) > 0; line++)
        read_line(text, line);
    if (ferror(file))
        pf_die("%s: cannot read '%s': %s", pf_config_given("windows"), pf_config.windows, strerror(errno));
    free(text);
    fclose(file);
    choose_model();
    all.out = pf_output_open(pf_config.windows_result, "we");
    if (!all.out)
        pf_die("%s: cannot write '%s': %s", pf_config_given("windows_result"), pf_config.windows_result,
               strerror(errno));
    pf_at_end(give_up);
    all.ends = !pf_config.windows_whole && !*pf_config.marks && !*pf_config.trace &&
               !*pf_config.replay_record && !*pf_config.computation_record;
}

void pf_windows_begin(int ranks)
{
    all.ranks = ranks;
    all.parts = pf_calloc((size_t)ranks, sizeof *all.parts);
    for (unsigned i = 0; i < all.count; i++)
        all.windows[i].dates =
            pf_calloc(all.windows[i].last - all.windows[i].first + 1, sizeof *all.windows[i].dates);
}

void pf_windows_load(void)
{
    pf_model_load(all.model);
}

static void note(struct window *window, unsigned mark, double date)
{
    double *latest = &window->dates[mark - window->first];
    if (date > *latest)
        *latest = date;
}

/* The rank leaves the window in which it is, if this is its last mark. */
static void leave(struct part *part, unsigned mark, double date)
{
    struct window *window = &all.windows[part->window];
    if (!part->inside)
        return;
    note(window, mark, date);
    if (mark != window->last)
        return;
    part->inside = false;
    part->window++;
    if (++window->left < all.ranks)
        return;
    double processor = pf_account_spent().processor - window->begin.processor;
    window->cost = processor - pf_account_application_since(&window->begin);
}

/* It enters the next one, if that begins here. */
static void enter(struct part *part, unsigned mark, double date)
{
    struct window *window = &all.windows[part->window];
    if (part->inside || part->window >= all.count || window->first != mark)
        return;
    part->inside = true;
    if (!window->entered)
        window->begin = pf_account_spent();
    window->entered = true;
    note(window, mark, date);
}

/* Nothing of what follows is asked for when the last window is over. */
static void end_after(unsigned mark)
{
    if (!all.ends || all.count == 0 || all.windows[all.count - 1].left < all.ranks)
        return;
    all.ended = mark;
    pf_job_leave(pf_windows_finish(0) ? 0 : 1);
}

void pf_windows_pass(int rank, struct pf_rank *runs, unsigned mark, double date)
{
    struct part *part = &all.parts[rank];
    bool inside = part->inside;
    leave(part, mark, date);
    enter(part, mark, date);
    if (runs)
        end_after(mark);
    if (!runs || inside == part->inside)
        return;
    if (part->inside)
        part->before = runs->model;
    pf_switch_to(runs, part->inside ? all.model : part->before);
}

static void put_windows(bool *beyond)
{
    fputs("window,mark,date_s\n", all.out);
    for (unsigned i = 0; i < all.count; i++)
        for (unsigned mark = all.windows[i].first;
             mark <= all.windows[i].last && all.windows[i].left == all.ranks; mark++)
            fprintf(all.out, "%u,%u,%.15g\n", i, mark, all.windows[i].dates[mark - all.windows[i].first]);
    if (all.ended)
        fprintf(all.out, "# ended %u\n", all.ended);
    for (unsigned i = 0; i < all.count; i++) {
        const struct window *window = &all.windows[i];
        bool reached = window->left == all.ranks;
        if (!reached && pf_config.windows_open)
            continue;
        fprintf(all.out, "# cost %u %.6f\n", i, window->cost);
        if (reached)
            continue;
        *beyond = true;
        pf_warn("window %u (marks %u to %u): the run has not come to its marks", i, window->first,
                window->last);
    }
}

bool pf_windows_finish(uint64_t calls)
{
    bool beyond = false;
    if (!all.out)
        return true;
    put_windows(&beyond);
    if (calls)
        fprintf(all.out, "# calls %" PRIu64 "\n", calls);
    bool written = fflush(all.out) == 0 && !ferror(all.out);
    if (fclose(all.out) != 0 || !written)
        pf_die("cannot write '%s': %s", pf_config.windows_result, strerror(errno));
    all.out = NULL;
    for (unsigned i = 0; i < all.count; i++)
        free(all.windows[i].dates);
    free(all.windows);
    free(all.parts);
    all.windows = NULL;
    all.parts = NULL;
    return !beyond;
}
