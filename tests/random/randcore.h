/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RANDCORE_H
#define RANDCORE_H

/* What random programs are made of: generators, communicators, types, pending operations and how they are
 * checked. */
#include "../e2e/programs/check.h"
#include <unistd.h>

enum { SLOTS = 40, MOST = 40000, COMMS = 6, TYPES = 6, PERSISTENT = 4, TAGS = 20000 };

/* One generator draws for all ranks alike; another one for decisions of this rank alone. */
static unsigned long long common, own;
static int pure, free_switches, plain, patient, blind; /* plain: without what randmore.h adds */

static unsigned next(unsigned long long *state)
{
    *state = *state * 6364136223846793005ULL + 1442695040888963407ULL;
    return (unsigned)(*state >> 33);
}

static int all(int n)
{
    return (int)(next(&common) % (unsigned)n);
}

static int mine(int n)
{
    return (int)(next(&own) % (unsigned)n);
}

/* ---- objects ---- */

typedef struct {
    MPI_Comm comm;
    int rank, size;
    int members[64]; /* world ranks, in the order of the communicator */
} comm_t;

/* A datatype that picks `count` ints per element out of `extent` ints. */
typedef struct {
    MPI_Datatype type;
    int count, extent;
    int picked[32];
} type_t;

static comm_t comms[COMMS];
static int ncomms;
static type_t types[TYPES];
static int ntypes;

/* Every member sends its world rank: also a first use of the communicator. */
static void comm_add(MPI_Comm comm)
{
    comm_t *c = &comms[ncomms++];

    c->comm = comm;
    c->size = 0;
    if (comm == MPI_COMM_NULL)
        return;
    MPI_Comm_rank(comm, &c->rank);
    MPI_Comm_size(comm, &c->size);
    CHECK_OK(MPI_Allgather(&check_rank, 1, MPI_INT, c->members, 1, MPI_INT, comm));
    CHECK(c->members[c->rank] == check_rank);
}

static void type_add(MPI_Datatype type, int count, int extent, const int *picked)
{
    type_t *t = &types[ntypes++];

    t->type = type;
    t->count = count;
    t->extent = extent;
    memcpy(t->picked, picked, sizeof(int) * (size_t)count);
    if (type != MPI_INT)
        MPI_Type_commit(&t->type);
}

static void make_types(void)
{
    MPI_Datatype t, u;

    type_add(MPI_INT, 1, 1, (const int[]){0});
    MPI_Type_vector(3, 2, 4, MPI_INT, &t);
    type_add(t, 6, 10, (const int[]){0, 1, 4, 5, 8, 9});
    MPI_Type_contiguous(5, MPI_INT, &t);
    type_add(t, 5, 5, (const int[]){0, 1, 2, 3, 4});
    if (pure) { /* stock SMPI takes the second element of an unsorted type from the wrong place */
        MPI_Type_create_indexed_block(3, 1, (const int[]){0, 3, 5}, MPI_INT, &t);
        type_add(t, 3, 6, (const int[]){0, 3, 5});
    } else {
        MPI_Type_create_indexed_block(3, 1, (const int[]){5, 0, 3}, MPI_INT, &t);
        type_add(t, 3, 6, (const int[]){5, 0, 3});
    }
    MPI_Type_vector(2, 1, 3, MPI_INT, &u);
    MPI_Type_create_resized(u, 0, 5 * sizeof(int), &t);
    MPI_Type_free(&u);
    type_add(t, 2, 5, (const int[]){0, 3});
    MPI_Type_create_struct(2, (const int[]){1, 2}, (const MPI_Aint[]){0, 12},
                           (const MPI_Datatype[]){MPI_INT, MPI_INT}, &t);
    type_add(t, 3, 5, (const int[]){0, 3, 4});
}

/* ---- pending operations ---- */

enum {
    NONE,
    SEND,
    RECV,
    IBARRIER,
    IBCAST,
    IALLREDUCE,
    IALLGATHER,
    IALLTOALL,
    IREDUCE,
    IGATHER,
    ISCATTER,
    ISCAN
};

typedef struct {
    int kind, salt, tag;
    int n;       /* elements */
    int source;  /* rank in the communicator that the data come from, or the root */
    comm_t comm; /* a copy: the communicator may be freed meanwhile */
    const type_t *type;
    int *in, *out;
} slot_t;

static slot_t slots[SLOTS];
static MPI_Request requests[SLOTS];
static int tags;

static int *numbers(size_t n)
{
    int *p = malloc((n ? n : 1) * sizeof(int));

    if (!p)
        abort();
    for (size_t i = 0; i < n; i++)
        p[i] = -1;
    return p;
}

/* What a sender of this salt and world rank puts into `n` elements of the type. */
static void pack(int *p, const type_t *t, int n, int rank, int salt)
{
    for (int e = 0; e < n; e++)
        for (int i = 0; i < t->count; i++)
            p[e * t->extent + t->picked[i]] = check_value(rank, e * t->count + i, salt);
}

