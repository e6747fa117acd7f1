/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * All members of a communicator call the same collectives in the same order. The first member that enters the
 * n-th one leaves a note of what it does; the others compare. A window or a file is collective too: its notes
 * begin with the collective that has made it.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"
#include "middleware/check/internal.h"
#include "middleware/comm/intercomm.h"
#include "middleware/datatype/datatype.h"
#include "middleware/io/file.h"
#include "middleware/core/job_state.h"
#include "middleware/rma/win.h"

/* One collective that not all members have entered. */
struct round {
    struct round *next;
    struct pf_check_place place; /* of the first member */
    int rank;                    /* of it, in the world */
    int arrived;
    struct pf_check_collective said; /* of the first member; later ones add what it left open */
    int sized_by;                    /* rank in the world that has given the sizes; -1: none */
    struct pf_check_place sized_at;
    long long *own,
        *theirs;   /* by member: what it and the root say about the bytes between them; -1: nothing */
    int root_rank; /* in the world, once `theirs` is known */
    struct pf_check_place root_place;
    struct pf_check_signature at_root;  /* what the root says */
    uint64_t balance, elements_balance; /* over the members */
    bool unsized;
    struct pf_check_scope *child;
    struct pf_check_meeting *meeting; /* NULL: no member need wait there */
};

struct pf_check_scope {
    int references; /* windows and files; that of a communicator lives as long as it does */
    int size;
    struct round *rounds; /* oldest first */
    uint64_t oldest;      /* its number */
    uint64_t *entered;    /* by member */
};

static struct pf_check_scope *scope_new(int size)
{
    struct pf_check_scope *scope = pf_calloc(1, sizeof *scope);
    scope->references = 1;
    scope->size = size;
    scope->entered = pf_calloc((size_t)size, sizeof *scope->entered);
    return scope;
}

static void round_free(struct round *round)
{
    if (round->child)
        pf_check_scope_release(round->child);
    pf_check_meeting_release(round->meeting);
    free(round->own);
    free(round->theirs);
    free(round);
}

void pf_check_scope_release(struct pf_check_scope *scope)
{
    if (--scope->references > 0)
        return;
    for (struct round *next; scope->rounds; scope->rounds = next) {
        next = scope->rounds->next;
        round_free(scope->rounds);
    }
    free(scope->entered);
    free(scope);
}

void pf_check_comm_ends(struct pf_comm_shared *shared)
{
    pf_check_unreceived(shared, "when its communicator was freed");
    pf_check_scope_release(shared->check);
}

const char *pf_check_comm_text(struct pf_rank *r, const struct pf_comm *comm)
{
    static char text[600];
    const struct pf_check_record *record = pf_check_find(r, comm);
    if (comm == r->world)
        return "MPI_COMM_WORLD";
    if (comm == r->alone)
        return "MPI_COMM_SELF";
    snprintf(text, sizeof text, "the communicator %s%s%s%s", *comm->name ? "'" : "", comm->name,
             *comm->name ? "' made by " : "made by ",
             record ? pf_check_place_text(record->made.fn, record->made.site) : "another call");
    return text;
}

/* ---- what a member says ---- */

static long long bytes_of(long long count, MPI_Datatype type)
{
    return pf_datatype_valid(type) && count >= 0 ? count * pf_datatype_size(type) : -1;
}

/* Basic elements; unknown when they may be bytes that stand for something else. */
static long long elements_of(long long count, MPI_Datatype type)
{
    struct pf_bounds bounds;
    if (!pf_datatype_valid(type) || count < 0)
        return -1;
    pf_datatype_bounds(type, &bounds);
    return bounds.elements == bounds.size ? -1 : count * bounds.elements;
}

static void say(struct pf_check_call *call, int count, MPI_Datatype type)
{
    struct pf_check_collective *c = &call->collective;
    c->bytes = bytes_of(count, type);
    c->elements = elements_of(count, type);
    c->signature = pf_check_signature_of(call->rank, count, type);
}

