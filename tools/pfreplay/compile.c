/* SPDX-License-Identifier: BSD-3-Clause */
/* Lines of a trace as arrays. The grammar is that of play_actions.c, which plays what is refused here. */
#include "tools/pfreplay/compile.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "adapters/analytic/coll/coll.h"
#include "adapters/analytic/cost/cost.h"
#include "adapters/envelope.h"
#include "base/memory.h"
#include "tools/pfreplay/text.h"

/* A request that SMPI's format knows by its ends. */
struct pending {
    int source, destination, tag;
    unsigned slot;
};

struct compiler {
    struct replay_source *source;
    struct an_program *program;
    struct an_rank_program *out;
    jmp_buf refused;
    const char *why;
    int rank, size;
    char *at;           /* the rest of the line */
    const char *action; /* its word */
    int *counts[2];     /* room for one of each rank */
    int plain;          /* size of the type of counts without one */
    bool begun, ended;
    size_t number_room;
    struct pending *pending;
    int pending_count, pending_room;
    unsigned *free_slots;
    int free_count, free_room;
};

static _Noreturn void refuse(struct compiler *c, const char *why)
{
    c->why = why;
    longjmp(c->refused, 1);
}

/* ---- words ---- */

static char *blanks(struct compiler *c)
{
    while (*c->at == ' ' || *c->at == '\t' || *c->at == '\r')
        c->at++;
    return c->at;
}

static char *word(struct compiler *c)
{
    char *word = blanks(c), *end = word;
    while (*end && *end != ' ' && *end != '\t' && *end != '\r')
        end++;
    if (end == word)
        refuse(c, "an argument is missing");
    c->at = *end ? end + 1 : end;
    *end = 0;
    return word;
}

/* Whether there is another word, and it is no KEY=VALUE. */
static bool more(struct compiler *c)
{
    const char *word = blanks(c);
    return *word && !memchr(word, '=', strcspn(word, " \t\r"));
}

static double real(struct compiler *c)
{
    const char *text = word(c), *digit = text + (*text == '-');
    long whole = 0;
    int digits = 0;
    for (; *digit >= '0' && *digit <= '9' && digits < 15; digit++, digits++)
        whole = 10 * whole + (*digit - '0');
    if (digits > 0 && !*digit)
        return *text == '-' ? (double)-whole : (double)whole;
    char *end;
    double value = strtod(text, &end);
    if (end == text || *end || !(value > -1e300 && value < 1e300))
        refuse(c, "an argument is no number");
    return value;
}

static int whole(struct compiler *c)
{
    double value = real(c);
    if (!(value >= INT32_MIN && value <= INT32_MAX))
        refuse(c, "a number is out of range");
    return (int)value;
}

static int count(struct compiler *c)
{
    int value = whole(c);
    if (value < 0)
        refuse(c, "a count is negative");
    return value;
}

/* The number behind KEY=, or `otherwise`. */
static int key(struct compiler *c, const char *name, int otherwise)
{
    size_t length = strlen(name);
    for (const char *at = c->at; (at = strstr(at, name)); at += length) {
        char *end;
        if (at[length] != '=' || (at != c->at && at[-1] != ' ' && at[-1] != '\t'))
            continue;
        long value = strtol(at + length + 1, &end, 10);
        if (end == at + length + 1 || (*end && !strchr(" \t\r", *end)) || value < INT32_MIN ||
            value > INT32_MAX)
            refuse(c, "a KEY= has no number");
        return (int)value;
    }
    return otherwise;
}

static int peer(struct compiler *c, bool receives)
{
    int rank = whole(c);
    if (rank >= 0 && rank < c->size)
        return rank;
    if (rank == REPLAY_NO_RANK)
        return PF_NO_PEER;
    if (receives && (rank == REPLAY_ANY_SOURCE || rank == -1))
        return PF_ENVELOPE_ANY_SOURCE;
    refuse(c, "a partner is no rank");
}

static int tag_of(struct compiler *c, int tag, bool receives)
{
    if (tag >= 0)
        return tag;
    if (receives && (tag == REPLAY_ANY_TAG || tag == -1))
        return PF_ENVELOPE_ANY_TAG;
    refuse(c, "a tag is none");
}

/* The size of a type of which a message of the same bytes has the same price. */
static int type(struct compiler *c)
{
    static const int sizes[] = {8, 4, 1, 2, 8, 4, 1};
    if (!more(c))
        return c->plain;
    if (*c->at == '*')
        refuse(c, "a derived datatype");
    int number = whole(c);
    if (number < 0 || number >= (int)(sizeof sizes / sizeof sizes[0]))
        refuse(c, "a datatype that only ranks have");
    return sizes[number];
}

