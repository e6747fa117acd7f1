/* SPDX-License-Identifier: BSD-3-Clause */
/* GOAL schedules: the text that LogGOPSim's txt2bin reads; opens its binary form as well. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "adapters/analytic/replay/program.h"
#include "base/log.h"
#include "base/memory.h"
#include "tools/pfreplay/goal.h"

static inline bool is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static inline bool is_of_label(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

static inline char *skip(char *at)
{
    while (*at == ' ' || *at == '\t')
        at++;
    return at;
}

static bool knows(const char *path, const char *head)
{
    if (goal_is_binary(head))
        return true;
    for (;;) {
        head += strspn(head, " \t\r\n");
        if (strncmp(head, "//", 2) == 0)
            head += strcspn(head, "\n");
        else if (strncmp(head, "/*", 2) == 0 && strstr(head, "*/"))
            head = strstr(head, "*/") + 2;
        else
            break;
    }
    return strncmp(head, "num_ranks", 9) == 0;
}

/* Takes a comment out that begins in this line and ends in it or in a later one. */
static void cut_comment(struct goal *goal, char *comment)
{
    char *close = strstr(comment + 2, "*/"), *rest = NULL;
    size_t room = 0;
    if (close) {
        memmove(comment, close + 2, strlen(close + 2) + 1);
        return;
    }
    *comment = 0;
    while (!close && getline(&rest, &room, goal->file) > 0) {
        goal->line++;
        close = strstr(rest, "*/");
    }
    char *joined = pf_asprintf("%s%s", goal->text, close ? close + 2 : "");
    free(rest);
    free(goal->text);
    goal->text = joined;
    goal->room = strlen(joined) + 1;
}

/* The next line that says something, without comments. NULL at the end. */
static char *next_line(struct goal *goal)
{
    char *rest = goal->rest;
    goal->rest = NULL;
    if (rest)
        return rest;
    while (getline(&goal->text, &goal->room, goal->file) > 0) {
        char *comment;
        goal->line++;
        bool comments = strchr(goal->text, '/') != NULL;
        while (comments && (comment = strstr(goal->text, "/*")))
            cut_comment(goal, comment);
        comment = !comments ? NULL : strstr(goal->text, "//");
        if (comment)
            *comment = 0;
        char *text = goal->text, *end = text + strlen(text);
        while (is_space(*text))
            text++;
        while (end > text && is_space(end[-1]))
            *--end = 0;
        if (*text)
            return text;
    }
    return NULL;
}

/* A brace ends what it stands behind, and what stands behind a brace is as a line of its own. */
static void keep_rest(struct goal *goal, char *at)
{
    at = skip(at);
    goal->rest = *at ? at : NULL;
}

static long number(struct goal *goal, char **at, const char *what, bool any)
{
    const char *digit = skip(*at);
    bool negative = *digit == '-';
    long value = 0;
    int digits = 0;
    for (digit += negative; *digit >= '0' && *digit <= '9' && digits < 18; digit++, digits++)
        value = 10 * value + (*digit - '0');
    if (digits == 0 || (negative && !(any && value == 1)) || value > INT32_MAX * 1000000l)
        goal_wrong(goal, what);
    *at = (char *)digit;
    return negative ? -value : value;
}

/* Whether the word comes next; it is passed over. */
static bool word(char **at, const char *name)
{
    char *c = *at = skip(*at);
    for (; *name; name++, c++)
        if (*c != *name)
            return false;
    if (is_of_label(*c))
        return false;
    *at = c;
    return true;
}

/* Where the label's operation is in `labelled`, or would be. */
static int *place_of(const struct goal *goal, const char *label)
{
    unsigned hash = 5381, mask = (unsigned)goal->labelled_room - 1;
    for (const char *c = label; *c; c++)
        hash = hash * 33 + (unsigned char)*c;
    hash *= 2654435761u;
    for (unsigned i = hash >> 7;; i++) {
        int *place = &goal->labelled[i & mask];
        if (!*place || strcmp(goal->names + goal->operations[*place - 1].label, label) == 0)
            return place;
    }
}

static int find(const struct goal *goal, const char *label)
{
    int index = goal->labelled_room ? *place_of(goal, label) : 0;
    if (!index)
        goal_wrong(goal, "a label is required that stands before no operation");
    return index - 1;
}

/* At most half of the places are taken. Only labels that are there count as such: label 0 is none. */
static void grow_labels(struct goal *goal)
{
    goal->labelled_room = goal->labelled_room ? 2 * goal->labelled_room : 1024;
    free(goal->labelled);
    goal->labelled = pf_calloc((size_t)goal->labelled_room, sizeof *goal->labelled);
    for (int i = 0; i < goal->count; i++)
        if (goal->operations[i].label)
            *place_of(goal, goal->names + goal->operations[i].label) = i + 1;
}

/* Gives the last operation its label. */
static void add_label(struct goal *goal, const char *label)
{
    size_t length = strlen(label) + 1;
    if (2 * goal->count >= goal->labelled_room)
        grow_labels(goal);
    PF_ARRAY_ROOM(goal->names, goal->names_room, goal->names_used + length);
    int *place = place_of(goal, label);
    if (*place)
        goal_wrong(goal, "two operations have one label");
    memcpy(goal->names + goal->names_used, label, length);
    goal->operations[goal->count - 1].label = goal->names_used;
    goal->names_used += length;
    *place = goal->count;
}

static void end_operation(struct goal *goal, char *at, const char *what)
{
    keep_rest(goal, at);
    if (goal->rest && *goal->rest != '}')
        goal_wrong(goal, what);
}