/* What a member sends itself must fit what it receives from itself. */
static void say_own(struct pf_check_call *call, int sendcount, MPI_Datatype sendtype, int recvcount,
                    MPI_Datatype recvtype, const char *amounts)
{
    struct pf_check_collective *c = &call->collective;
    long long sent = bytes_of(sendcount, sendtype), received = bytes_of(recvcount, recvtype);
    if (sent < 0 || received < 0)
        return;
    if (sent != received)
        c->inconsistent = amounts;
    else if (pf_check_signatures_differ(pf_check_signature_of(call->rank, sendcount, sendtype),
                                        pf_check_signature_of(call->rank, recvcount, recvtype)))
        c->inconsistent = "it sends and receives other datatypes";
}

void pf_check_all(struct pf_check_call *call, int count, MPI_Datatype type)
{
    say(call, count, type);
}

void pf_check_pair(struct pf_check_call *call, const void *sendbuf, int sendcount, MPI_Datatype sendtype,
                   int recvcount, MPI_Datatype recvtype, const void *recvbuf)
{
    if (sendbuf == MPI_IN_PLACE || recvbuf == MPI_IN_PLACE) {
        say(call, sendbuf == MPI_IN_PLACE ? recvcount : sendcount,
            sendbuf == MPI_IN_PLACE ? recvtype : sendtype);
        return;
    }
    say(call, sendcount, sendtype);
    say_own(call, sendcount, sendtype, recvcount, recvtype, "it sends and receives different amounts");
}

void pf_check_list(struct pf_check_call *call, MPI_Comm comm, const int *counts, MPI_Datatype type,
                   int sendcount, MPI_Datatype sendtype)
{
    struct pf_check_collective *c = &call->collective;
    const struct pf_comm *member = pf_comm_of(call->rank, comm);
    long long unit = bytes_of(1, type);
    if (!member || !counts || unit < 0 || pf_comm_is_inter(member))
        return;
    c->vector = 14695981039346656037u; /* FNV-1a over the sizes */
    for (int i = 0; i < member->shared->size; i++)
        c->vector = (c->vector ^ (uint64_t)(counts[i] * unit)) * 1099511628211u;
    c->signature = pf_check_signature_of(call->rank, 1, type);
    if (sendtype)
        say_own(call, sendcount, sendtype, counts[member->me], type,
                "what it sends is not what its list of counts says");
}

/* A number for so many bytes from one member to another. */
static uint64_t weight(int from, int to, long long bytes)
{
    uint64_t x = ((uint64_t)from << 32 | (uint32_t)to) * 0x9e3779b97f4a7c15u;
    x ^= x >> 29;
    return (x * 0xbf58476d1ce4e5b9u | 1) * (uint64_t)bytes;
}

void pf_check_exchange(struct pf_check_call *call, const struct pf_comm *member, const void *sendbuf,
                       const int *sendcounts, MPI_Datatype sendtype, const MPI_Datatype *sendtypes,
                       const int *recvcounts, MPI_Datatype recvtype, const MPI_Datatype *recvtypes)
{
    struct pf_check_collective *c = &call->collective;
    if (!recvcounts || (sendbuf != MPI_IN_PLACE && !sendcounts))
        return;
    if (sendbuf == MPI_IN_PLACE) {
        sendcounts = recvcounts;
        sendtype = recvtype;
        sendtypes = recvtypes;
    }
    for (int i = 0; i < member->shared->size; i++) {
        long long out = bytes_of(sendcounts[i], sendtypes ? sendtypes[i] : sendtype);
        long long in = bytes_of(recvcounts[i], recvtypes ? recvtypes[i] : recvtype);
        c->balance += weight(member->me, i, out) - weight(i, member->me, in);
        if (!sendtypes || !recvtypes)
            continue;
        struct pf_check_signature to = pf_check_signature_of(call->rank, sendcounts[i], sendtypes[i]);
        struct pf_check_signature from = pf_check_signature_of(call->rank, recvcounts[i], recvtypes[i]);
        c->elements_balance +=
            weight(member->me, i, (long long)to.hash) - weight(i, member->me, (long long)from.hash);
        c->unsized |= to.unknown || from.unknown;
    }
    if (sendtypes || !pf_datatype_valid(sendtype) || !pf_datatype_valid(recvtype))
        return;
    c->signature = pf_check_signature_of(call->rank, 1, sendtype);
    struct pf_check_signature received = pf_check_signature_of(call->rank, 1, recvtype);
    if (pf_check_signatures_differ(c->signature, received))
        c->inconsistent = "it sends and receives other datatypes";
}