static uint32_t bytes(struct compiler *c, double count, double size)
{
    if (count * size > INT32_MAX)
        refuse(c, "a message of more than 2 GiB");
    return (uint32_t)(count * size);
}

/* ---- what is made of them ---- */

static struct an_op *add_op(struct an_rank_program *rank, enum an_op_kind kind)
{
    if (rank->op_count == rank->op_room) {
        rank->op_room += rank->op_room / 2 + 16;
        rank->ops = pf_reallocarray(rank->ops, rank->op_room, sizeof *rank->ops);
    }
    struct an_op *op = &rank->ops[rank->op_count++];
    *op = (struct an_op){.kind = kind};
    return op;
}

static struct an_op *add(struct compiler *c, enum an_op_kind kind)
{
    return add_op(c->out, kind);
}

static unsigned slot_of(struct an_rank_program *rank, int slot)
{
    if ((unsigned)slot >= rank->slots)
        rank->slots = (unsigned)slot + 1;
    return (unsigned)slot;
}

void replay_program_begin(struct replay_source *source, int ranks)
{
    source->ranks = source->program->size = ranks;
    source->program->ranks = pf_calloc((size_t)ranks, sizeof *source->program->ranks);
}

void replay_put_compute(struct replay_source *source, struct an_rank_program *rank, double flops)
{
    if (flops == 0)
        return;
    add_op(rank, AN_OP_COMPUTE)->flops = flops;
    source->program->works[0] = true;
}

void replay_put_message(struct an_rank_program *rank, enum an_op_kind kind, int peer, int tag, uint32_t bytes,
                        int slot)
{
    struct an_op *op = add_op(rank, kind);
    op->mode = PF_COST_STANDARD;
    op->peer = peer;
    op->tag = tag;
    op->bytes = bytes;
    op->slot = slot_of(rank, slot) & (AN_OP_MOST_SLOTS - 1);
}

void replay_put_wait(struct an_rank_program *rank, int slot)
{
    struct an_op *op = add_op(rank, AN_OP_WAIT);
    op->slot = slot_of(rank, slot) & (AN_OP_MOST_SLOTS - 1);
    op->mode = 1;
}

static void add_number(struct compiler *c, int number)
{
    struct an_rank_program *out = c->out;
    PF_ARRAY_ROOM(out->numbers, c->number_room, out->number_count + 1);
    out->numbers[out->number_count++] = number;
}

static unsigned slot(struct compiler *c, int number)
{
    if (number < 0 || number >= AN_OP_MOST_SLOTS)
        refuse(c, "a request has no number, or a large one");
    return slot_of(c->out, number);
}

static unsigned new_slot(struct compiler *c)
{
    return c->free_count ? c->free_slots[--c->free_count] : slot(c, (int)c->out->slots);
}

static void free_slot(struct compiler *c, unsigned slot)
{
    PF_ARRAY_ROOM(c->free_slots, c->free_room, c->free_count + 1);
    c->free_slots[c->free_count++] = slot;
}

static unsigned add_pending(struct compiler *c, int source, int destination, int tag)
{
    PF_ARRAY_ROOM(c->pending, c->pending_room, c->pending_count + 1);
    unsigned slot = new_slot(c);
    c->pending[c->pending_count++] = (struct pending){source, destination, tag, slot};
    return slot;
}

static void wait_pending(struct compiler *c)
{
    struct an_op *op = add(c, AN_OP_WAIT_ALL);
    op->at = (uint32_t)c->out->number_count;
    op->count = (uint32_t)c->pending_count;
    for (int i = 0; i < c->pending_count; i++) {
        add_number(c, (int)c->pending[i].slot);
        free_slot(c, c->pending[i].slot);
    }
    c->pending_count = 0;
}

/* ---- actions ---- */

static void init(struct compiler *c, int unused)
{
    c->begun = true;
    if (more(c))
        c->plain = 8;
}

static void finalize(struct compiler *c, int unused)
{
    c->ended = true;
}

static void nothing(struct compiler *c, int unused)
{
}

/* What a collective computes, it computes in any case. */
static void add_flops(struct compiler *c, double flops, bool in_any_case)
{
    if (flops < 0)
        refuse(c, "a computation is negative");
    if (flops == 0)
        return;
    struct an_op *op = add(c, AN_OP_COMPUTE);
    op->flops = flops;
    op->mode = in_any_case;
    c->program->works[in_any_case] = true;
}

static void compute(struct compiler *c, int unused)
{
    add_flops(c, real(c), false);
}

