/* SPDX-License-Identifier: BSD-3-Clause */
/* Stretches of a run in a fine model, between marks. */
#include "middleware/sampling/windows.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
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

/* Dates of each rank that a window keeps, and what two of them may differ by to be the same. */
#define MOST_DATES 1000000
#define RESOLUTION 1e-9

struct window {
    unsigned first, last;
    double *dates;                 /* the latest of any rank, from `first` to `last`, both included */
    double *by_rank;               /* those of each rank, mark by mark; NULL: nobody keeps them */
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

static void make_room(struct window *window, size_t ranks)
{
    size_t marks = window->last - window->first + 1;
    window->dates = pf_calloc(marks, sizeof(double));
    if (marks <= MOST_DATES / ranks)
        window->by_rank = pf_calloc(marks * ranks, sizeof(double));
}

void pf_windows_begin(int ranks)
{
    all.ranks = ranks;
    all.parts = pf_calloc((size_t)ranks, sizeof *all.parts);
    for (unsigned i = 0; i < all.count; i++)
        make_room(&all.windows[i], (size_t)ranks);
}

void pf_windows_load(void)
{
    pf_model_load(all.model);
}

static void note(struct window *window, unsigned mark, int rank, double date)
{
    size_t at = mark - window->first;
    if (date > window->dates[at])
        window->dates[at] = date;
    if (window->by_rank)
        window->by_rank[at * (size_t)all.ranks + (size_t)rank] = date;
}

/* The rank leaves the window in which it is, if this is its last mark. */
static void leave(struct part *part, unsigned mark, int rank, double date)
{
    struct window *window = &all.windows[part->window];
    if (!part->inside)
        return;
    note(window, mark, rank, date);
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
static void enter(struct part *part, unsigned mark, int rank, double date)
{
    struct window *window = &all.windows[part->window];
    if (part->inside || part->window >= all.count || window->first != mark)
        return;
    part->inside = true;
    if (!window->entered)
        window->begin = pf_account_spent();
    window->entered = true;
    note(window, mark, rank, date);
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
    leave(part, mark, rank, date);
    enter(part, mark, rank, date);
    if (runs)
        end_after(mark);
    if (!runs || inside == part->inside)
        return;
    if (part->inside)
        part->before = runs->model;
    pf_switch_to(runs, part->inside ? all.model : part->before);
}

/* How far the ranks are apart when they pass a mark, as one number: the same for two marks at which all are
 * equally far from the last one, in whole nanoseconds. */
static uint64_t state_of(const struct window *window, unsigned mark)
{
    size_t at = mark - window->first, ranks = (size_t)all.ranks;
    uint64_t state = 0;
    for (size_t i = 0; i < ranks; i++) {
        long long behind = llround((window->dates[at] - window->by_rank[at * ranks + i]) / RESOLUTION);
        state += pf_marks_mix(i + 1 + pf_marks_mix((uint64_t)behind));
    }
    return state;
}

static void put_date(unsigned number, const struct window *window, unsigned mark)
{
    fprintf(all.out, "%u,%u,%.15g,", number, mark, window->dates[mark - window->first]);
    if (window->by_rank)
        fprintf(all.out, "%016" PRIx64, state_of(window, mark));
    putc('\n', all.out);
}

static void put_windows(bool *beyond)
{
    fputs("window,mark,date_s,state\n", all.out);
    for (unsigned i = 0; i < all.count; i++)
        for (unsigned mark = all.windows[i].first;
             mark <= all.windows[i].last && all.windows[i].left == all.ranks; mark++)
            put_date(i, &all.windows[i], mark);
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
    for (unsigned i = 0; i < all.count; i++) {
        free(all.windows[i].dates);
        free(all.windows[i].by_rank);
    }
    free(all.windows);
    free(all.parts);
    all.windows = NULL;
    all.parts = NULL;
    return !beyond;
}
