/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RANDMORE_H
#define RANDMORE_H

/* Operations of random programs that stock SMPI cannot run, and modes of sending that need an agreement
 * first. */
#include "randcore.h"

/* Two different members, or nothing to do. */
static int some_pair(const comm_t *c, int *a, int *b)
{
    *a = all(64);
    *b = all(64);
    if (c->size < 2)
        return 0;
    *a %= c->size;
    *b %= c->size;
    return *a != *b;
}

/* A ready send, after the receiver has said that its receive is posted. */
static void op_ready(void)
{
    const comm_t *c = some_comm();
    const type_t *t = &types[all(ntypes)];
    int n = some_length() / t->count + 1, tag = some_tag(1), token = some_tag(1), salt = all(1000),
        any = all(2), a, b, go = 0;
    slot_t *s;

    if (!some_pair(c, &a, &b))
        return;
    if (c->rank == b) {
        start_recv(c, a, n, t, tag, salt, any);
        maybe_switch();
        CHECK_OK(MPI_Send(&salt, 1, MPI_INT, a, token, c->comm));
    }
    if (c->rank != a)
        return;
    CHECK_OK(MPI_Recv(&go, 1, MPI_INT, b, token, c->comm, MPI_STATUS_IGNORE));
    CHECK(go == salt);
    maybe_switch();
    s = slot_take(SEND, c, n, salt);
    s->in = numbers((size_t)n * t->extent);
    pack(s->in, t, n, check_rank, salt);
    CHECK_OK(MPI_Irsend(s->in, n, t->type, b, tag, c->comm, request_of(s)));
}

/* A receive that is taken back, while its message may be on the way or may never come. */
static void op_cancel(void)
{
    const comm_t *c = some_comm();
    int n = some_length(), tag = some_tag(1), salt = all(1000), sent = all(2), any = all(2), a, b, flag = 0,
        *p;
    MPI_Request q;
    MPI_Status status;

    if (!some_pair(c, &a, &b))
        return;
    if (c->rank == a && sent)
        start_send(c, b, n, &types[0], tag, salt, 0);
    if (c->rank != b)
        return;
    p = numbers((size_t)n);
    CHECK_OK(MPI_Irecv(p, n, MPI_INT, any ? MPI_ANY_SOURCE : a, tag, c->comm, &q));
    if (mine(2))
        usleep((unsigned)mine(20));
    maybe_switch();
    CHECK_OK(MPI_Cancel(&q));
    maybe_switch();
    CHECK_OK(MPI_Wait(&q, &status));
    CHECK_OK(MPI_Test_cancelled(&status, &flag));
    CHECK(flag || sent);
    if (flag && sent)
        CHECK_OK(MPI_Recv(p, n, MPI_INT, a, tag, c->comm, &status));
    if (sent)
        CHECK(check_filled(p, n, c->members[a], salt) && status.MPI_SOURCE == a && status.MPI_TAG == tag);
    free(p);
}

/* Both sides block. */
static void op_synchronous(void)
{
    const comm_t *c = some_comm();
    int n = some_length(), tag = some_tag(1), salt = all(1000), a, b, *p;

    if (!some_pair(c, &a, &b) || (c->rank != a && c->rank != b))
        return;
    p = numbers((size_t)n);
    if (c->rank == a) {
        check_fill(p, n, check_rank, salt);
        CHECK_OK(MPI_Ssend(p, n, MPI_INT, b, tag, c->comm));
    } else {
        if (mine(2))
            usleep((unsigned)mine(50));
        CHECK_OK(MPI_Recv(p, n, MPI_INT, a, tag, c->comm, MPI_STATUS_IGNORE));
        CHECK(check_filled(p, n, c->members[a], salt));
    }
    free(p);
}

/* ---- requests that are freed while they are active ---- */

enum { FORGOTTEN = 200 };
static int *forgotten[FORGOTTEN], nforgotten;

static void op_forgotten(void)
{
    const comm_t *c = some_comm();
    int n = some_length(), tag = some_tag(1), salt = all(1000), a, b, any = all(2), *p;
    MPI_Request q;

    if (!some_pair(c, &a, &b))
        return;
    if (c->rank == b)
        start_recv(c, a, n, &types[0], tag, salt, any);
    if (c->rank != a || nforgotten == FORGOTTEN)
        return;
    p = forgotten[nforgotten++] = numbers((size_t)n);
    check_fill(p, n, check_rank, salt);
    CHECK_OK(MPI_Isend(p, n, MPI_INT, b, tag, c->comm, &q));
    CHECK_OK(MPI_Request_free(&q));
    CHECK(q == MPI_REQUEST_NULL);
}

/* All ranks have received everything. */
static void forget(void)
{
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    while (nforgotten > 0)
        free(forgotten[--nforgotten]);
}

/* Types that are freed while messages of them are pending. */
static void op_early_type(void)
{
    const comm_t *c = some_comm();
    const type_t *t = &types[all(ntypes)];
    int n = some_length() / t->count + 1, tag = some_tag(1), salt = all(1000), a, b;
    type_t copy = *t;
    slot_t *s;

    if (!some_pair(c, &a, &b) || (c->rank != a && c->rank != b))
        return;
    CHECK_OK(MPI_Type_dup(t->type, &copy.type));
    if (c->rank == a) {
        start_send(c, b, n, &copy, tag, salt, mine(2));
    } else {
        start_recv(c, a, n, &copy, tag, salt, 0);
        for (s = slots; s->kind != RECV || s->type != &copy; s++)
            ;
        s->type = t;
    }
    CHECK_OK(MPI_Type_free(&copy.type));
}