static void message(struct compiler *c, enum an_op_kind kind, enum pf_cost_mode mode)
{
    bool receives = kind == AN_OP_RECEIVE || kind == AN_OP_IRECEIVE;
    bool starts = kind == AN_OP_ISEND || kind == AN_OP_IRECEIVE, complete = c->source->complete;
    int partner = peer(c, receives), number = whole(c), tag = tag_of(c, number, receives), items = count(c);
    int size = type(c), request = -1;
    if (receives && items == 0 && !complete)
        refuse(c, "a receive that asks for the size");
    if (complete && *blanks(c)) {
        int of = key(c, "of", 0);
        if (key(c, "comm", 0) != 0)
            refuse(c, "a communicator");
        if (of > 0 && items % of)
            refuse(c, "a part of an element");
        size = of > 0 ? 1 : size;
        request = key(c, "req", -1);
    }
    unsigned where = 0;
    if (starts && complete)
        where = slot(c, request);
    else if (starts)
        where =
            receives ? add_pending(c, partner, c->rank, number) : add_pending(c, c->rank, partner, number);
    if (partner == PF_NO_PEER)
        return;
    struct an_op *op = add(c, kind);
    op->mode = mode;
    op->peer = partner;
    op->tag = tag;
    op->bytes = bytes(c, items, size);
    op->slot = where & (AN_OP_MOST_SLOTS - 1);
}

static void send(struct compiler *c, int mode)
{
    message(c, AN_OP_SEND, (enum pf_cost_mode)mode);
}

static void isend(struct compiler *c, int mode)
{
    message(c, AN_OP_ISEND, (enum pf_cost_mode)mode);
}

static void receive(struct compiler *c, int kind)
{
    message(c, (enum an_op_kind)kind, PF_COST_STANDARD);
}

static void exchange(struct compiler *c, int unused)
{
    int sent = count(c), to = peer(c, false), received = count(c), from = peer(c, true);
    int sent_size = type(c), received_size = type(c);
    if (key(c, "comm", 0) != 0)
        refuse(c, "a communicator");
    struct an_op *in = add(c, AN_OP_EXCHANGE);
    in->peer = from;
    in->tag = tag_of(c, key(c, "rtag", 0), true);
    in->bytes = bytes(c, received, received_size);
    struct an_op *out = add(c, AN_OP_ISEND);
    out->mode = PF_COST_BLOCKING;
    out->peer = to;
    out->tag = tag_of(c, key(c, "stag", 0), false);
    out->bytes = bytes(c, sent, sent_size);
}

static void wait(struct compiler *c, int unused)
{
    int number = c->source->complete ? key(c, "req", -1) : -1;
    if (number >= 0) {
        unsigned where = slot(c, number);
        add(c, AN_OP_WAIT)->slot = where & (AN_OP_MOST_SLOTS - 1);
        return;
    }
    int source = whole(c), destination = whole(c), tag = whole(c);
    for (int i = 0; i < c->pending_count; i++) {
        struct pending *p = &c->pending[i];
        if (p->source != source || p->destination != destination || p->tag != tag)
            continue;
        add(c, AN_OP_WAIT)->slot = p->slot & (AN_OP_MOST_SLOTS - 1);
        free_slot(c, p->slot);
        memmove(p, p + 1, (size_t)(--c->pending_count - i) * sizeof *p);
        return;
    }
    refuse(c, "no such message is pending");
}

static void wait_all(struct compiler *c, int unused)
{
    if (!c->source->complete) {
        wait_pending(c);
        return;
    }
    struct an_op *op = add(c, AN_OP_WAIT_ALL);
    int n = count(c);
    uint32_t waited = 0;
    op->at = (uint32_t)c->out->number_count;
    for (int i = 0; i < n; i++) {
        int number = whole(c);
        if (number < 0)
            continue;
        add_number(c, (int)slot(c, number));
        waited++;
    }
    op->count = waited;
}

/* ---- collectives ---- */

static void collective(struct compiler *c, enum pf_coll_kind kind, int root, int sent, int sent_size,
                       int received, int received_size)
{
    struct an_op *op = add(c, AN_OP_COLLECTIVE);
    op->at = (uint32_t)c->out->number_count;
    const int numbers[] = {(int)kind, root, sent, sent_size, received, received_size};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        add_number(c, numbers[i]);
}

static int root_or_0(struct compiler *c)
{
    int root = more(c) ? whole(c) : 0;
    if (root < 0 || root >= c->size)
        refuse(c, "the root is no rank");
    return root;
}

