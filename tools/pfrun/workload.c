/* SPDX-License-Identifier: BSD-3-Clause */
/* The file of -workload: a job in each line, "-name A -np N options program arguments". */
#include "tools/pfrun/workload.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/config.h"
#include "base/log.h"
#include "base/memory.h"
#include "middleware/core/workload.h"
#include "tools/pfrun/paraver.h"
#include "tools/pfrun/placement.h"
#include "tools/pfrun/replay.h"

enum { MOST_REPEATS = 100000 };

/* A line, or one of its repetitions. */
struct job {
    struct pf_workload_job given;
    const char *base, *after; /* the name without the number of a repetition; NULL: none */
    struct placement place;
    const char *like;  /* whose hosts it has, NULL: its own, or those of */
    int like_number;   /* that job; -1: none */
    int repeat, np;    /* np: 0 until it is given; then that of all its programs */
    const char *trace; /* is played instead of programs, NULL: none */
    double scale;      /* of its computation; -1: as it says */
};

static struct {
    struct job *jobs;
    int count;
} work;

enum flag {
    NAME,
    NP,
    PLACE,
    PER_HOST,
    HOSTFILE,
    START,
    AFTER,
    MODEL,
    SCHEDULE,
    REPEAT,
    REPLAY,
    REPLAY_SCALE,
    FLAGS
};

static const char *const flags[FLAGS] = {"name",     "np",     "place",  "per-host",
                                         "hostfile", "start",  "after",  "model",
                                         "schedule", "repeat", "replay", "replay-scale"};

static enum flag find_flag(const struct job *job, const char *word)
{
    const char *name = word + 1 + (word[1] == '-');
    for (enum flag flag = NAME; flag < FLAGS; flag++)
        if (strcmp(flags[flag], name) == 0)
            return flag;
    if (strcmp(name, "n") == 0)
        return NP;
    const char *near = pf_nearest_word(name, flags, FLAGS);
    pf_die("%s: a job has no option '%s'%s%s%s (docs/workloads.md lists them; the others come before "
           "-workload)",
           job->given.where, word, near ? ", maybe -" : "", near ? near : "", near ? "?" : "");
}

static int whole_number(const struct job *job, const char *flag, const char *text, int most)
{
    char *end;
    errno = 0;
    long number = strtol(text, &end, 10);
    if (end == text || *end || errno || number < 1 || number > most)
        pf_die("%s: -%s needs a whole number from 1 to %d, not '%s'", job->given.where, flag, most, text);
    return (int)number;
}

static double seconds(const struct job *job, const char *text)
{
    char *end;
    double value = strtod(text, &end);
    if (end == text || *end || !(value >= 0 && value < INFINITY))
        pf_die("%s: -start needs simulated seconds from 0 on, not '%s'", job->given.where, text);
    return value;
}

static const char *good_name(const struct job *job, const char *name)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.+";
    if (name[strspn(name, letters)])
        pf_die("%s: -name '%s': a name has letters, digits and _-.+ only", job->given.where, name);
    return name;
}

