/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * GOAL schedules, the text that LogGOPSim's txt2bin reads: operations of each rank with what they require. A
 * rank of ours does one thing after the other, so they are brought into an order: what can begin without
 * waiting begins, otherwise the first one that is left waits for what it requires.
 */
#include <ctype.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <uthash.h>

#include "base/log.h"
#include "base/memory.h"
#include "tools/pfreplay/text.h"

enum kind { SEND, RECV, CALC };

struct edge {
    int on;        /* the operation that is required */
    bool finished; /* it must have ended; else it must have begun */
    int next;      /* of the same operation; -1: the last */
};

struct operation {
    char *label; /* NULL: none */
    enum kind kind;
    bool begun, finished;
    long size, peer, tag;
    int index, edges; /* its number; the first edge, -1: none */
    UT_hash_handle hh;
};

struct goal {
    const char *path;
    FILE *file;
    long line;
    char *text;
    size_t room;
    int ranks, rank;
    struct operation **operations;
    struct operation *labels;
    struct edge *edges;
    int count, operation_room, edge_count, edge_room;
};

static _Noreturn void wrong(const struct goal *goal, const char *what)
{
    pf_die("%s: line %ld: rank %d: %s", goal->path, goal->line, goal->rank, what);
}

static bool knows(const char *path, const char *head)
{
    (void)path;
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
    while (getline(&goal->text, &goal->room, goal->file) > 0) {
        char *comment;
        goal->line++;
        while ((comment = strstr(goal->text, "/*")))
            cut_comment(goal, comment);
        comment = strstr(goal->text, "//");
        if (comment)
            *comment = 0;
        char *text = goal->text + strspn(goal->text, " \t\r\n");
        for (size_t length = strlen(text); length > 0 && isspace((unsigned char)text[length - 1]);)
            text[--length] = 0;
        if (*text)
            return text;
    }
    return NULL;
}

static long number(struct goal *goal, char **at, const char *what, bool any)
{
    char *end;
    *at += strspn(*at, " \t");
    long value = strtol(*at, &end, 10);
    if (end == *at || (value < 0 && !(any && value == -1)) || value > INT32_MAX * 1000000l)
        wrong(goal, what);
    *at = end;
    return value;
}

/* Whether the word comes next; it is passed over. */
static bool word(char **at, const char *name)
{
    *at += strspn(*at, " \t");
    size_t length = strlen(name);
    if (strncmp(*at, name, length) != 0 || isalnum((unsigned char)(*at)[length]) || (*at)[length] == '_')
        return false;
    *at += length;
    return true;
}

static struct operation *find(struct goal *goal, const char *label)
{
    struct operation *operation;
    HASH_FIND_STR(goal->labels, label, operation);
    if (!operation)
        wrong(goal, "a label is required that stands before no operation");
    return operation;
}

static void add_edge(struct goal *goal, char *from, char *on, bool finished)
{
    on += strspn(on, " \t");
    struct operation *operation = find(goal, from);
    if (goal->edge_count == goal->edge_room) {
        goal->edge_room = goal->edge_room ? 2 * goal->edge_room : 256;
        goal->edges = pf_reallocarray(goal->edges, (size_t)goal->edge_room, sizeof *goal->edges);
    }
    goal->edges[goal->edge_count] =
        (struct edge){.on = find(goal, on)->index, .finished = finished, .next = operation->edges};
    operation->edges = goal->edge_count++;
}

/* SIZEb to RANK [tag T] [cpu C] [nic N] */
static void read_message(struct goal *goal, struct operation *operation, char *at)
{
    bool receives = operation->kind == RECV;
    operation->size = number(goal, &at, "the size of a message must be a number", false);
    if (!word(&at, "b"))
        wrong(goal, "the size of a message ends in b");
    if (!word(&at, receives ? "from" : "to"))
        wrong(goal, receives ? "'from' is missing" : "'to' is missing");
    operation->peer = number(goal, &at, "the other rank must be a number", receives);
    if (operation->peer >= goal->ranks)
        wrong(goal, "the other rank is not there");
    if (word(&at, "tag"))
        operation->tag = number(goal, &at, "the tag must be a number", true);
    while (word(&at, "cpu") || word(&at, "nic"))
        number(goal, &at, "the number of a cpu or nic must be a number", false);
    if (at[strspn(at, " \t")])
        wrong(goal, "something stands behind the operation");
}

static void read_operation(struct goal *goal, char *label, char *at)
{
    struct operation *operation = pf_calloc(1, sizeof *operation);
    operation->edges = -1;
    if (word(&at, "calc")) {
        operation->kind = CALC;
        operation->size = number(goal, &at, "the time of a calc must be a number", false);
    } else if (word(&at, "send") || word(&at, "recv")) {
        operation->kind = at[-4] == 's' ? SEND : RECV;
        read_message(goal, operation, at);
    } else {
        wrong(goal, "there are send, recv and calc");
    }
    if (goal->count == goal->operation_room) {
        goal->operation_room = goal->operation_room ? 2 * goal->operation_room : 256;
        goal->operations =
            pf_reallocarray(goal->operations, (size_t)goal->operation_room, sizeof *goal->operations);
    }
    operation->index = goal->count;
    goal->operations[goal->count++] = operation;
    if (!label)
        return;
    operation->label = pf_strdup(label);
    struct operation *other;
    HASH_FIND_STR(goal->labels, label, other);
    if (other)
        wrong(goal, "two operations have one label");
    HASH_ADD_KEYPTR(hh, goal->labels, operation->label, strlen(operation->label), operation);
}