static void check_op(struct compiler *c)
{
    const char *op = c->source->complete ? strstr(c->at, "op=") : NULL;
    if (op && (strncmp(op, "op=ordered", 10) == 0 || strncmp(op, "op=REPLACE", 10) == 0 ||
               strncmp(op, "op=NO_OP", 8) == 0))
        refuse(c, "an operation that does not commute");
}

static void barrier(struct compiler *c, int kind)
{
    collective(c, (enum pf_coll_kind)kind, 0, 0, 0, 0, 0);
}

static void bcast(struct compiler *c, int kind)
{
    int items = count(c), root = root_or_0(c), size = type(c);
    bytes(c, items, size);
    collective(c, (enum pf_coll_kind)kind, root, items, size, items, size);
}

/* With a root: reduce. */
static void reduction(struct compiler *c, int kind)
{
    int items = count(c);
    double flops = real(c);
    int root = kind == PF_COLL_REDUCE ? root_or_0(c) : 0, size = type(c);
    check_op(c);
    collective(c, (enum pf_coll_kind)kind, root, items, size, items, size);
    add_flops(c, flops, true);
}

/* Of the root's side alone. */
static void forget_side(const struct compiler *c, int kind, int root, int *sent_size, int *received_size)
{
    if (root == c->rank)
        return;
    if (kind == PF_COLL_SCATTER || kind == PF_COLL_SCATTERV)
        *sent_size = 0;
    if (kind == PF_COLL_GATHER || kind == PF_COLL_GATHERV)
        *received_size = 0;
}

static void blocks(struct compiler *c, int kind)
{
    int sent = count(c), received = count(c), root = 0;
    bool rooted = kind == PF_COLL_GATHER || kind == PF_COLL_SCATTER;
    if (rooted)
        root = root_or_0(c);
    int sent_size = type(c), received_size = type(c);
    if (kind == PF_COLL_ALLTOALL && (double)sent * sent_size != (double)received * received_size)
        refuse(c, "blocks of two sizes");
    forget_side(c, kind, root, &sent_size, &received_size);
    collective(c, (enum pf_coll_kind)kind, root, sent, sent_size, received, received_size);
}

/* Copies a count for each rank out of the line, to be put behind the other numbers. Returns this rank's. */
static int read_counts(struct compiler *c, int *counts)
{
    for (int i = 0; i < c->size; i++)
        counts[i] = count(c);
    return counts[c->rank];
}

static void put_counts(struct compiler *c, const int *counts)
{
    for (int i = 0; i < c->size; i++)
        add_number(c, counts[i]);
}

static void gatherv(struct compiler *c, int kind)
{
    int sent = 0, received = 0, root;
    if (kind == PF_COLL_GATHERV)
        sent = count(c);
    read_counts(c, c->counts[0]);
    if (kind == PF_COLL_SCATTERV)
        received = count(c);
    root = root_or_0(c);
    int sent_size = type(c), received_size = type(c);
    forget_side(c, kind, root, &sent_size, &received_size);
    collective(c, (enum pf_coll_kind)kind, root, sent, sent_size, received, received_size);
    put_counts(c, c->counts[0]);
}

/* Types and displacements differ in their number only, which is left to ranks. */
static void allgatherv(struct compiler *c, int kind)
{
    int sent = count(c), words = 0;
    read_counts(c, c->counts[0]);
    for (const char *at = c->at; *(at += strspn(at, " \t\r")); at += strcspn(at, " \t\r"))
        words++;
    if (words != 0 && words != 2)
        refuse(c, "displacements");
    int sent_size = type(c), received_size = type(c);
    collective(c, (enum pf_coll_kind)kind, 0, sent, sent_size, 0, received_size);
    put_counts(c, c->counts[0]);
}

static void alltoallv(struct compiler *c, int kind)
{
    real(c);
    int sent = read_counts(c, c->counts[0]);
    real(c);
    int received = read_counts(c, c->counts[1]);
    int sent_size = type(c), received_size = type(c);
    if ((double)sent * sent_size != (double)received * received_size)
        refuse(c, "blocks of two sizes");
    collective(c, (enum pf_coll_kind)kind, 0, 0, sent_size, 0, received_size);
    put_counts(c, c->counts[0]);
    put_counts(c, c->counts[1]);
}

static void reduce_scatter(struct compiler *c, int kind)
{
    read_counts(c, c->counts[0]);
    double flops = real(c);
    int size = type(c);
    check_op(c);
    collective(c, (enum pf_coll_kind)kind, 0, 0, size, 0, size);
    put_counts(c, c->counts[0]);
    add_flops(c, flops, true);
}