void pf_check_rooted(struct pf_check_call *call, bool at_root, int owncount, MPI_Datatype owntype,
                     const int *counts, int count, MPI_Datatype type, bool own_known)
{
    struct pf_check_collective *c = &call->collective;
    if (own_known) {
        c->own = bytes_of(owncount, owntype);
        c->signature = pf_check_signature_of(call->rank, owncount, owntype);
    }
    if (!at_root)
        return;
    c->unit = bytes_of(counts ? 1 : count, type);
    c->counts = c->unit >= 0 ? counts : NULL;
    c->at_root = pf_check_signature_of(call->rank, counts ? 1 : count, type);
}

/* ---- comparison ---- */

static void mismatch(const struct pf_check_call *call, uint64_t number, int rank, struct pf_check_place other,
                     const char *difference) __attribute__((noreturn));

/* On what the collective is. Finding it out takes long: only for a line that is printed. */
static const char *where_text(const struct pf_check_call *call)
{
    static char text[500];
    const struct pf_check_record *record = call->collective_record;
    if (!record)
        return pf_check_comm_text(call->rank, call->collective_comm);
    snprintf(text, sizeof text, "the %s made by %s", pf_check_kind_name(record->kind),
             pf_check_place_text(record->made.fn, record->made.site));
    return text;
}

/* The members can only wait for each other now, or make something wrong: the job ends. */
static void mismatch(const struct pf_check_call *call, uint64_t number, int rank, struct pf_check_place other,
                     const char *difference)
{
    pf_check_found(PF_CHECK_COLLECTIVE, NULL, "collective %llu on %s differs: rank %d: %s, rank %d: %s%s%s",
                   (unsigned long long)number + 1, where_text(call), rank,
                   pf_check_place_text(other.fn, other.site), call->rank->self.rank,
                   pf_check_place_text(call->fn, call->site), *difference ? ": " : "", difference);
    pf_job_abort(call->rank->self.rank, pf_check_status(0));
}

static bool ops_differ(MPI_Op a, MPI_Op b)
{
    if (!a || !b)
        return false;
    return (pf_is_predefined(a) || pf_is_predefined(b)) && a != b; /* those of users are each rank's own */
}

/* What the amounts differ in, NULL when they agree. `text` holds what has numbers. */
static const char *amounts_differ(struct round *round, const struct pf_check_call *call, char *text,
                                  size_t size)
{
    const struct pf_check_collective *first = &round->said, *mine = &call->collective;
    if (first->bytes >= 0 && mine->bytes >= 0 && first->bytes != mine->bytes) {
        snprintf(text, size, "%lld and %lld bytes", first->bytes, mine->bytes);
        return text;
    }
    if (first->bytes >= 0 && first->elements >= 0 && mine->elements >= 0 &&
        first->elements != mine->elements) {
        snprintf(text, size, "%lld and %lld elements of the datatypes", first->elements, mine->elements);
        return text;
    }
    if (first->vector && mine->vector && first->vector != mine->vector)
        return "other lists of counts";
    return pf_check_signatures_differ(first->signature, mine->signature);
}