/* [LABEL:] OPERATION, or LABEL requires LABEL. */
static void read_line(struct goal *goal, char *at)
{
    char *label = at;
    if (word(&at, "send") || word(&at, "recv") || word(&at, "calc")) {
        read_operation(goal, NULL, label);
        return;
    }
    at += strspn(at, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
    char *end = at;
    at += strspn(at, " \t");
    bool requires = strncmp(at, "requires", 8) == 0, begins = strncmp(at, "irequires", 9) == 0,
         colon = *at == ':';
    if (end == label || !(requires || begins || colon))
        wrong(goal, "neither an operation nor what one requires");
    *end = 0;
    if (colon)
        read_operation(goal, label, at + 1);
    else
        add_edge(goal, label, at + (requires ? 8 : 9), requires);
}

/* Whether an operation can begin; with `out`, it is made to: the line waits. */
static bool ready(struct goal *goal, const struct operation *operation, FILE *out)
{
    for (int i = operation->edges; i >= 0; i = goal->edges[i].next) {
        struct operation *other = goal->operations[goal->edges[i].on];
        if (!other->begun)
            return false;
        if (!goal->edges[i].finished || other->finished)
            continue;
        if (!out)
            return false;
        fprintf(out, "%d waitall 1 %d\n", goal->rank, goal->edges[i].on);
        other->finished = true;
    }
    return true;
}

static bool can_wait(const struct goal *goal, const struct operation *operation)
{
    for (int i = operation->edges; i >= 0; i = goal->edges[i].next)
        if (!goal->operations[goal->edges[i].on]->begun)
            return false;
    return true;
}

static void start(const struct goal *goal, int index, FILE *out)
{
    struct operation *operation = goal->operations[index];
    operation->begun = true;
    operation->finished = operation->kind == CALC;
    if (operation->kind == CALC)
        fprintf(out, "%d compute %ld\n", goal->rank, operation->size);
    else
        fprintf(out, "%d %s %ld %ld %ld 6 req=%d\n", goal->rank, operation->kind == SEND ? "isend" : "irecv",
                operation->peer, operation->tag, operation->size, index);
}

/* How far behind the first operation that is left others may overtake it. */
#define AHEAD 512

static void put_rank(struct goal *goal, FILE *out)
{
    int first = 0; /* all before it have begun */
    fprintf(out, "%d init\n", goal->rank);
    while (first < goal->count) {
        bool went_on = false;
        for (int i = first; i < goal->count && i < first + AHEAD; i++)
            if (!goal->operations[i]->begun && ready(goal, goal->operations[i], NULL)) {
                start(goal, i, out);
                went_on = true;
            }
        while (first < goal->count && goal->operations[first]->begun)
            first++;
        if (went_on || first == goal->count)
            continue;
        int i = first;
        while (i < goal->count && (goal->operations[i]->begun || !can_wait(goal, goal->operations[i])))
            i++;
        if (i == goal->count)
            wrong(goal, "operations require each other in a circle");
        ready(goal, goal->operations[i], out);
    }
    for (int i = 0; i < goal->count; i++)
        if (!goal->operations[i]->finished)
            fprintf(out, "%d waitall 1 %d\n", goal->rank, i);
    fprintf(out, "%d finalize\n", goal->rank);
}

static void forget_rank(struct goal *goal)
{
    HASH_CLEAR(hh, goal->labels);
    for (int i = 0; i < goal->count; i++) {
        free(goal->operations[i]->label);
        free(goal->operations[i]);
    }
    goal->count = goal->edge_count = 0;
}

static void read_rank(struct goal *goal, char *line, FILE *out, bool *seen)
{
    char *at = line;
    if (!word(&at, "rank"))
        wrong(goal, "'rank' is missing");
    long rank = number(goal, &at, "the number of a rank is missing", false);
    if (rank >= goal->ranks || seen[rank])
        wrong(goal, rank >= goal->ranks ? "there are not so many ranks" : "a rank comes twice");
    goal->rank = (int)rank;
    seen[rank] = true;
    if (!word(&at, "{"))
        wrong(goal, "'{' is missing");
    for (;;) {
        line = next_line(goal);
        if (!line)
            wrong(goal, "the file ends before the rank does");
        if (*line == '}')
            break;
        read_line(goal, line);
    }
    put_rank(goal, out);
    forget_rank(goal);
}

static void goal_open(struct replay_source *source, const char *path)
{
    struct goal goal = {.path = path, .file = fopen(path, "re")};
    struct replay_text text;
    char *line = goal.file ? next_line(&goal) : NULL;
    if (!line)
        pf_die("-replay: cannot read '%s': %s", path, strerror(errno));
    char *at = line;
    word(&at, "num_ranks");
    goal.ranks = (int)number(&goal, &at, "the number of ranks is missing", false);
    if (goal.ranks < 1 || goal.ranks > 10000000)
        wrong(&goal, "the number of ranks must be from 1 to 10000000");
    bool *seen = pf_calloc((size_t)goal.ranks, sizeof *seen);
    replay_text_begin(&text, goal.ranks);
    while ((line = next_line(&goal)))
        read_rank(&goal, line, text.out, seen);
    fclose(goal.file);
    for (int rank = 0; rank < goal.ranks; rank++)
        if (!seen[rank])
            pf_die("%s: rank %d of %d is missing", path, rank, goal.ranks);
    free(seen);
    free(goal.text);
    free(goal.operations);
    free(goal.edges);
    replay_text_end(&text, source, pf_asprintf("%s (as text)", path));
}

const struct replay_source_ops replay_goal = {.size = sizeof replay_goal,
                                              .name = "goal",
                                              .knows = knows,
                                              .open = goal_open,
                                              .next = replay_ti_next,
                                              .file = replay_ti_file,
                                              .line = replay_ti_line};