/* [cpu C] [nic N], and the end of the line. Adds the operation. */
static struct goal_operation *read_places(struct goal *goal, enum goal_kind kind, long size, char *at)
{
    long places[2] = {0, 0};
    for (bool cpu; *at && ((cpu = word(&at, "cpu")) || word(&at, "nic"));)
        places[!cpu] = number(goal, &at, "the number of a cpu or nic must be a number", false);
    end_operation(goal, at, "something stands behind the operation");
    return goal_add(goal, kind, size, places[0], places[1]);
}

/* SIZEb to RANK [tag T] [cpu C] [nic N] */
static void read_message(struct goal *goal, enum goal_kind kind, char *at)
{
    bool receives = kind == GOAL_RECV;
    long size = number(goal, &at, "the size of a message must be a number", false), tag = 0;
    if (!word(&at, "b"))
        goal_wrong(goal, "the size of a message ends in b");
    if (!word(&at, receives ? "from" : "to"))
        goal_wrong(goal, receives ? "'from' is missing" : "'to' is missing");
    long peer = number(goal, &at, "the other rank must be a number", receives);
    if (word(&at, "tag"))
        tag = number(goal, &at, "the tag must be a number", true);
    goal_set_peer(goal, read_places(goal, kind, size, at), peer, tag);
}

static void read_operation(struct goal *goal, char *label, char *at)
{
    char first = *(at = skip(at));
    if (first == 'c' && word(&at, "calc")) {
        long time = number(goal, &at, "the time of a calc must be a number", false);
        read_places(goal, GOAL_CALC, time, at);
    } else if (word(&at, first == 's' ? "send" : "recv")) {
        read_message(goal, first == 's' ? GOAL_SEND : GOAL_RECV, at);
    } else {
        goal_wrong(goal,
                   label ? "there are send, recv and calc" : "neither an operation nor what one requires");
    }
    if (label)
        add_label(goal, label);
}

/* [LABEL:] OPERATION, or LABEL requires LABEL. */
static void read_line(struct goal *goal, char *at)
{
    char *label = at;
    while (is_of_label(*at))
        at++;
    char *end = at;
    at = skip(at);
    if (*at == ':' && end > label) {
        *end = 0;
        read_operation(goal, label, at + 1);
        return;
    }
    bool begins = *at == 'i';
    if (end == label || strncmp(at + begins, "requires", 8) != 0) {
        read_operation(goal, NULL, label);
        return;
    }
    *end = 0;
    char *required = skip(at + begins + 8);
    for (at = required; is_of_label(*at);)
        at++;
    end_operation(goal, at, "something stands behind what is required");
    memmove(required - 1, required, (size_t)(at - required)); /* makes room for its end before a brace */
    at[-1] = 0;
    goal_require(goal, find(goal, label), find(goal, required - 1), !begins);
}

static void read_rank(struct goal *goal, char *line)
{
    char *at = line;
    if (!word(&at, "rank"))
        goal_wrong(goal, "'rank' is missing");
    goal_begin_rank(goal, number(goal, &at, "the number of a rank is missing", false));
    if (!word(&at, "{"))
        goal_wrong(goal, "'{' is missing");
    keep_rest(goal, at);
    for (;;) {
        line = next_line(goal);
        if (!line)
            goal_wrong(goal, "the file ends before the rank does");
        if (*line == '}')
            break;
        read_line(goal, line);
    }
    keep_rest(goal, line + 1);
    goal_end_rank(goal);
}

static void read_text(struct goal *goal)
{
    char *line = next_line(goal), *at = line;
    if (!line || !word(&at, "num_ranks"))
        pf_die("-replay: cannot read '%s': no ranks in it", goal->path);
    goal_begin(goal, number(goal, &at, "the number of ranks is missing", false));
    keep_rest(goal, at);
    while ((line = next_line(goal)))
        read_rank(goal, line);
    for (int rank = 0; rank < goal->ranks; rank++)
        if (!goal->seen[rank])
            pf_die("%s: rank %d of %d is missing", goal->path, rank, goal->ranks);
}

static void read_all(struct goal *goal)
{
    char head[8] = "";
    rewind(goal->file);
    bool binary = fread(head, 1, sizeof head, goal->file) == sizeof head && goal_is_binary(head);
    rewind(goal->file);
    goal->line = 0;
    if (binary)
        goal_read_binary(goal);
    else
        read_text(goal);
    free(goal->seen);
}

/* What is not played as it stands there. */
static void warn(const struct goal *goal)
{
    const struct an_program *program = goal->source->program;
    if (goal->streams && !program)
        pf_warn("%s: the processors (cpu) of a rank work one after the other where ranks play the schedule; "
                "at the same time in model analytic without ranks",
                goal->path);
    if (goal->nics && !(program && program->loggops))
        pf_warn("%s: its ranks have several NICs (nic), and one here: PARFOCAL_REPLAY_LOGGOPS has several",
                goal->path);
}

/* In several streams a rank is a graph, which is known when all has been read. */
static void goal_open(struct replay_source *source, const char *path)
{
    struct replay_text text = {0};
    struct goal goal = {
        .source = source, .path = path, .file = fopen(path, "re"), .names_used = 1, .lines = &text};
    if (!goal.file)
        pf_die("-replay: cannot read '%s': %s", path, strerror(errno));
    read_all(&goal);
    if (source->program && goal.streams && !source->program->graphs)
        read_all(&goal);
    fclose(goal.file);
    warn(&goal);
    free(goal.text);
    free(goal.operations);
    free(goal.edges);
    free(goal.names);
    free(goal.labelled);
    if (!source->program)
        replay_text_end(&text, source, pf_asprintf("%s (as text)", path));
}

const struct replay_source_ops replay_goal = {.size = sizeof replay_goal,
                                              .name = "goal",
                                              .knows = knows,
                                              .open = goal_open,
                                              .next = replay_ti_next,
                                              .file = replay_ti_file,
                                              .line = replay_ti_line};