static int unpacked(const int *p, const type_t *t, int n, int rank, int salt)
{
    for (int e = 0; e < n; e++)
        for (int i = 0; i < t->count; i++)
            if (p[e * t->extent + t->picked[i]] != check_value(rank, e * t->count + i, salt))
                return 0;
    return 1;
}

static slot_t *slot_take(int kind, const comm_t *c, int n, int salt)
{
    for (int i = 0; i < SLOTS; i++)
        if (slots[i].kind == NONE) {
            memset(&slots[i], 0, sizeof(slot_t));
            slots[i].kind = kind;
            slots[i].comm = *c;
            slots[i].type = &types[0];
            slots[i].n = n;
            slots[i].salt = salt;
            return &slots[i];
        }
    abort(); /* room() has looked */
}

static MPI_Request *request_of(slot_t *s)
{
    return &requests[s - slots];
}

static int pending(void)
{
    int n = 0;

    for (int i = 0; i < SLOTS; i++)
        n += slots[i].kind != NONE;
    return n;
}

static int sum_to(const comm_t *c, int last, int index, int salt)
{
    unsigned sum = 0;

    for (int r = 0; r <= last; r++)
        sum += (unsigned)check_value(c->members[r], index, salt);
    return (int)sum;
}

static int summed(const slot_t *s, int last)
{
    for (int i = 0; i < s->n; i++)
        if (s->out[i] != sum_to(&s->comm, last, i, s->salt))
            return 0;
    return 1;
}

static int collected(const slot_t *s, int salt_step)
{
    for (int r = 0; r < s->comm.size; r++)
        if (!check_filled(s->out + r * s->n, s->n, s->comm.members[r], s->salt + salt_step))
            return 0;
    return 1;
}

/* Looks at what a completed operation delivered, and frees the slot. */
static void finish(slot_t *s, const MPI_Status *status)
{
    const comm_t *c = &s->comm;
    int count;

    switch (s->kind) {
    case RECV:
        CHECK(unpacked(s->out, s->type, s->n, c->members[s->source], s->salt));
        if (status) {
            CHECK(status->MPI_SOURCE == s->source && status->MPI_TAG == s->tag);
            MPI_Get_count(status, s->type->type, &count);
            CHECK(count == s->n);
        }
        break;
    case IBCAST:
        CHECK(check_filled(s->out, s->n, c->members[s->source], s->salt));
        break;
    case IALLREDUCE:
        CHECK(summed(s, c->size - 1));
        break;
    case ISCAN:
        CHECK(summed(s, c->rank));
        break;
    case IREDUCE:
        CHECK(c->rank != s->source || summed(s, c->size - 1));
        break;
    case IALLGATHER:
        CHECK(collected(s, 0));
        break;
    case IGATHER:
        CHECK(c->rank != s->source || collected(s, 0));
        break;
    case IALLTOALL:
        CHECK(collected(s, c->rank));
        break;
    case ISCATTER:
        CHECK(check_filled(s->out, s->n, c->members[s->source], s->salt + c->rank));
        break;
    default:
        break;
    }
    CHECK(*request_of(s) == MPI_REQUEST_NULL);
    free(s->in);
    free(s->out);
    s->kind = NONE;
}

/* ---- starting operations ---- */

/* Within an operation, where only this rank does: not with -agree strict. */
static void maybe_switch(void)
{
    if (free_switches <= 0 || mine(3))
        return;
    if (mine(2))
        SWITCH_A();
    else
        SWITCH_B();
}

static const comm_t *some_comm(void)
{
    return &comms[all(ncomms)];
}

/* Mostly short, sometimes long enough for a rendezvous. */
static int some_length(void)
{
    static const int upto[8] = {1, 4, 20, 200, 2000, 2000, 9000, MOST};

    return 1 + all(upto[all(8)]);
}

/* Few tags, so that order decides which messages meet; a wildcard receive needs a tag of its own. */
static int some_tag(int unique)
{
    int tag = all(4);

    return unique ? 4 + tags++ % TAGS : tag;
}

static void start_send(const comm_t *c, int to, int n, const type_t *t, int tag, int salt, int mode)
{
    slot_t *s = slot_take(SEND, c, n, salt);

    s->in = numbers((size_t)n * t->extent);
    pack(s->in, t, n, check_rank, salt);
    if (mode == 1)
        CHECK_OK(MPI_Issend(s->in, n, t->type, to, tag, c->comm, request_of(s)));
    else
        CHECK_OK(MPI_Isend(s->in, n, t->type, to, tag, c->comm, request_of(s)));
}

static void start_recv(const comm_t *c, int from, int n, const type_t *t, int tag, int salt, int any)
{
    slot_t *s = slot_take(RECV, c, n, salt);

    s->type = t;
    s->tag = tag;
    s->source = from;
    s->out = numbers((size_t)n * t->extent);
    CHECK_OK(MPI_Irecv(s->out, n, t->type, any ? MPI_ANY_SOURCE : from, tag, c->comm, request_of(s)));
}

#endif