/* ---- communicators of other kinds ---- */

/* A new communicator may be bound to a model, before anything travels on it. */
static void comm_model(MPI_Comm made)
{
    int bind = plain ? 0 : all(6);

    if (made != MPI_COMM_NULL && bind >= 4)
        CHECK(pf_comm_model_set(made, bind == 4 ? check_model("E2E_A", "smpi")
                                                : check_model("E2E_B", "portals")) == 0);
}

/* Each sends to its number on the other side, as far as there is one; the larger side's rest to number 0. */
static void inter_messages(MPI_Comm inter, int me, int theirs, int ours, int n, int salt)
{
    int *out = numbers((size_t)n), *in = numbers((size_t)n), to = me < theirs ? me : 0,
        expected = me < theirs;
    MPI_Request q;
    MPI_Status status;

    if (me == 0 && ours < theirs)
        expected += theirs - ours;
    check_fill(out, n, me, salt);
    CHECK_OK(MPI_Isend(out, n, MPI_INT, to, 5, inter, &q));
    maybe_switch();
    for (int k = 0; k < expected; k++) {
        CHECK_OK(MPI_Recv(in, n, MPI_INT, MPI_ANY_SOURCE, 5, inter, &status));
        CHECK(check_filled(in, n, status.MPI_SOURCE, salt));
    }
    CHECK_OK(MPI_Wait(&q, MPI_STATUS_IGNORE));
    free(out);
    free(in);
}

/* Two sides of a communicator, messages and a collective between them, and both as one again. */
static void op_inter(void)
{
    const comm_t *c = some_comm();
    int cut = all(64), n = 1 + all(300), salt = all(1000), side, me, ours, theirs, one, sum = 0;
    MPI_Comm half, inter, merged;

    if (c->size < 2)
        return;
    cut = 1 + cut % (c->size - 1);
    side = c->rank >= cut;
    CHECK_OK(MPI_Comm_split(c->comm, side, c->rank, &half));
    CHECK_OK(MPI_Intercomm_create(half, 0, c->comm, side ? 0 : cut, TAGS + 50, &inter));
    maybe_switch();
    CHECK_OK(MPI_Comm_rank(inter, &me));
    CHECK_OK(MPI_Comm_size(inter, &ours));
    CHECK_OK(MPI_Comm_remote_size(inter, &theirs));
    CHECK(ours == (side ? c->size - cut : cut) && ours + theirs == c->size);
    inter_messages(inter, me, theirs, ours, n, salt);
    one = me + 1;
    CHECK_OK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, inter));
    CHECK(sum == theirs * (theirs + 1) / 2);
    CHECK_OK(MPI_Intercomm_merge(inter, side, &merged));
    CHECK_OK(MPI_Comm_free(&inter));
    CHECK_OK(MPI_Allreduce(&check_rank, &sum, 1, MPI_INT, MPI_MAX, merged));
    for (int i = one = 0; i < c->size; i++)
        one = c->members[i] > one ? c->members[i] : one;
    CHECK(sum == one);
    CHECK_OK(MPI_Comm_free(&merged));
    CHECK_OK(MPI_Comm_free(&half));
}

/* What came from `from`; nothing where the grid ends. */
static int from_neighbor(const comm_t *c, const int *block, int n, int from, int salt)
{
    for (int i = 0; from == MPI_PROC_NULL && i < n; i++)
        if (block[i] != -1)
            return 0;
    return from == MPI_PROC_NULL || check_filled(block, n, c->members[from], salt);
}

/* Exchange with both neighbours in a row of processes; the communicator may be freed while it is pending. */
static void op_neighbors(void)
{
    const comm_t *c = some_comm();
    int periodic = all(2), n = 1 + all(500), salt = all(1000), toall = all(2), pending = all(2), low, high,
        *out, *in;
    MPI_Request q = MPI_REQUEST_NULL;
    MPI_Comm row;

    if (!c->size)
        return;
    toall = toall && c->size > 2; /* which block goes where is open when both neighbours are one process */
    CHECK_OK(MPI_Cart_create(c->comm, 1, &c->size, &periodic, 0, &row));
    CHECK_OK(MPI_Cart_shift(row, 0, 1, &low, &high));
    out = numbers(2 * (size_t)n);
    in = numbers(2 * (size_t)n);
    check_fill(out, n, check_rank, salt);
    check_fill(out + n, n, check_rank, salt + toall);
    maybe_switch();
    if (pending && toall)
        CHECK_OK(MPI_Ineighbor_alltoall(out, n, MPI_INT, in, n, MPI_INT, row, &q));
    else if (pending)
        CHECK_OK(MPI_Ineighbor_allgather(out, n, MPI_INT, in, n, MPI_INT, row, &q));
    else if (toall)
        CHECK_OK(MPI_Neighbor_alltoall(out, n, MPI_INT, in, n, MPI_INT, row));
    else
        CHECK_OK(MPI_Neighbor_allgather(out, n, MPI_INT, in, n, MPI_INT, row));
    CHECK_OK(MPI_Comm_free(&row));
    maybe_switch();
    CHECK_OK(MPI_Wait(&q, MPI_STATUS_IGNORE));
    CHECK(from_neighbor(c, in, n, low, salt + toall));
    CHECK(from_neighbor(c, in + n, n, high, salt));
    free(out);
    free(in);
}

#endif