static const struct action {
    const char *name;
    void (*compile)(struct compiler *c, int argument);
    int argument;
} actions[] = {{"isend", isend, PF_COST_STANDARD},
               {"irecv", receive, AN_OP_IRECEIVE},
               {"wait", wait, 0},
               {"waitall", wait_all, 0},
               {"waitAll", wait_all, 0},
               {"compute", compute, 0},
               {"send", send, PF_COST_BLOCKING},
               {"recv", receive, AN_OP_RECEIVE},
               {"issend", isend, PF_COST_SYNCHRONOUS},
               {"irsend", isend, PF_COST_READY},
               {"ssend", send, PF_COST_SYNCHRONOUS},
               {"rsend", send, PF_COST_READY},
               {"sendRecv", exchange, 0},
               {"sendrecv", exchange, 0},
               {"barrier", barrier, PF_COLL_BARRIER},
               {"bcast", bcast, PF_COLL_BCAST},
               {"reduce", reduction, PF_COLL_REDUCE},
               {"allreduce", reduction, PF_COLL_ALLREDUCE},
               {"allReduce", reduction, PF_COLL_ALLREDUCE},
               {"scan", reduction, PF_COLL_SCAN},
               {"exscan", reduction, PF_COLL_EXSCAN},
               {"alltoall", blocks, PF_COLL_ALLTOALL},
               {"allToAll", blocks, PF_COLL_ALLTOALL},
               {"allgather", blocks, PF_COLL_ALLGATHER},
               {"allGather", blocks, PF_COLL_ALLGATHER},
               {"gather", blocks, PF_COLL_GATHER},
               {"scatter", blocks, PF_COLL_SCATTER},
               {"gatherv", gatherv, PF_COLL_GATHERV},
               {"gatherV", gatherv, PF_COLL_GATHERV},
               {"scatterv", gatherv, PF_COLL_SCATTERV},
               {"scatterV", gatherv, PF_COLL_SCATTERV},
               {"allgatherv", allgatherv, PF_COLL_ALLGATHERV},
               {"allGatherV", allgatherv, PF_COLL_ALLGATHERV},
               {"alltoallv", alltoallv, PF_COLL_ALLTOALLV},
               {"allToAllV", alltoallv, PF_COLL_ALLTOALLV},
               {"reducescatter", reduce_scatter, PF_COLL_REDUCE_SCATTER},
               {"reduceScatter", reduce_scatter, PF_COLL_REDUCE_SCATTER},
               {"init", init, 0},
               {"finalize", finalize, 0},
               {"location", nothing, 0},
               {"comm_size", nothing, 0},
               {"comm_split", nothing, 0},
               {"comm_dup", nothing, 0}};

static void compile_line(struct compiler *c)
{
    c->action = "";
    c->action = word(c);
    if (c->ended)
        refuse(c, "it stands behind finalize");
    for (size_t i = 0; i < sizeof actions / sizeof actions[0]; i++)
        if (strcmp(actions[i].name, c->action) == 0) {
            actions[i].compile(c, actions[i].argument);
            return;
        }
    refuse(c, "only ranks can do that");
}

static void compile_rank(struct compiler *c)
{
    c->number_room = 0;
    c->begun = c->ended = false;
    c->plain = 1;
    c->pending_count = c->free_count = 0;
    while ((c->at = c->source->ops->next(c->source, c->rank)))
        compile_line(c);
    c->action = "the end";
    if (c->begun && !c->ended)
        refuse(c, "there is no finalize");
    if (c->pending_count)
        wait_pending(c);
}

bool replay_compile(struct replay_source *source, struct an_program *program, char *why, size_t why_size)
{
    if (program->ranks || source->refused) {
        snprintf(why, why_size, "%s", source->refused ? source->refused : "");
        return !source->refused;
    }
    struct compiler *c = pf_calloc(1, sizeof *c);
    c->source = source;
    c->program = program;
    c->size = program->size = source->ranks;
    program->ranks = pf_calloc((size_t)source->ranks, sizeof *program->ranks);
    if (setjmp(c->refused)) {
        snprintf(why, why_size, "%s: line %ld: rank %d: %.40s: %s", source->ops->file(source, c->rank),
                 source->ops->line(source, c->rank), c->rank, c->action, c->why);
        replay_ti_rewind(source);
        return false;
    }
    for (int i = 0; i < 2; i++)
        c->counts[i] = pf_calloc((size_t)c->size, sizeof(int));
    for (; c->rank < c->size; c->rank++) {
        c->out = &program->ranks[c->rank];
        compile_rank(c);
    }
    free(c->counts[0]);
    free(c->counts[1]);
    free(c->pending);
    free(c->free_slots);
    free(c);
    return true;
}
