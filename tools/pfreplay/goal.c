/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * GOAL schedules, the text that LogGOPSim's txt2bin reads: operations of each rank with what they require. A
 * rank of ours does one thing after the other, so they are brought into an order: what can begin without
 * waiting begins, otherwise the first one that is left waits for what it requires.
 */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "adapters/envelope.h"
#include "base/log.h"
#include "base/memory.h"
#include "tools/pfreplay/compile.h"
#include "tools/pfreplay/goal.h"

void goal_wrong(const struct goal *goal, const char *what)
{
    if (!goal->line)
        pf_die("%s: rank %d: %s", goal->path, goal->rank, what);
    pf_die("%s: line %ld: rank %d: %s", goal->path, goal->line, goal->rank, what);
}

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
    (void)path;
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
    if (goal->names_used + length > goal->names_room) {
        goal->names_room = 2 * (goal->names_room + length);
        goal->names = pf_realloc(goal->names, goal->names_room);
    }
    int *place = place_of(goal, label);
    if (*place)
        goal_wrong(goal, "two operations have one label");
    memcpy(goal->names + goal->names_used, label, length);
    goal->operations[goal->count - 1].label = goal->names_used;
    goal->names_used += length;
    *place = goal->count;
}

void goal_require(struct goal *goal, int of, int on, bool finished)
{
    if (goal->edge_count == goal->edge_room) {
        goal->edge_room = goal->edge_room ? 2 * goal->edge_room : 256;
        goal->edges = pf_reallocarray(goal->edges, (size_t)goal->edge_room, sizeof *goal->edges);
    }
    goal->edges[goal->edge_count] = (struct goal_edge){.on = on,
                                                       .of = of,
                                                       .finished = finished,
                                                       .next = goal->operations[of].edges,
                                                       .next_on = goal->operations[on].edges_on};
    goal->operations[of].unmet++;
    goal->operations[of].unbegun++;
    goal->operations[of].edges = goal->operations[on].edges_on = goal->edge_count++;
}

void goal_set_peer(struct goal *goal, struct goal_operation *operation, long peer, long tag)
{
    if (peer >= goal->ranks || (peer < 0 && operation->kind == GOAL_SEND))
        goal_wrong(goal, "the other rank is not there");
    operation->peer = (int)peer;
    operation->tag = tag;
}

struct goal_operation *goal_add(struct goal *goal, enum goal_kind kind, long size, long cpu, long nic)
{
    if (goal->count == goal->operation_room) {
        goal->operation_room = goal->operation_room ? 2 * goal->operation_room : 256;
        goal->operations =
            pf_reallocarray(goal->operations, (size_t)goal->operation_room, sizeof *goal->operations);
    }
    if (cpu > UINT8_MAX || nic > UINT8_MAX)
        goal_wrong(goal, "a cpu or nic has a number above 255");
    struct goal_operation *operation = &goal->operations[goal->count++];
    *operation = (struct goal_operation){
        .kind = kind, .size = size, .cpu = (uint8_t)cpu, .nic = (uint8_t)nic, .edges = -1, .edges_on = -1};
    goal->streams |= cpu != goal->operations[0].cpu;
    goal->nics |= nic > 0;
    return operation;
}

/* [cpu C] [nic N], and the end of the line. Adds the operation. */
static struct goal_operation *read_places(struct goal *goal, enum goal_kind kind, long size, char *at)
{
    long places[2] = {0, 0};
    for (bool cpu; (cpu = word(&at, "cpu")) || word(&at, "nic");)
        places[!cpu] = number(goal, &at, "the number of a cpu or nic must be a number", false);
    if (*skip(at))
        goal_wrong(goal, "something stands behind the operation");
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
    if (word(&at, "calc")) {
        long time = number(goal, &at, "the time of a calc must be a number", false);
        read_places(goal, GOAL_CALC, time, at);
    } else if (word(&at, "send") || word(&at, "recv")) {
        read_message(goal, at[-4] == 's' ? GOAL_SEND : GOAL_RECV, at);
    } else {
        goal_wrong(goal, "there are send, recv and calc");
    }
    if (label)
        add_label(goal, label);
}

/* [LABEL:] OPERATION, or LABEL requires LABEL. */
static void read_line(struct goal *goal, char *at)
{
    char *label = at;
    if (word(&at, "send") || word(&at, "recv") || word(&at, "calc")) {
        read_operation(goal, NULL, label);
        return;
    }
    while (is_of_label(*at))
        at++;
    char *end = at;
    at = skip(at);
    bool requires = strncmp(at, "requires", 8) == 0, begins = strncmp(at, "irequires", 9) == 0,
         colon = *at == ':';
    if (end == label || !(requires || begins || colon))
        goal_wrong(goal, "neither an operation nor what one requires");
    *end = 0;
    if (colon)
        read_operation(goal, label, at + 1);
    else
        goal_require(goal, find(goal, label), find(goal, skip(at + (requires ? 8 : 9))), requires);
}