static struct pf_check_place place_of(const struct pf_check_call *call)
{
    return (struct pf_check_place){call->fn, call->site};
}

/* Between the root and member `i`. */
static bool rooted_differ(const struct round *round, int i, char *text, size_t size)
{
    if (!round->own || !round->theirs || round->own[i] < 0 || round->theirs[i] < 0 ||
        round->own[i] == round->theirs[i])
        return false;
    snprintf(text, size, "%lld bytes at rank %d of the communicator, %lld for it at the root", round->own[i],
             i, round->theirs[i]);
    return true;
}

static long long *unknown(int size)
{
    long long *list = pf_malloc((size_t)size * sizeof *list);
    for (int i = 0; i < size; i++)
        list[i] = -1;
    return list;
}

static void compare_rooted(const struct pf_check_call *call, struct round *round, uint64_t number, int size,
                           int me)
{
    const struct pf_check_collective *c = &call->collective;
    char text[120];
    if (c->own >= 0) {
        if (!round->own)
            round->own = unknown(size);
        round->own[me] = c->own;
    }
    if (c->unit >= 0 && c->root == me) {
        if (!round->theirs)
            round->theirs = unknown(size);
        for (int i = 0; i < size; i++)
            round->theirs[i] = c->counts ? c->counts[i] * c->unit : c->unit;
        round->root_rank = call->rank->self.rank;
        round->root_place = place_of(call);
        round->at_root = c->at_root;
        for (int i = 0; i < size; i++)
            if (rooted_differ(round, i, text, sizeof text))
                mismatch(call, number, round->rank, round->place, text);
        const char *difference = pf_check_signatures_differ(round->said.signature, c->at_root);
        if (difference)
            mismatch(call, number, round->rank, round->place, difference);
    } else if (rooted_differ(round, me, text, sizeof text)) {
        mismatch(call, number, round->root_rank, round->root_place, text);
    } else if (round->theirs) {
        const char *difference = pf_check_signatures_differ(round->at_root, c->signature);
        if (difference)
            mismatch(call, number, round->root_rank, round->root_place, difference);
    }
}

/* Compares with the earlier members, and adds what they left open. */
static void compare(const struct pf_check_call *call, struct round *round, uint64_t number, bool amounts)
{
    const struct pf_check_collective *mine = &call->collective;
    char text[120];
    if (round->place.fn != call->fn)
        mismatch(call, number, round->rank, round->place, "");
    if (!amounts)
        return;
    if (round->said.root != mine->root) {
        snprintf(text, sizeof text, "roots %d and %d", round->said.root, mine->root);
        mismatch(call, number, round->rank, round->place, text);
    }
    if (ops_differ(round->said.op, mine->op))
        mismatch(call, number, round->rank, round->place, "other operations");
    const char *difference = amounts_differ(round, call, text, sizeof text);
    bool sized = round->sized_by >= 0;
    if (difference)
        mismatch(call, number, sized ? round->sized_by : round->rank, sized ? round->sized_at : round->place,
                 difference);
}

static struct round *round_of(struct pf_check_scope *scope, uint64_t number)
{
    struct round **place = &scope->rounds;
    for (uint64_t i = scope->oldest; i < number; i++)
        place = &(*place)->next;
    if (!*place) {
        *place = pf_calloc(1, sizeof **place);
        (*place)->sized_by = -1;
    }
    return *place;
}

static void forget_complete(struct pf_check_scope *scope)
{
    while (scope->rounds && scope->rounds->arrived == scope->size) {
        struct round *done = scope->rounds;
        scope->rounds = done->next;
        scope->oldest++;
        round_free(done);
    }
}

void pf_check_incomplete(const struct pf_comm_shared *shared)
{
    const struct pf_check_scope *scope = shared->check;
    for (const struct round *round = scope ? scope->rounds : NULL; round; round = round->next)
        pf_check_found(PF_CHECK_COLLECTIVE, &pf_job_state.ranks[round->rank],
                       "%s: only %d of the %d members of the communicator have entered it",
                       pf_check_place_text(round->place.fn, round->place.site), round->arrived, scope->size);
}

