/* SPDX-License-Identifier: BSD-3-Clause */
/* Stretches of a run in a fine model, between marks. */
#include "middleware/sampling/windows.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/config.h"
#include "base/log.h"
#include "base/memory.h"
#include "middleware/agree/switch.h"
#include "middleware/core/job_state.h"
#include "middleware/io/file.h"
#include "middleware/sampling/copies.h"
#include "middleware/sampling/kept.h"
#include "middleware/sampling/spans.h"

struct window {
    unsigned first, last;
    double *dates; /* the latest of any rank, from `first` to `last`, both included */
    int left;      /* ranks that have passed the last mark */
    bool entered;  /* by a rank */
    double cost;   /* s of processor time of the process, at first when it was entered */
    char *failure; /* what has become of its copy; NULL: nothing bad */
    bool finished; /* its copy has told its dates */
};

/* Who simulates windows: PARFOCAL_WINDOWS_BY. */
enum by { BY_RUN, BY_FORK, BY_LATER };

/* Where a rank is. */
struct part {
    unsigned window; /* the one in which it is, or the next one */
    bool inside;
    enum pf_model before; /* the model in force outside */
};

static struct {
    struct window *windows;
    unsigned count;
    unsigned number;  /* of the first one, when others have been before */
    unsigned next;    /* of those that are copied, */
    unsigned copied;  /* which are so many, from the first on */
    unsigned end;     /* behind the last one that this process runs itself */
    unsigned reached; /* marks so far, by any rank */
    enum by by;
    bool ends;      /* the run, after its last window, */
    unsigned ended; /* at this mark, or 0 */
    int ranks;
    enum pf_model model;
    struct part *parts;
    FILE *out;
} all;

/* Takes over the spans. */
static void set_windows(struct pf_spans *spans)
{
    all.count = spans->count;
    all.windows = pf_calloc(spans->count + 1, sizeof *all.windows);
    for (unsigned i = 0; i < spans->count; i++) {
        struct window *window = &all.windows[i];
        window->first = spans->span[i].first;
        window->last = spans->span[i].last;
        window->dates = pf_calloc(window->last - window->first + 1, sizeof *window->dates);
    }
}

static void free_windows(void)
{
    for (unsigned i = 0; i < all.count; i++) {
        free(all.windows[i].dates);
        free(all.windows[i].failure);
    }
    free(all.windows);
    all.windows = NULL;
    all.count = 0;
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
    struct stat info;
    if (!all.out)
        return;
    bool regular = fstat(fileno(all.out), &info) == 0 && S_ISREG(info.st_mode);
    fclose(all.out);
    all.out = NULL;
    if (regular)
        remove(pf_config.windows_result);
}

static void open_result(void)
{
    all.out = fopen(pf_config.windows_result, "we");
    if (!all.out)
        pf_die("%s: cannot write '%s': %s", pf_config_given("windows_result"), pf_config.windows_result,
               strerror(errno));
    pf_at_end(give_up);
    fputs("window,mark,date_s\n", all.out);
}

void pf_windows_read(void)
{
    struct pf_spans spans = {0};
    all.by = *pf_config.windows_by == 'r' ? BY_RUN : *pf_config.windows_by == 'f' ? BY_FORK : BY_LATER;
    pf_spans_open();
    if (!*pf_config.windows_result)
        pf_die("%s: where do their times go? PARFOCAL_WINDOWS_RESULT names a file",
               pf_config_given("windows"));
    if (all.by != BY_LATER) {
        pf_spans_read(&spans, all.by == BY_FORK, false);
        pf_spans_close();
        set_windows(&spans);
        free(spans.span);
    }
    choose_model();
    open_result();
    if (all.by != BY_RUN)
        pf_copies_prepare();
    all.end = all.by == BY_RUN ? all.count : 0;
    all.copied = all.by == BY_FORK ? all.count : 0;
    all.ends = all.count > 0 && !pf_config.windows_whole && !*pf_config.marks && !*pf_config.trace &&
               !*pf_config.replay_record && !*pf_config.computation_record;
}

