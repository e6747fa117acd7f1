/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads PARFOCAL_SCHEDULE and says which model is next. */
#include "middleware/agree/schedule.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <uthash.h>
#include <sys/stat.h>

#include "base/memory.h"

/* `happened`: some rank has come there. */
struct phase_item {
    char *name;
    enum pf_model model;
    bool happened;
    UT_hash_handle hh;
};

struct coll_item {
    uint64_t at;
    enum pf_model model;
    bool happened;
};

struct time_item {
    double at;
    enum pf_model model;
    bool happened;
};

struct pf_schedule {
    enum pf_model start;
    unsigned models;
    struct phase_item *phases; /* in the order of the text */
    struct coll_item *colls;   /* ascending */
    struct time_item *times;   /* ascending */
    unsigned coll_count, time_count;
    uint64_t every; /* 0: no rotation */
    enum pf_model *rotation;
    unsigned rotation_count, rotation_reached;
};

/* A piece of the text; everything the parser looks at is one of these, so that a position can always be
 * printed. */
struct span {
    const char *begin, *end;
};

struct parser {
    const char *text; /* to compute positions */
    struct pf_schedule *schedule;
    char *error;
    size_t error_size;
};

/* Reports the first error: where it is (line and column, both from 1) and why. Always returns false. */
static bool fail(struct parser *parser, const char *where, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static bool fail(struct parser *parser, const char *where, const char *format, ...)
{
    int line = 1;
    const char *line_begin = parser->text;
    for (const char *c = parser->text; c < where; c++) {
        if (*c == '\n') {
            line++;
            line_begin = c + 1;
        }
    }
    char reason[300];
    va_list args;
    va_start(args, format);
    vsnprintf(reason, sizeof reason, format, args);
    va_end(args);
    snprintf(parser->error, parser->error_size, "line %d, column %d: %s", line, (int)(where - line_begin) + 1,
             reason);
    return false;
}

static struct span trim(struct span s)
{
    while (s.begin < s.end && isspace((unsigned char)*s.begin))
        s.begin++;
    while (s.end > s.begin && isspace((unsigned char)s.end[-1]))
        s.end--;
    return s;
}

static int length(struct span s)
{
    return (int)(s.end - s.begin);
}

static bool starts_with(struct span s, const char *prefix)
{
    size_t n = strlen(prefix);
    return (size_t)length(s) >= n && memcmp(s.begin, prefix, n) == 0;
}

static bool equals(struct span s, const char *word)
{
    return (size_t)length(s) == strlen(word) && starts_with(s, word);
}

static char *copy(struct span s)
{
    return pf_strndup(s.begin, (size_t)length(s));
}

/* Makes room for one more element at the end of an array that counts its elements, and counts it. */
static void *append(void *array, unsigned *count, size_t size)
{
    array = pf_reallocarray(array, *count + 1u, size);
    memset((char *)array + *count * size, 0, size);
    ++*count;
    return array;
}

static bool parse_model(struct parser *parser, struct span s, enum pf_model *model)
{
    s = trim(s);
    if (s.begin == s.end)
        return fail(parser, s.begin, "a model is missing here");
    if (!pf_model_parse(s.begin, (size_t)length(s), model)) {
        char *word = copy(s);
        const char *near = pf_model_suggest(word);
        fail(parser, s.begin, near ? "unknown model '%s', maybe %s?" : "unknown model '%s'", word, near);
        free(word);
        return false;
    }
    if (pf_model_missing(*model))
        return fail(parser, s.begin, "model '%.*s' is %s", length(s), s.begin, pf_model_missing(*model));
    parser->schedule->models |= 1u << *model;
    return true;
}

static bool parse_count(struct parser *parser, struct span s, const char *what, uint64_t *out)
{
    s = trim(s);
    char *text = copy(s), *end;
    errno = 0;
    unsigned long long value = strtoull(text, &end, 10);
    bool good = isdigit((unsigned char)*text) && !*end && !errno && value > 0;
    free(text);
    if (!good)
        return fail(parser, s.begin, "%s must be a whole number from 1, not '%.*s'", what, length(s),
                    s.begin);
    *out = value;
    return true;
}

static bool parse_time(struct parser *parser, struct span s, double *out)
{
    s = trim(s);
    char *text = copy(s), *end;
    double value = strtod(text, &end);
    bool good = end != text && !*end && isfinite(value) && value >= 0;
    free(text);
    if (!good)
        return fail(parser, s.begin, "a time must be a number of simulated seconds, not '%.*s'", length(s),
                    s.begin);
    *out = value;
    return true;
}

static bool parse_start(struct parser *parser, struct span key, struct span value)
{
    if (parser->schedule->start != PF_MODEL_NONE)
        return fail(parser, key.begin, "@start is given twice");
    return parse_model(parser, value, &parser->schedule->start);
}

static bool parse_coll(struct parser *parser, struct span key, struct span value)
{
    struct pf_schedule *schedule = parser->schedule;
    struct coll_item item = {0};
    key.begin += strlen("@coll:");
    if (!parse_count(parser, key, "the number of a collective", &item.at) ||
        !parse_model(parser, value, &item.model))
        return false;
    for (unsigned i = 0; i < schedule->coll_count; i++)
        if (schedule->colls[i].at == item.at)
            return fail(parser, key.begin, "collective %llu is given twice", (unsigned long long)item.at);
    schedule->colls = append(schedule->colls, &schedule->coll_count, sizeof item);
    unsigned i = schedule->coll_count - 1;
    for (; i > 0 && schedule->colls[i - 1].at > item.at; i--)
        schedule->colls[i] = schedule->colls[i - 1];
    schedule->colls[i] = item;
    return true;
}

static bool parse_at_time(struct parser *parser, struct span key, struct span value)
{
    struct pf_schedule *schedule = parser->schedule;
    struct time_item item = {0};
    key.begin += strlen("@time:");
    if (!parse_time(parser, key, &item.at) || !parse_model(parser, value, &item.model))
        return false;
    for (unsigned i = 0; i < schedule->time_count; i++)
        if (schedule->times[i].at == item.at)
            return fail(parser, key.begin, "time %g is given twice", item.at);
    schedule->times = append(schedule->times, &schedule->time_count, sizeof item);
    unsigned i = schedule->time_count - 1;
    for (; i > 0 && schedule->times[i - 1].at > item.at; i--)
        schedule->times[i] = schedule->times[i - 1];
    schedule->times[i] = item;
    return true;
}

static bool parse_every(struct parser *parser, struct span key, struct span value)
{
    struct pf_schedule *schedule = parser->schedule;
    if (schedule->every)
        return fail(parser, key.begin, "every: is given twice");
    key.begin += strlen("every:");
    if (!parse_count(parser, key, "a number of calls", &schedule->every))
        return false;
    while (value.begin <= value.end) {
        struct span word = {value.begin, value.begin};
        while (word.end < value.end && *word.end != '|')
            word.end++;
        schedule->rotation =
            append(schedule->rotation, &schedule->rotation_count, sizeof *schedule->rotation);
        if (!parse_model(parser, word, &schedule->rotation[schedule->rotation_count - 1]))
            return false;
        value.begin = word.end + 1;
    }
    return true;
}

/* `pcontrol:LEVEL` is a phase name as any other, once the level has been put into its plain form. */
static bool phase_name(struct parser *parser, struct span key, char **out)
{
    if (!starts_with(key, "pcontrol:")) {
        *out = copy(key);
        return true;
    }
    struct span number = trim((struct span){key.begin + strlen("pcontrol:"), key.end});
    char *text = copy(number), *end, plain[40];
    errno = 0;
    long level = strtol(text, &end, 10);
    bool good = end != text && !*end && !errno && level == (int)level;
    free(text);
    if (!good)
        return fail(parser, number.begin, "the level of pcontrol: must be a whole number, not '%.*s'",
                    length(number), number.begin);
    snprintf(plain, sizeof plain, "pcontrol:%ld", level);
    *out = copy((struct span){plain, plain + strlen(plain)});
    return true;
}

static bool parse_phase(struct parser *parser, struct span key, struct span value)
{
    struct pf_schedule *schedule = parser->schedule;
    char *name = NULL;
    enum pf_model model;
    if (!phase_name(parser, key, &name))
        return false;
    if (pf_schedule_phase_model(schedule, name) != PF_MODEL_NONE) {
        fail(parser, key.begin, "phase '%s' is given twice", name);
        free(name);
        return false;
    }
    if (!parse_model(parser, value, &model)) {
        free(name);
        return false;
    }
    struct phase_item *item = pf_calloc(1, sizeof *item);
    item->name = name;
    item->model = model;
    HASH_ADD_KEYPTR(hh, schedule->phases, item->name, strlen(item->name), item);
    return true;
}

static bool parse_item(struct parser *parser, struct span item)
{
    item = trim(item);
    if (item.begin == item.end)
        return true; /* an empty line, or a comma at the end of one */
    const char *sign = memchr(item.begin, '=', (size_t)length(item));
    if (!sign)
        return fail(parser, item.begin, "'%.*s' has no '=MODEL'", length(item), item.begin);
    struct span key = trim((struct span){item.begin, sign}), value = {sign + 1, item.end};
    if (key.begin == key.end)
        return fail(parser, item.begin, "nothing stands before '='");
    if (equals(key, "@start"))
        return parse_start(parser, key, value);
    if (starts_with(key, "@coll:"))
        return parse_coll(parser, key, value);
    if (starts_with(key, "@time:"))
        return parse_at_time(parser, key, value);
    if (*key.begin == '@')
        return fail(parser, key.begin, "unknown event '%.*s' (known: @start, @coll:N, @time:T)", length(key),
                    key.begin);
    if (starts_with(key, "every:"))
        return parse_every(parser, key, value);
    return parse_phase(parser, key, value);
}

/* Splits the text at commas and newlines; from `#` to the end of the line is comment. */
static bool parse_text(struct parser *parser)
{
    const char *c = parser->text;
    while (*c) {
        struct span item = {c, c + strcspn(c, ",\n#")};
        if (!parse_item(parser, item))
            return false;
        c = item.end;
        if (*c == '#')
            c += strcspn(c, "\n");
        if (*c)
            c++;
    }
    return true;
}

bool pf_schedule_parse(const char *text, struct pf_schedule **out, char *error, size_t error_size)
{
    struct pf_schedule *schedule = pf_calloc(1, sizeof *schedule);
    schedule->start = PF_MODEL_NONE;
    struct parser parser = {text, schedule, error, error_size};
    if (!parse_text(&parser)) {
        pf_schedule_free(schedule);
        return false;
    }
    *out = schedule;
    return true;
}

static bool read_file(const char *name, char **text, char *error, size_t error_size)
{
    FILE *file = fopen(name, "r");
    size_t room = 0;
    if (!file || getdelim(text, &room, '\0', file) < 0) {
        if (!file || ferror(file)) {
            snprintf(error, error_size, "cannot read the schedule file '%s': %s", name, strerror(errno));
            if (file)
                fclose(file);
            return false;
        }
        free(*text); /* an empty file is an empty schedule */
        *text = pf_strdup("");
    }
    fclose(file);
    return true;
}

bool pf_schedule_load(const char *text, struct pf_schedule **out, char *error, size_t error_size)
{
    struct stat info;
    if (stat(text, &info) != 0) {
        if (!*text || strpbrk(text, "=#\n"))
            return pf_schedule_parse(text, out, error, error_size);
        snprintf(error, error_size, "'%s' is neither a file nor a schedule (PHASE=MODEL,...)", text);
        return false;
    }
    char *content = NULL, reason[400];
    if (!read_file(text, &content, error, error_size)) {
        free(content);
        return false;
    }
    bool good = pf_schedule_parse(content, out, reason, sizeof reason);
    if (!good)
        snprintf(error, error_size, "%s: %s", text, reason);
    free(content);
    return good;
}

void pf_schedule_free(struct pf_schedule *schedule)
{
    if (!schedule)
        return;
    struct phase_item *item = schedule->phases, *next;
    HASH_CLEAR(hh, schedule->phases); /* the items stay chained */
    for (; item; item = next) {
        next = item->hh.next;
        free(item->name);
        free(item);
    }
    free(schedule->colls);
    free(schedule->times);
    free(schedule->rotation);
    free(schedule);
}

enum pf_model pf_schedule_start(const struct pf_schedule *schedule)
{
    return schedule->start;
}

static struct phase_item *find_phase(const struct pf_schedule *schedule, const char *phase)
{
    struct phase_item *item;
    HASH_FIND_STR(schedule->phases, phase, item);
    return item;
}

enum pf_model pf_schedule_phase_model(const struct pf_schedule *schedule, const char *phase)
{
    const struct phase_item *item = find_phase(schedule, phase);
    return item ? item->model : PF_MODEL_NONE;
}

enum pf_model pf_schedule_enter(struct pf_schedule *schedule, const char *phase)
{
    struct phase_item *item = find_phase(schedule, phase);
    if (!item)
        return PF_MODEL_NONE;
    item->happened = true;
    return item->model;
}

unsigned pf_schedule_models(const struct pf_schedule *schedule)
{
    return schedule->models;
}

void pf_schedule_cursor_init(struct pf_schedule_cursor *cursor, struct pf_schedule *schedule)
{
    *cursor = (struct pf_schedule_cursor){
        .watching = schedule && (schedule->time_count || schedule->coll_count || schedule->every),
        .schedule = schedule,
        .next_time = schedule && schedule->time_count ? schedule->times[0].at : INFINITY,
        .next_coll = schedule && schedule->coll_count ? schedule->colls[0].at : UINT64_MAX,
        .calls_left = schedule && schedule->every ? 1 : UINT64_MAX,
    };
}

static void advance_time(struct pf_schedule_cursor *cursor, double now, enum pf_model *model)
{
    const struct pf_schedule *schedule = cursor->schedule;
    for (; cursor->time_index < schedule->time_count && now >= schedule->times[cursor->time_index].at;
         cursor->time_index++) {
        schedule->times[cursor->time_index].happened = true;
        *model = schedule->times[cursor->time_index].model;
    }
    cursor->next_time =
        cursor->time_index < schedule->time_count ? schedule->times[cursor->time_index].at : INFINITY;
}

static void advance_coll(struct pf_schedule_cursor *cursor, enum pf_model *model)
{
    const struct pf_schedule *schedule = cursor->schedule;
    struct coll_item *item = &schedule->colls[cursor->coll_index++];
    item->happened = true;
    *model = item->model;
    cursor->next_coll = cursor->coll_index < schedule->coll_count
                            ? schedule->colls[cursor->coll_index].at - item->at
                            : UINT64_MAX;
}

static void advance_every(struct pf_schedule_cursor *cursor, enum pf_model *model)
{
    struct pf_schedule *schedule = cursor->schedule;
    *model = schedule->rotation[cursor->every_index];
    if (cursor->every_index >= schedule->rotation_reached)
        schedule->rotation_reached = cursor->every_index + 1;
    cursor->every_index = (cursor->every_index + 1) % schedule->rotation_count;
    cursor->calls_left = schedule->every;
}

enum pf_model pf_schedule_advance(struct pf_schedule_cursor *cursor, double now)
{
    enum pf_model model = PF_MODEL_NONE;
    if (now >= cursor->next_time)
        advance_time(cursor, now, &model);
    if (cursor->next_coll == 0)
        advance_coll(cursor, &model);
    if (cursor->calls_left == 0)
        advance_every(cursor, &model);
    return model;
}

void pf_schedule_offer_add(struct pf_schedule_offer *offer, const struct pf_schedule_cursor *cursor)
{
    const struct pf_schedule *schedule = cursor->schedule;
    if (cursor->coll_index < schedule->coll_count) {
        uint64_t collectives = schedule->colls[cursor->coll_index].at - cursor->next_coll;
        if (collectives > offer->collectives)
            offer->collectives = collectives;
    }
    /* A rank that has come round has made enough of them. */
    uint64_t calls =
        cursor->every_index == 0 ? 0 : cursor->every_index * schedule->every + 1 - cursor->calls_left;
    if (schedule->every && calls > offer->calls)
        offer->calls = calls;
}

static const char *phase_list(const struct pf_schedule_offer *offer, char *text, size_t size)
{
    int n = snprintf(text, size, "the program's phases: ");
    for (size_t i = 0; i < offer->phase_count && n < (int)size; i++)
        n += snprintf(text + n, size - (size_t)n, "%s%s", i ? ", " : "", offer->phases[i]);
    return offer->phase_count ? text : "the program names no phase";
}

static void say(FILE *out, const char *item, enum pf_model model, const char *offered)
{
    fprintf(out, "parfocal: warning: schedule item '%s=%s' never happened: %s\n", item, pf_model_name(model),
            offered);
}

void pf_schedule_report_missed(const struct pf_schedule *schedule, const struct pf_schedule_offer *offer,
                               FILE *out)
{
    char item[200], offered[600];
    for (const struct phase_item *phase = schedule->phases; phase; phase = phase->hh.next)
        if (!phase->happened)
            say(out, phase->name, phase->model, phase_list(offer, offered, sizeof offered));
    for (unsigned i = 0; i < schedule->coll_count; i++) {
        snprintf(item, sizeof item, "@coll:%" PRIu64, schedule->colls[i].at);
        snprintf(offered, sizeof offered, "no rank made more than %" PRIu64 " collectives on MPI_COMM_WORLD",
                 offer->collectives);
        if (!schedule->colls[i].happened)
            say(out, item, schedule->colls[i].model, offered);
    }
    for (unsigned i = 0; i < schedule->time_count; i++) {
        snprintf(item, sizeof item, "@time:%.12g", schedule->times[i].at);
        snprintf(offered, sizeof offered, "the last communicating call was before, the run ended at %.12g s",
                 offer->simulated);
        if (!schedule->times[i].happened)
            say(out, item, schedule->times[i].model, offered);
    }
    for (unsigned i = schedule->rotation_reached; i < schedule->rotation_count; i++) {
        snprintf(item, sizeof item, "every:%" PRIu64, schedule->every);
        snprintf(offered, sizeof offered, "no rank made more than %" PRIu64 " communicating calls",
                 offer->calls);
        say(out, item, schedule->rotation[i], offered);
    }
    if (offer->start_overruled && schedule->start != PF_MODEL_NONE)
        say(out, "@start", schedule->start, offer->start_overruled);
}