static void set(struct job *job, enum flag flag, const char *value)
{
    static const char as[] = "as:";
    switch (flag) {
    case NAME:
        job->base = good_name(job, value);
        break;
    case NP:
        job->np = whole_number(job, "np", value, 10000000);
        break;
    case PLACE:
        if (strncmp(value, as, sizeof as - 1) == 0)
            job->like = value + sizeof as - 1;
        else
            placement_parse(&job->place, value);
        break;
    case PER_HOST:
        job->place.per_host = whole_number(job, "per-host", value, 1000000);
        break;
    case HOSTFILE:
        placement_of_file(&job->place, value);
        break;
    case START:
        job->given.start = seconds(job, value);
        break;
    case AFTER:
        job->after = value;
        break;
    case MODEL:
        job->given.model = value;
        break;
    case SCHEDULE:
        job->given.schedule = value;
        break;
    case REPEAT:
        job->repeat = whole_number(job, "repeat", value, MOST_REPEATS);
        break;
    case REPLAY:
        job->trace = value;
        break;
    case REPLAY_SCALE:
        job->scale = options_parse_scale(value);
        break;
    case FLAGS:
        break;
    }
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static void add(struct job job)
{
    work.jobs = pf_array_double(work.jobs, (size_t)work.count, sizeof *work.jobs);
    work.jobs[work.count++] = job;
}

/* The programs from the words behind the job's own options, once for each repetition. Each begins when the
 * one before has ended, on the same hosts. */
static void add_repeated(struct options *options, struct job *job, char **words, int count)
{
    struct job one = *job;
    for (int i = 1; i <= job->repeat; i++) {
        int before = options->part_count, ranks = options->np, np = job->np;
        if (job->trace)
            np = replay_job(job->trace, job->scale, ranks, words);
        if (job->np && np != job->np)
            pf_die("%s: -np %d: the trace '%s' has %d ranks (leave -np out)", job->given.where, job->np,
                   job->trace, np);
        options_add_programs(options, words, count, np, job->given.where);
        if (job->trace)
            options->parts[before].shown = base_name(job->trace);
        one.given.programs = options->part_count - before;
        one.np = options->np - ranks;
        if (!one.base)
            one.base = good_name(job, base_name(job->trace ? job->trace : options->parts[before].app[0]));
        one.given.name = job->repeat > 1 ? pf_asprintf("%s.%d", one.base, i) : one.base;
        add(one);
        one.after = one.like = NULL;
        one.given.after = one.like_number = work.count - 1;
    }
}

static void read_line(struct options *options, const char *where, char **words, int count)
{
    struct job job = {.given = {.where = where, .after = -1}, .like_number = -1, .repeat = 1, .scale = -1};
    int i = 0;
    job.place.where = where;
    job.place.per_host = 1;
    for (; i < count && words[i][0] == '-'; i += 2) {
        enum flag flag = find_flag(&job, words[i]);
        if (i + 1 == count || !*words[i + 1])
            pf_die("%s: %s needs a value", where, words[i]);
        set(&job, flag, words[i + 1]);
    }
    char *player[2];
    if (job.trace && i < count)
        pf_die("%s: -replay: a trace is played instead of a program, and there is '%s'", where, words[i]);
    if (job.scale >= 0 && !job.trace)
        pf_die("%s: -replay-scale is for -replay only", where);
    add_repeated(options, &job, job.trace ? player : words + i, job.trace ? 2 : count - i);
}

/* The last of that name, or the last repetition; -1: none. */
static int find_job(const char *name)
{
    for (int i = work.count - 1; i >= 0; i--)
        if (strcmp(work.jobs[i].given.name, name) == 0 || strcmp(work.jobs[i].base, name) == 0)
            return i;
    return -1;
}

static int known_job(const struct job *job, const char *flag, const char *name)
{
    int number = find_job(name);
    if (number < 0)
        pf_die("%s: %s%s: there is no job of that name", job->given.where, flag, name);
    return number;
}

static int by_name(const void *a, const void *b)
{
    const struct job *one = *(const struct job *const *)a, *other = *(const struct job *const *)b;
    int order = strcmp(one->given.name, other->given.name);
    return order ? order : one < other ? -1 : 1;
}

static void refuse_equal_names(void)
{
    const struct job **sorted = pf_calloc((size_t)work.count, sizeof *sorted);
    for (int i = 0; i < work.count; i++)
        sorted[i] = &work.jobs[i];
    qsort(sorted, (size_t)work.count, sizeof *sorted, by_name);
    for (int i = 1; i < work.count; i++)
        if (strcmp(sorted[i - 1]->given.name, sorted[i]->given.name) == 0)
            pf_die("%s: there is a job named '%s' already, at %s (-name gives another name)",
                   sorted[i]->given.where, sorted[i]->given.name, sorted[i - 1]->given.where);
    free(sorted);
}

/* A job follows at most one other: a way that comes back to where this look has been already is a circle. */
static void find_predecessors(void)
{
    int *look = pf_calloc((size_t)work.count, sizeof *look); /* the last one that has come by, from 1 */
    for (int i = 0; i < work.count; i++)
        if (work.jobs[i].after)
            work.jobs[i].given.after = known_job(&work.jobs[i], "-after ", work.jobs[i].after);
    for (int i = 0; i < work.count; i++) {
        int at = i;
        for (; at >= 0 && !look[at]; at = work.jobs[at].given.after)
            look[at] = i + 1;
        if (at >= 0 && look[at] == i + 1)
            pf_die("%s: -after: job '%s' waits for itself, by way of job '%s'", work.jobs[at].given.where,
                   work.jobs[at].given.name, work.jobs[work.jobs[at].given.after].given.name);
    }
    free(look);
}

static void find_likes(void)
{
    for (int i = 0; i < work.count; i++) {
        struct job *job = &work.jobs[i];
        int number = job->like ? known_job(job, "-place as:", job->like) : job->like_number;
        if (number < 0)
            continue;
        if (number >= i)
            pf_die("%s: -place as:%s: that job has to stand further up", job->given.where, job->like);
        if (work.jobs[number].np < job->np)
            pf_die("%s: -place as:%s: job '%s' has %d ranks, and that one %d", job->given.where, job->like,
                   job->given.name, job->np, work.jobs[number].np);
        job->place.like = &work.jobs[number].place;
    }
}

void workload_read(struct options *options)
{
    char *line = NULL;
    size_t room = 0;
    FILE *file = fopen(options->workload, "r");
    if (!file)
        pf_die("-workload: cannot read '%s': %s", options->workload, strerror(errno));
    for (int number = 1; getline(&line, &room, file) > 0; number++) {
        int count;
        char *where = pf_asprintf("%s: line %d", options->workload, number);
        char **words = options_cut_line(line, &count, where);
        if (count)
            read_line(options, where, words, count);
        else
            free(where);
        free(words);
    }
    if (ferror(file))
        pf_die("-workload: cannot read '%s': %s", options->workload, strerror(errno));
    free(line);
    fclose(file);
    if (!work.count)
        pf_die("-workload: the file '%s' names no job", options->workload);
    refuse_equal_names();
    find_predecessors();
    find_likes();
    for (int i = 0; i < work.count; i++)
        work.jobs[i].place.ranks = work.jobs[i].np;
}

void workload_begin(const struct options *options)
{
    if (!options->workload)
        return;
    if (options->hostfile)
        pf_die("-hostfile: with -workload, each job has its own (in its line)");
    if (*pf_config.replay_record || paraver_expected())
        pf_die("%s: a recording is of one job, and -workload has several",
               paraver_expected() ? "-trace prv" : pf_config_given("replay_record"));
    struct pf_workload_job *jobs = pf_calloc((size_t)work.count, sizeof *jobs);
    for (int i = 0; i < work.count; i++)
        jobs[i] = work.jobs[i].given;
    pf_workload_set(jobs, work.count, options->goes_on);
}

int workload_hosts(void)
{
    int hosts = 0;
    for (int i = 0; i < work.count; i++)
        hosts += placement_hosts(&work.jobs[i].place);
    return hosts;
}

void workload_place(struct hosts *hosts, const char *platform)
{
    struct placement **places = pf_calloc((size_t)work.count + 1, sizeof *places);
    for (int i = 0; i < work.count; i++) {
        places[i] = &work.jobs[i].place;
        places[i]->name = work.jobs[i].given.name;
    }
    placement_choose(places, work.count, platform);
    for (int i = 0; i < work.count; i++)
        placement_append(places[i], hosts);
    free(places);
}