void pf_windows_begin(int ranks)
{
    all.ranks = ranks;
    all.parts = pf_calloc((size_t)ranks, sizeof *all.parts);
}

void pf_windows_load(void)
{
    pf_model_load(all.model); /* before any copy is made: they shall not have to */
}

/* Seconds of processor time. */
static double used(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static void note(struct window *window, unsigned mark, double date)
{
    double *latest = window->dates ? &window->dates[mark - window->first] : NULL;
    if (latest && date > *latest)
        *latest = date;
}

static void tell_window(const struct pf_told *told)
{
    pf_copies_tell(told);
}

/* In a copy: the window that it runs itself is over, and so is the copy. */
static void tell_own(const struct window *window)
{
    struct pf_told told = {.window = all.number + (unsigned)(window - all.windows), .cost = used()};
    told.dates = window->dates;
    told.count = window->last - window->first + 1;
    pf_copies_tell(&told);
    pf_copies_end();
}

/* The rank leaves the window in which it is, if this is its last mark. */
static void leave(struct part *part, unsigned mark, double date)
{
    if (!part->inside || part->window >= all.count)
        return;
    struct window *window = &all.windows[part->window];
    note(window, mark, date);
    if (mark != window->last)
        return;
    part->inside = false;
    part->window++;
    if (++window->left < all.ranks)
        return;
    window->cost = used() - window->cost;
    if (pf_copies_is_one())
        tell_own(window);
}

/* The first rank enters a window that this process runs itself. A runner tells what it knows before: it may
 * end in there. */
static void begin_window(struct window *window)
{
    window->entered = true;
    window->cost = used();
    if (!pf_copies_is_one())
        return;
    pf_copies_finish(tell_window);
    pf_copies_limit();
}

/* It enters the next one, if that begins here. */
static void enter(struct part *part, unsigned mark, double date)
{
    struct window *window = &all.windows[part->window];
    if (part->inside || part->window >= all.end || window->first != mark)
        return;
    part->inside = true;
    if (!window->entered)
        begin_window(window);
    note(window, mark, date);
}

/* Nothing of what follows is asked for when the last window is over, or its copy made. */
static void end_after(unsigned mark)
{
    bool over = all.by == BY_FORK ? all.next == all.count : all.windows[all.count - 1].left == all.ranks;
    if (!over)
        return;
    all.ended = mark;
    pf_job_leave(pf_windows_finish(true) ? 0 : 1);
}

/* From here on this process simulates one window itself, and makes no copies behind that. */
static void become_copy(unsigned window)
{
    all.ends = false;
    if (all.copied > window)
        all.copied = window;
    all.end = window + 1;
    for (int i = 0; i < all.ranks; i++)
        all.parts[i] = (struct part){.window = window};
}

/* From here on it goes through some windows: copies for all but the last one, which it simulates itself. */
static void become_runner(struct pf_spans *spans, unsigned first)
{
    all.by = BY_FORK;
    all.number = first;
    set_windows(spans);
    free(spans->span);
    all.next = 0;
    all.copied = all.count;
    become_copy(all.count - 1);
}

/* The first rank comes to a mark: copies are made of what is to be copied. */
static void reach(unsigned mark, uint64_t calls)
{
    struct pf_spans spans;
    unsigned first;
    all.reached++;
    if (all.by == BY_LATER && pf_kept_pass(mark, calls, &spans, &first))
        become_runner(&spans, first);
    for (; all.next < all.copied && all.windows[all.next].first == mark; all.next++)
        if (pf_copies_make(all.number + all.next)) {
            become_copy(all.next);
            break;
        }
}

void pf_windows_pass(struct pf_rank *r, const struct pf_passed *passed)
{
    struct part *part = &all.parts[r->self.rank];
    unsigned mark = passed->mark;
    double date = passed->date;
    bool runs = passed->runs;
    if (mark == all.reached)
        reach(mark, passed->calls);
    bool inside = part->inside;
    leave(part, mark, date);
    enter(part, mark, date);
    if (runs && all.ends)
        end_after(mark);
    if (!runs || inside == part->inside)
        return;
    if (part->inside)
        part->before = r->model;
    pf_switch_to(r, part->inside ? all.model : part->before);
}

static void take_result(const struct pf_told *told)
{
    struct window *window = &all.windows[told->window - all.number];
    size_t count = window->last - window->first + 1;
    window->cost = told->cost;
    window->finished = !told->failure && told->count == count;
    if (window->finished)
        memcpy(window->dates, told->dates, count * sizeof *window->dates);
    else
        window->failure =
            pf_asprintf("its copy %s", told->failure ? told->failure : "has not told all dates");
}

/* Says what is missing of a window; NULL: nothing is. */
static const char *what_fails(const struct window *window, bool *beyond)
{
    if (window->failure || window->finished)
        return window->failure;
    if (all.by == BY_RUN && window->left == all.ranks)
        return NULL;
    *beyond = true;
    return "the run has not come to its marks";
}

static void put_windows(bool *beyond)
{
    for (unsigned i = 0; i < all.count; i++)
        for (unsigned mark = all.windows[i].first;
             mark <= all.windows[i].last && !what_fails(&all.windows[i], beyond); mark++)
            fprintf(all.out, "%u,%u,%.15g\n", all.number + i, mark,
                    all.windows[i].dates[mark - all.windows[i].first]);
    if (all.ended)
        fprintf(all.out, "# ended %u\n", all.ended);
    for (unsigned i = 0; i < all.count; i++) {
        const struct window *window = &all.windows[i];
        const char *failure = what_fails(window, beyond);
        fprintf(all.out, "# cost %u %.6f\n", all.number + i, window->cost);
        if (!failure)
            continue;
        fprintf(all.out, "# failed %u %s\n", all.number + i, failure);
        pf_warn("window %u (marks %u to %u): %s", all.number + i, window->first, window->last, failure);
    }
}

static _Noreturn void refuse_result(void)
{
    pf_die("cannot write '%s': %s", pf_config.windows_result, strerror(errno));
}

static void flush(void)
{
    if (fflush(all.out) != 0 || ferror(all.out))
        refuse_result();
}

/* Windows that lie within the run: those behind come last. */
static struct pf_spans within(const struct pf_spans *spans)
{
    struct pf_spans some = *spans;
    while (some.count > 0 && some.span[some.count - 1].last >= all.reached)
        some.count--;
    return some;
}

/* Answers orders until nobody gives any more. */
static void serve(bool *beyond)
{
    bool more;
    if (pf_file_opened) /* a copy from before could not open them, and would go on in some other way */
        pf_die("%sthe program has had files of MPI open; windows_by run would do", pf_copies_setting());
    pf_kept_print(all.out);
    fputs("# marks written\n", all.out);
    flush();
    do {
        struct pf_spans spans;
        more = pf_spans_read(&spans, true, true);
        set_windows(&spans);
        struct pf_spans some = within(&spans);
        pf_kept_run(&some, all.number, take_result);
        put_windows(beyond);
        if (more || all.count > 0)
            fputs("# done\n", all.out);
        flush();
        all.number += spans.count;
        free(spans.span);
        free_windows();
    } while (more);
    pf_spans_close();
    fprintf(all.out, "# kept cost %.6f\n", pf_kept_finish());
}

bool pf_windows_finish(bool complete)
{
    bool beyond = false;
    if (!all.out)
        return true;
    if (all.by == BY_FORK)
        pf_copies_finish(take_result);
    if (all.by == BY_LATER && complete)
        serve(&beyond);
    else
        put_windows(&beyond);
    flush();
    if (fclose(all.out) != 0)
        refuse_result();
    all.out = NULL;
    free_windows();
    free(all.parts);
    all.parts = NULL;
    return !beyond;
}