/* Ranks that have called MPI_Finalize, which the implementations do not expect messages for. */
static int finalizing;

static void refuse_ended(const struct pf_check_call *call, const struct pf_comm_shared *shared, int me)
{
    const uint64_t *entered = shared->check->entered;
    for (int i = 0; i < shared->size; i++) {
        if (pf_job_state.ranks[shared->world_ranks[i]].state != PF_RANK_FINALIZED || entered[i] > entered[me])
            continue;
        pf_check_found(PF_CHECK_COLLECTIVE, call->rank, "%s: rank %d has called MPI_Finalize",
                       pf_check_place_text(call->fn, call->site), shared->world_ranks[i]);
        pf_job_abort(call->rank->self.rank, pf_check_status(0));
    }
}

static void enter(struct pf_check_call *call, struct pf_check_scope *scope, int me, bool amounts)
{
    struct pf_check_collective *mine = &call->collective;
    uint64_t number = scope->entered[me]++;
    struct round *round = round_of(scope, number);
    if (mine->inconsistent && amounts)
        pf_check_found(PF_CHECK_ARGUMENT, call->rank, "%s: %s", pf_check_place_text(call->fn, call->site),
                       mine->inconsistent);
    if (round->arrived++ == 0) {
        round->place = place_of(call);
        round->rank = call->rank->self.rank;
        round->said = *mine;
    } else {
        compare(call, round, number, amounts);
    }
    if (amounts) {
        if (round->sized_by < 0 && (mine->bytes >= 0 || mine->vector)) {
            round->sized_by = call->rank->self.rank;
            round->sized_at = place_of(call);
            round->said = *mine;
        }
        compare_rooted(call, round, number, scope->size, me);
        round->balance += mine->balance;
        round->elements_balance += mine->elements_balance;
        round->unsized |= mine->unsized;
        bool elements = !round->unsized && round->elements_balance != 0;
        if (round->arrived == scope->size && (round->balance != 0 || elements))
            mismatch(call, number, round->rank, round->place,
                     "what the members send is not what the others expect");
    }
    if (!call->collective_record && call->fn != PF_FN_Comm_free && call->fn != PF_FN_Finalize)
        round->meeting = pf_check_meet(call, round->meeting, scope->size);
    if (!round->child)
        round->child = scope_new(scope->size);
    round->child->references++;
    if (call->child)
        pf_check_scope_release(call->child);
    call->child = round->child;
    forget_complete(scope);
}

void pf_check_collective(struct pf_check_call *call, MPI_Comm handle)
{
    struct pf_comm *comm = pf_comm_of(call->rank, handle);
    if (!comm)
        return;
    struct pf_comm_shared *shared = comm->shared;
    if (!shared->check)
        shared->check = scope_new(shared->size);
    call->collective_comm = comm;
    finalizing += call->fn == PF_FN_Finalize;
    if (finalizing > 0 && call->fn != PF_FN_Finalize && comm != call->rank->world)
        refuse_ended(call, shared, comm->me);
    if (shared->size > 1)
        enter(call, shared->check, comm->me, !pf_comm_is_inter(comm));
}

void pf_check_collective_on(struct pf_check_call *call, const void *handle)
{
    const struct pf_check_record *record = pf_check_find(call->rank, handle);
    const struct pf_win *win = pf_object_of(handle, PF_KIND_WIN);
    const struct pf_file *file = pf_object_of(handle, PF_KIND_FILE);
    const struct pf_comm *comm = win ? win->comm : file ? file->comm : NULL;
    if (!record || (record->kind != PF_KIND_WIN && record->kind != PF_KIND_FILE) || !record->scope || !comm)
        return;
    call->collective_record = record;
    enter(call, record->scope, comm->me, false);
}