static void put_wait(struct goal *goal, int index)
{
    if (goal->program)
        replay_put_wait(goal->program, index);
    else
        fprintf(goal->lines->out, "%d waitall 1 %d\n", goal->rank, index);
}

static void mark_ready(struct goal *goal, int index)
{
    goal->ready[index / 64] |= (uint64_t)1 << index % 64;
}

/* What an operation has done: edges on it hold. */
static void meet(struct goal *goal, int index, bool begins, bool finishes)
{
    for (int i = goal->operations[index].edges_on; i >= 0; i = goal->edges[i].next_on) {
        struct goal_operation *other = &goal->operations[goal->edges[i].of];
        other->unbegun -= begins;
        other->unmet -= goal->edges[i].finished ? finishes : begins;
        if (other->unmet == 0 && !other->begun)
            mark_ready(goal, goal->edges[i].of);
    }
    goal->operations[index].finished = finishes;
}

/* The operation waits for what it requires, all of which has begun. */
static void wait_for_required(struct goal *goal, int index)
{
    for (int i = goal->operations[index].edges; i >= 0; i = goal->edges[i].next) {
        int on = goal->edges[i].on;
        if (!goal->edges[i].finished || goal->operations[on].finished)
            continue;
        put_wait(goal, on);
        meet(goal, on, false, true);
    }
}

static void put(struct goal *goal, const struct goal_operation *operation, int index)
{
    bool receives = operation->kind == GOAL_RECV;
    if (operation->kind == GOAL_CALC)
        replay_put_compute(goal->source, goal->program, (double)operation->size);
    else if (operation->size > INT32_MAX || operation->tag > INT32_MAX || (operation->tag < 0 && !receives) ||
             index >= AN_OP_MOST_SLOTS)
        goal->source->refused = "a size, a tag or the number of an operation is out of range";
    else
        replay_put_message(goal->program, receives ? AN_OP_IRECEIVE : AN_OP_ISEND, operation->peer,
                           operation->tag < 0 ? PF_ENVELOPE_ANY_TAG : (int)operation->tag,
                           (uint32_t)operation->size, index);
}

static void start(struct goal *goal, int index)
{
    struct goal_operation *operation = &goal->operations[index];
    operation->begun = true;
    meet(goal, index, true, operation->kind == GOAL_CALC);
    if (goal->program)
        put(goal, operation, index);
    else if (operation->kind == GOAL_CALC)
        fprintf(goal->lines->out, "%d compute %ld\n", goal->rank, operation->size);
    else
        fprintf(goal->lines->out, "%d %s %d %ld %ld 6 req=%d\n", goal->rank,
                operation->kind == GOAL_SEND ? "isend" : "irecv", operation->peer, operation->tag,
                operation->size, index);
}

/* How far behind the first operation that is left others may overtake it. */
#define AHEAD 512

/* Begins what can begin, in the order of the operations; what becomes ready behind it comes with it. Whether
 * there was any. */
static bool start_ready(struct goal *goal, int from, int to)
{
    bool any = false;
    for (int i = from; i < to; i++) {
        uint64_t bits = goal->ready[i / 64] >> i % 64;
        if (bits == 0) {
            i |= 63; /* on to the next word */
            continue;
        }
        i += __builtin_ctzll(bits);
        if (i >= to)
            break;
        goal->ready[i / 64] &= ~((uint64_t)1 << i % 64);
        start(goal, i);
        any = true;
    }
    return any;
}

static struct an_graph_op graph_op(struct goal *goal, const struct goal_operation *operation)
{
    static const uint8_t kinds[] = {
        [GOAL_SEND] = AN_GRAPH_SEND, [GOAL_RECV] = AN_GRAPH_RECEIVE, [GOAL_CALC] = AN_GRAPH_CALC};
    bool receives = operation->kind == GOAL_RECV;
    if (operation->tag > INT32_MAX || (operation->tag < 0 && !receives))
        goal_wrong(goal, "a tag is out of range");
    goal->source->program->works[0] |= operation->kind == GOAL_CALC && operation->size > 0;
    return (struct an_graph_op){.size = (uint64_t)operation->size,
                                .peer = receives && operation->peer < 0 ? PF_ENVELOPE_ANY_SOURCE
                                                                        : operation->peer,
                                .tag = operation->tag < 0 ? PF_ENVELOPE_ANY_TAG : (int32_t)operation->tag,
                                .unmet = (uint32_t)operation->unmet,
                                .kind = kinds[operation->kind],
                                .cpu = operation->cpu,
                                .nic = operation->nic};
}

/* Edges on one operation stay in their order. */
static void put_graph(struct goal *goal, struct an_graph *graph)
{
    graph->count = (uint32_t)goal->count;
    graph->ops = pf_calloc((size_t)goal->count + 1, sizeof *graph->ops);
    graph->edges = pf_calloc((size_t)goal->edge_count + 1, sizeof *graph->edges);
    for (int i = 0; i < goal->count; i++)
        graph->ops[i] = graph_op(goal, &goal->operations[i]);
    for (int i = 0; i < goal->edge_count; i++)
        graph->ops[goal->edges[i].on + 1].edges++;
    for (int i = 0; i < goal->count; i++)
        graph->ops[i + 1].edges += graph->ops[i].edges;
    for (int i = 0; i < goal->edge_count; i++) { /* for now, an operation has the end of its edges */
        const struct goal_edge *edge = &goal->edges[i];
        graph->edges[graph->ops[edge->on].edges++] =
            (uint32_t)edge->of | (edge->finished ? 0 : AN_GRAPH_BEGUN);
    }
    for (int i = goal->count; i > 0; i--)
        graph->ops[i].edges = graph->ops[i - 1].edges;
    graph->ops[0].edges = 0;
}

static void put_rank(struct goal *goal)
{
    int first = 0; /* all before it have begun */
    if (!goal->program)
        fprintf(goal->lines->out, "%d init\n", goal->rank);
    goal->ready = pf_calloc((size_t)goal->count / 64 + 1, sizeof *goal->ready);
    for (int i = 0; i < goal->count; i++)
        if (goal->operations[i].unmet == 0)
            mark_ready(goal, i);
    while (first < goal->count) {
        bool went_on = start_ready(goal, first, goal->count - first < AHEAD ? goal->count : first + AHEAD);
        while (first < goal->count && goal->operations[first].begun)
            first++;
        if (went_on || first == goal->count)
            continue;
        int i = first;
        while (i < goal->count && (goal->operations[i].begun || goal->operations[i].unbegun > 0))
            i++;
        if (i == goal->count)
            goal_wrong(goal, "operations require each other in a circle");
        wait_for_required(goal, i);
    }
    free(goal->ready);
    for (int i = 0; i < goal->count; i++)
        if (!goal->operations[i].finished)
            put_wait(goal, i);
    if (!goal->program)
        fprintf(goal->lines->out, "%d finalize\n", goal->rank);
}

static void forget_rank(struct goal *goal)
{
    if (goal->labelled_room)
        memset(goal->labelled, 0, (size_t)goal->labelled_room * sizeof *goal->labelled);
    goal->count = goal->edge_count = 0;
    goal->names_used = 1; /* 0 is no label */
}

void goal_begin_rank(struct goal *goal, long rank)
{
    goal->rank = (int)rank;
    if (rank >= goal->ranks || goal->seen[rank])
        goal_wrong(goal, rank >= goal->ranks ? "there are not so many ranks" : "a rank comes twice");
    goal->seen[rank] = true;
    goal->program = goal->source->program ? &goal->source->program->ranks[rank] : NULL;
}

void goal_end_rank(struct goal *goal)
{
    if (goal->program && goal->source->program->graphs)
        put_graph(goal, &goal->source->program->graphs[goal->rank]);
    else
        put_rank(goal);
    forget_rank(goal);
}

static void read_rank(struct goal *goal, char *line)
{
    char *at = line;
    if (!word(&at, "rank"))
        goal_wrong(goal, "'rank' is missing");
    goal_begin_rank(goal, number(goal, &at, "the number of a rank is missing", false));
    if (!word(&at, "{"))
        goal_wrong(goal, "'{' is missing");
    for (;;) {
        line = next_line(goal);
        if (!line)
            goal_wrong(goal, "the file ends before the rank does");
        if (*line == '}')
            break;
        read_line(goal, line);
    }
    goal_end_rank(goal);
}

void goal_begin(struct goal *goal, long ranks)
{
    struct an_program *program = goal->source->program;
    if (ranks < 1 || ranks > 10000000)
        pf_die("%s: the number of ranks must be from 1 to 10000000", goal->path);
    goal->ranks = (int)ranks;
    goal->seen = pf_calloc((size_t)ranks, sizeof *goal->seen);
    if (program)
        replay_program_begin(goal->source, goal->ranks);
    else
        replay_text_begin(goal->lines, goal->ranks);
    if (program && (program->loggops || goal->streams))
        program->graphs = pf_calloc((size_t)ranks, sizeof *program->graphs);
}

static void read_text(struct goal *goal)
{
    char *line = next_line(goal), *at = line;
    if (!line || !word(&at, "num_ranks"))
        pf_die("-replay: cannot read '%s': no ranks in it", goal->path);
    goal_begin(goal, number(goal, &at, "the number of ranks is missing", false));
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
                "beside each other in model analytic without ranks",
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
