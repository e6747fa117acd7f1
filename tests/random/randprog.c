/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A random but valid MPI program: usage randprog SEED [STEPS] [pure | free | still] [patient] [blind]
 * [plain]; "pure" leaves out what stock SMPI gets wrong, "plain" the operations of randmore.h (seeds that
 * once failed stay what they were); "patient" ranks wait where others poll, "blind" ones do not probe, which
 * smpi does by polls.
 *
 * Every rank draws the same sequence of operations from the seed and plays its own part in each. Operations
 * that are nonblocking stay pending for a random while and are completed, in random sets, by a random call of
 * the wait and test families. Between operations all ranks switch the model at random: both sides of a
 * message are then started in the same model, which -agree strict demands, while what is pending stays
 * pending across the switch. With "free" each rank switches where it likes, with "still" only the schedule
 * switches: both need -agree follow. All payloads and statuses are checked. With E2E_A and E2E_B set to one
 * and the same model, or with a plain mpicc, there is no switch.
 */
#include "randcore.h"

/* Each member sends to the one `shift` further on; all of it stays pending. */
static void op_shift(void)
{
    const comm_t *c = some_comm();
    const type_t *t = &types[all(ntypes)];
    int shift = all(8), n = some_length() / t->count + 1, any = all(3) == 0, tag = some_tag(any),
        salt = all(1000), mode = all(3), first = all(2);

    if (!c->size)
        return;
    shift %= c->size;
    if (first)
        start_recv(c, (c->rank + c->size - shift) % c->size, n, t, tag, salt, any);
    start_send(c, (c->rank + shift) % c->size, n, t, tag, salt, mode);
    if (!first)
        start_recv(c, (c->rank + c->size - shift) % c->size, n, t, tag, salt, any);
}

/* One member sends to another. */
static void op_single(void)
{
    const comm_t *c = some_comm();
    const type_t *t = &types[all(ntypes)];
    int a = all(64), b = all(64), n = some_length() / t->count + 1, any = all(3) == 0, tag = some_tag(any),
        salt = all(1000), mode = all(3), *p;

    if (!c->size)
        return;
    a %= c->size;
    b %= c->size;
    if (a != b && mode == 2 && (c->rank == a || c->rank == b)) { /* blocking on both sides */
        p = numbers((size_t)n * t->extent);
        if (c->rank == a) {
            pack(p, t, n, check_rank, salt);
            CHECK_OK(MPI_Send(p, n, t->type, b, tag, c->comm));
        } else {
            CHECK_OK(MPI_Recv(p, n, t->type, any ? MPI_ANY_SOURCE : a, tag, c->comm, MPI_STATUS_IGNORE));
            CHECK(unpacked(p, t, n, c->members[a], salt));
        }
        free(p);
        return;
    }
    if (a != b && mode == 2)
        return;
    if (c->rank == b)
        start_recv(c, a, n, t, tag, salt, any);
    if (c->rank == a)
        start_send(c, b, n, t, tag, salt, mode);
}

static void op_sendrecv(void)
{
    const comm_t *c = some_comm();
    int shift = all(8), n = some_length(), tag = some_tag(1), salt = all(1000), from, to, *in, *out;
    MPI_Status status;

    if (!c->size)
        return;
    to = (c->rank + shift) % c->size;
    from = (c->rank + c->size - shift % c->size) % c->size;
    in = numbers((size_t)n);
    out = numbers((size_t)n);
    check_fill(out, n, check_rank, salt);
    CHECK_OK(MPI_Sendrecv(out, n, MPI_INT, to, tag, in, n, MPI_INT, shift % 2 ? from : MPI_ANY_SOURCE, tag,
                          c->comm, &status));
    CHECK((status.MPI_SOURCE == from || (pure && from == to && to == c->rank)) && status.MPI_TAG == tag);
    CHECK(check_filled(in, n, c->members[from], salt));
    free(in);
    free(out);
}

/* A message of unknown length, found by a probe. */
static void op_probe(void)
{
    const comm_t *c = some_comm();
    int a = all(64), b = all(64), n = some_length(), tag = some_tag(1), salt = all(1000), poll = all(2),
        any = all(2), count = -1, flag, *p;
    MPI_Status status;

    if (blind || !c->size || a % c->size == b % c->size)
        return;
    a %= c->size;
    b %= c->size;
    if (c->rank == a)
        start_send(c, b, n, &types[0], tag, salt, 0);
    if (c->rank != b)
        return;
    if (poll && !patient)
        do
            CHECK_OK(MPI_Iprobe(any ? MPI_ANY_SOURCE : a, tag, c->comm, &flag, &status));
        while (!flag);
    else
        CHECK_OK(MPI_Probe(any ? MPI_ANY_SOURCE : a, tag, c->comm, &status));
    MPI_Get_count(&status, MPI_INT, &count);
    CHECK(count == n && status.MPI_SOURCE == a && status.MPI_TAG == tag);
    p = numbers((size_t)n);
    CHECK_OK(MPI_Recv(p, n, MPI_INT, status.MPI_SOURCE, tag, c->comm, MPI_STATUS_IGNORE));
    CHECK(check_filled(p, n, c->members[a], salt));
    free(p);
}

/* One member receives from all others, by wildcards and by name. Names come first, so that no wildcard takes
 * the last message of a source that a later receive names. Messages of one source come in order. */
static void op_race(void)
{
    const comm_t *c = some_comm();
    int root = all(64), each = 1 + all(3), n = 1 + all(400), tag = some_tag(1), salt = all(1000),
        named = all(3), late = all(2);
    MPI_Request list[64 * 3];
    MPI_Status status[64 * 3];
    int *in[64 * 3], seen[64] = {0}, count = 0;

    if (c->size < 2 || pure)
        return;
    root %= c->size;
    if (c->rank != root) {
        for (int k = 0; k < each; k++)
            start_send(c, root, n, &types[0], tag, salt + k, k == 1);
        return;
    }
    if (late)
        usleep((unsigned)mine(100));
    for (int k = 0; k < named && k < each; k++)
        for (int from = 0; from < c->size; from += 1 + k)
            if (from != root) {
                in[count] = numbers((size_t)n);
                CHECK_OK(MPI_Irecv(in[count], n, MPI_INT, from, tag, c->comm, &list[count]));
                count++;
            }
    for (; count < each * (c->size - 1); count++) {
        maybe_switch();
        in[count] = numbers((size_t)n);
        CHECK_OK(MPI_Irecv(in[count], n, MPI_INT, MPI_ANY_SOURCE, tag, c->comm, &list[count]));
    }
    CHECK_OK(MPI_Waitall(count, list, status));
    for (int i = 0; i < count; i++) {
        int from = status[i].MPI_SOURCE;
        CHECK(from >= 0 && from < c->size && from != root && status[i].MPI_TAG == tag);
        CHECK(seen[from] < each && check_filled(in[i], n, c->members[from], salt + seen[from]));
        seen[from]++;
        free(in[i]);
    }
}

/* A message that a matched probe takes. */
static void op_matched(void)
{
    const comm_t *c = some_comm();
    int a = all(64), b = all(64), n = some_length(), tag = some_tag(1), salt = all(1000), way = all(8),
        count = -1, flag = 0, *p;
    MPI_Message message;
    MPI_Status status;
    MPI_Request request;

    if (blind || !c->size || a % c->size == b % c->size || pure)
        return;
    a %= c->size;
    b %= c->size;
    if (c->rank == a)
        start_send(c, b, n, &types[0], tag, salt, way == 7);
    if (c->rank != b)
        return;
    if (way & 1 && !patient)
        while (!flag)
            CHECK_OK(MPI_Improbe(way & 2 ? MPI_ANY_SOURCE : a, tag, c->comm, &flag, &message, &status));
    else
        CHECK_OK(MPI_Mprobe(way & 2 ? MPI_ANY_SOURCE : a, tag, c->comm, &message, &status));
    MPI_Get_count(&status, MPI_INT, &count);
    CHECK(count == n && status.MPI_SOURCE == a && status.MPI_TAG == tag);
    maybe_switch();
    p = numbers((size_t)n);
    if (way & 4) {
        CHECK_OK(MPI_Mrecv(p, n, MPI_INT, &message, &status));
    } else {
        CHECK_OK(MPI_Imrecv(p, n, MPI_INT, &message, &request));
        CHECK_OK(MPI_Wait(&request, &status));
    }
    CHECK(status.MPI_SOURCE == a && status.MPI_TAG == tag && check_filled(p, n, c->members[a], salt));
    free(p);
}

/* Buffered sends, of which one would not fit with the other without its room being given back. */
static void op_buffered(void)
{
    const comm_t *c = some_comm();
    int a = all(64), b = all(64), n = 1 + all(300), tag = some_tag(0), salt = all(1000), size;
    void *buffer;
    int *p;

    if (!c->size || pure)
        return;
    a %= c->size;
    b %= c->size;
    if (c->rank == b)
        for (int k = 0; k < 2; k++)
            start_recv(c, a, n, &types[0], tag, salt + k, 0);
    if (c->rank != a)
        return;
    size = 2 * (n * (int)sizeof(int) + MPI_BSEND_OVERHEAD);
    buffer = malloc((size_t)size);
    p = numbers((size_t)n);
    CHECK_OK(MPI_Buffer_attach(buffer, size));
    for (int k = 0; k < 2; k++) {
        check_fill(p, n, check_rank, salt + k);
        maybe_switch();
        if (!plain && mine(2)) {
            MPI_Request q;
            CHECK_OK(MPI_Ibsend(p, n, MPI_INT, b, tag, c->comm, &q));
            CHECK_OK(MPI_Wait(&q, MPI_STATUS_IGNORE));
        } else {
            CHECK_OK(MPI_Bsend(p, n, MPI_INT, b, tag, c->comm));
        }
    }
    CHECK_OK(MPI_Buffer_detach(&buffer, &size));
    free(buffer);
    free(p);
}

static void add(void *in, void *inout, int *n, MPI_Datatype *type)
{
    unsigned *a = in, *b = inout;

    (void)type;
    for (int i = 0; i < *n; i++)
        b[i] += a[i];
}

static void op_collective(void)
{
    const comm_t *c = some_comm();
    int kind = IBARRIER + all(ISCAN - IBARRIER + 1), n = some_length(), salt = all(1000), root = all(64),
        user = !plain && all(3) == 0;
    slot_t *s;
    MPI_Request *q;
    MPI_Op op = MPI_SUM;

    if (!c->size)
        return;
    if (n > 3000)
        n = 3000;
    s = slot_take(kind, c, n, salt);
    q = request_of(s);
    s->source = root %= c->size;
    s->in = numbers((size_t)n * c->size);
    s->out = numbers((size_t)n * c->size);
    if (kind == IALLTOALL || kind == ISCATTER)
        for (int r = 0; r < c->size; r++)
            check_fill(s->in + r * n, n, check_rank, salt + r);
    else
        check_fill(s->in, n, check_rank, salt);
    if (user)
        CHECK_OK(MPI_Op_create(add, 1, &op));
    switch (kind) {
    case IBARRIER:
        CHECK_OK(pure ? MPI_Ibcast(s->out, 0, MPI_INT, root, c->comm, q) : MPI_Ibarrier(c->comm, q));
        break;
    case IBCAST:
        if (c->rank == root)
            check_fill(s->out, n, check_rank, salt);
        CHECK_OK(MPI_Ibcast(s->out, n, MPI_INT, root, c->comm, q));
        break;
    case IALLREDUCE:
        CHECK_OK(MPI_Iallreduce(s->in, s->out, n, MPI_UNSIGNED, op, c->comm, q));
        break;
    case IALLGATHER:
        CHECK_OK(MPI_Iallgather(s->in, n, MPI_INT, s->out, n, MPI_INT, c->comm, q));
        break;
    case IALLTOALL:
        CHECK_OK(MPI_Ialltoall(s->in, n, MPI_INT, s->out, n, MPI_INT, c->comm, q));
        break;
    case IREDUCE:
        CHECK_OK(MPI_Ireduce(s->in, s->out, n, MPI_UNSIGNED, op, root, c->comm, q));
        break;
    case IGATHER:
        CHECK_OK(MPI_Igather(s->in, n, MPI_INT, s->out, n, MPI_INT, root, c->comm, q));
        break;
    case ISCATTER:
        CHECK_OK(MPI_Iscatter(s->in, n, MPI_INT, s->out, n, MPI_INT, root, c->comm, q));
        break;
    default:
        CHECK_OK(MPI_Iscan(s->in, s->out, n, MPI_UNSIGNED, op, c->comm, q));
    }
    if (user) /* the operation that uses it may be pending still */
        CHECK_OK(MPI_Op_free(&op));
}

/* The same, blocking; a user-defined operation now and then. */
static void op_blocking_collective(void)
{
    const comm_t *c = some_comm();
    int kind = all(6), n = some_length(), salt = all(1000), root = all(64), user = all(2);
    slot_t s = {.comm = *c, .salt = salt};
    MPI_Op op = MPI_SUM;

    if (!c->size)
        return;
    s.n = n = n > 3000 ? 3000 : n;
    s.source = root %= c->size;
    s.in = numbers((size_t)n * c->size);
    s.out = numbers((size_t)n * c->size);
    check_fill(s.in, n, check_rank, salt);
    if (user)
        CHECK_OK(MPI_Op_create(add, 1, &op));
    switch (kind) {
    case 0:
        CHECK_OK(MPI_Barrier(c->comm));
        break;
    case 1:
        CHECK_OK(MPI_Bcast(s.in, n, MPI_INT, root, c->comm));
        CHECK(check_filled(s.in, n, c->members[root], salt));
        break;
    case 2:
        CHECK_OK(MPI_Allreduce(s.in, s.out, n, MPI_UNSIGNED, op, c->comm));
        CHECK(summed(&s, c->size - 1));
        break;
    case 3:
        CHECK_OK(MPI_Allgather(s.in, n, MPI_INT, s.out, n, MPI_INT, c->comm));
        CHECK(collected(&s, 0));
        break;
    case 4:
        CHECK_OK(MPI_Reduce(s.in, s.out, n, MPI_UNSIGNED, op, root, c->comm));
        CHECK(c->rank != root || summed(&s, c->size - 1));
        break;
    default:
        CHECK_OK(MPI_Gather(s.in, n, MPI_INT, s.out, n, MPI_INT, root, c->comm));
        CHECK(c->rank != root || collected(&s, 0));
    }
    if (user)
        CHECK_OK(MPI_Op_free(&op));
    free(s.in);
    free(s.out);
}

#include "randmore.h"

/* ---- communicators ---- */

static void complete_some(int everything);

static void op_comm_make(void)
{
    const comm_t *c = some_comm();
    int split = all(3), parts = 1 + all(3), spread = all(4), reverse = all(2), undefined = all(4) == 0;
    MPI_Comm made = MPI_COMM_NULL;

    if (ncomms == COMMS)
        return;
    if (c->size && split) {
        int colour = (c->rank + spread) % parts;

        CHECK_OK(MPI_Comm_split(c->comm, undefined && colour == 0 ? MPI_UNDEFINED : colour,
                                reverse ? -c->rank : c->rank, &made));
    } else if (c->size) {
        CHECK_OK(MPI_Comm_dup(c->comm, &made));
    }
    comm_model(made);
    comm_add(made);
}

/* Operations on it may still be pending, except that stock Open MPI crashes then. */
static void op_comm_free(void)
{
    int i = all(COMMS);

    if (i == 0 || i >= ncomms)
        return;
    if (pure)
        complete_some(1);
    if (comms[i].comm != MPI_COMM_NULL)
        CHECK_OK(MPI_Comm_free(&comms[i].comm));
    comms[i] = comms[--ncomms];
}

/* ---- persistent requests: one shift on MPI_COMM_WORLD each ---- */

typedef struct {
    MPI_Request request[2]; /* receive, send */
    const type_t *type;
    int n, from, salt, left; /* left: how many of the two are active */
    int *in, *out;
} persistent_t;

static persistent_t lasting[PERSISTENT];

static void make_persistent(void)
{
    for (int i = 0; i < PERSISTENT; i++) {
        persistent_t *p = &lasting[i];
        int to = (check_rank + i) % check_size;

        p->type = &types[pure ? 0 : i % ntypes]; /* stock SMPI sends old data with derived types */
        p->n = some_length() / 4 + 1;
        p->from = (check_rank + check_size - i % check_size) % check_size;
        p->in = numbers((size_t)p->n * p->type->extent);
        p->out = numbers((size_t)p->n * p->type->extent);
        CHECK_OK(MPI_Recv_init(p->in, p->n, p->type->type, p->from, TAGS + 10 + i, MPI_COMM_WORLD,
                               &p->request[0]));
        if (i % 2)
            CHECK_OK(MPI_Ssend_init(p->out, p->n, p->type->type, to, TAGS + 10 + i, MPI_COMM_WORLD,
                                    &p->request[1]));
        else
            CHECK_OK(MPI_Send_init(p->out, p->n, p->type->type, to, TAGS + 10 + i, MPI_COMM_WORLD,
                                   &p->request[1]));
    }
}

static void persistent_done(persistent_t *p)
{
    if (--p->left == 0)
        CHECK(unpacked(p->in, p->type, p->n, p->from, p->salt));
}

/* A rank that has it still active completes it first; then all start it again, in the model of now. */
static void op_persistent(void)
{
    persistent_t *p = &lasting[all(PERSISTENT)];
    int salt = all(1000);

    if (pure) /* stock SMPI loses a message when its persistent request is started again early */
        return;
    if (p->left) {
        CHECK_OK(MPI_Waitall(2, p->request, MPI_STATUSES_IGNORE));
        p->left = 1;
        persistent_done(p);
    }
    p->salt = salt;
    memset(p->in, 0, sizeof(int) * (size_t)p->n * p->type->extent);
    pack(p->out, p->type, p->n, check_rank, salt);
    if (!plain && mine(2)) { /* in either order */
        int first = mine(2);
        CHECK_OK(MPI_Start(&p->request[first]));
        maybe_switch();
        CHECK_OK(MPI_Start(&p->request[!first]));
    } else {
        CHECK_OK(MPI_Startall(2, p->request));
    }
    p->left = 2;
}

/* ---- completion ---- */

enum { HOLES = 4, SET = SLOTS + 2 * PERSISTENT + HOLES, HOLE = -1 };

/* A random set of what is pending: requests, and where each came from. */
typedef struct {
    int n, holes; /* holes: entries that are not active */
    MPI_Request request[SET];
    MPI_Status status[SET];
    int index[SET]; /* slot, or SLOTS + 2 * persistent + part, or HOLE */
    int done[SET];
} set_t;

static MPI_Request *place(int index)
{
    return index < SLOTS ? &requests[index] : &lasting[(index - SLOTS) / 2].request[index % 2];
}

/* What is not active may stand among what is: nothing at all, or a new persistent request. */
static MPI_Request inactive(void)
{
    int i = mine(PERSISTENT);

    return mine(2) && !lasting[i].left ? lasting[i].request[mine(2)] : MPI_REQUEST_NULL;
}

static void choose(set_t *set, int everything, int persistent)
{
    int hole = 0;

    memset(set->done, 0, sizeof(set->done));
    set->n = set->holes = 0;
    for (int i = 0; i < SLOTS; i++)
        if (slots[i].kind != NONE && (everything || mine(2)))
            set->index[set->n++] = i;
    for (int i = 0; i < PERSISTENT; i++)
        if (persistent && lasting[i].left == 2 && (everything || mine(2))) {
            set->index[set->n++] = SLOTS + 2 * i;
            set->index[set->n++] = SLOTS + 2 * i + 1;
        }
    if (!plain && set->n)
        for (set->holes = mine(HOLES + 1); set->n < SET && hole < set->holes; hole++)
            set->index[set->n++] = HOLE;
    for (int k = set->n - 1; k > 0; k--) { /* in any order */
        int j = mine(k + 1), swap = set->index[k];

        set->index[k] = set->index[j];
        set->index[j] = swap;
    }
    for (int k = 0; k < set->n; k++)
        set->request[k] = set->index[k] == HOLE ? inactive() : *place(set->index[k]);
}

/* Number k of the set is complete. */
static void completed(set_t *set, int k, const MPI_Status *status)
{
    int index = set->index[k];

    CHECK(!set->done[k]);
    set->done[k] = 1;
    *place(index) = set->request[k];
    if (index < SLOTS) {
        finish(&slots[index], status);
    } else {
        CHECK(set->request[k] != MPI_REQUEST_NULL);
        persistent_done(&lasting[(index - SLOTS) / 2]);
    }
}

/* The status of what was not active. */
static int empty(const MPI_Status *status)
{
    int count = -1;

    MPI_Get_count(status, MPI_INT, &count);
    return status->MPI_SOURCE == MPI_ANY_SOURCE && status->MPI_TAG == MPI_ANY_TAG && count == 0;
}

static void all_completed(set_t *set, int with_status)
{
    for (int k = 0; k < set->n; k++)
        if (set->index[k] == HOLE)
            CHECK(!with_status || empty(&set->status[k]));
        else if (!set->done[k])
            completed(set, k, with_status ? &set->status[k] : NULL);
}

/* Waitany or Testany until all are complete. */
static void one_by_one(set_t *set, int test)
{
    int k, flag = 1;

    for (int left = set->n - set->holes; left > 0;) {
        if (test)
            CHECK_OK(MPI_Testany(set->n, set->request, &k, &flag, set->status));
        else
            CHECK_OK(MPI_Waitany(set->n, set->request, &k, set->status));
        if (!flag)
            continue;
        CHECK(k >= 0 && k < set->n && set->index[k] != HOLE);
        if (k < 0 || k >= set->n || set->index[k] == HOLE)
            exit(1);
        completed(set, k, set->status);
        left--;
    }
}

static void some_by_some(set_t *set, int test)
{
    int indices[SET], n;

    for (int left = set->n - set->holes; left > 0; left -= n) {
        if (test)
            CHECK_OK(MPI_Testsome(set->n, set->request, &n, indices, set->status));
        else
            CHECK_OK(MPI_Waitsome(set->n, set->request, &n, indices, set->status));
        CHECK(n >= !test && n <= left);
        if (n < 0 || n > left)
            exit(1);
        for (int k = 0; k < n; k++)
            completed(set, indices[k], &set->status[k]);
    }
}

static void singly(set_t *set)
{
    for (int k = 0; k < set->n; k++) {
        int flag = 1;

        if (mine(2) || patient)
            CHECK_OK(MPI_Wait(&set->request[k], &set->status[k]));
        else
            do
                CHECK_OK(MPI_Test(&set->request[k], &flag, &set->status[k]));
            while (!flag);
        if (set->index[k] == HOLE)
            CHECK(empty(&set->status[k]));
        else
            completed(set, k, &set->status[k]);
    }
}

/* Looks once and takes what is complete; the rest stays pending. */
static void glance(set_t *set)
{
    int flag;

    for (int k = 0; k < set->n; k++) {
        CHECK_OK(MPI_Test(&set->request[k], &flag, &set->status[k]));
        if (set->index[k] == HOLE)
            CHECK(flag && empty(&set->status[k]));
        else if (flag)
            completed(set, k, &set->status[k]);
        else if (set->index[k] >= SLOTS && !set->done[k]) { /* both halves of a persistent pair, or none */
            CHECK_OK(MPI_Wait(&set->request[k], &set->status[k]));
            completed(set, k, &set->status[k]);
        }
    }
}

/* Takes what one call gives, in turn with others, and leaves the rest pending. */
static void mixed(set_t *set)
{
    int indices[SET], n, k, flag;

    for (int left = set->n - set->holes, calls = 1 + mine(4); left > 0 && calls > 0; calls--) {
        n = 1;
        switch (mine(4) & (patient ? 2 : 3)) {
        case 0:
            CHECK_OK(MPI_Waitsome(set->n, set->request, &n, indices, set->status));
            break;
        case 1:
            CHECK_OK(MPI_Testsome(set->n, set->request, &n, indices, set->status));
            break;
        case 2:
            CHECK_OK(MPI_Waitany(set->n, set->request, indices, set->status));
            break;
        default:
            CHECK_OK(MPI_Testany(set->n, set->request, indices, &flag, set->status));
            n = flag != 0;
        }
        CHECK(n >= 0 && n <= left);
        for (k = 0; k < n && k < left; k++)
            completed(set, indices[k], &set->status[k]);
        left -= n;
    }
}

static void complete_some(int everything)
{
    static set_t set;
    int flag, partly = !plain && !everything && mine(4) == 0;

    choose(&set, everything, !partly);
    if (!set.n)
        return;
    if (partly) {
        mixed(&set);
        return;
    }
    /* Stock SMPI says "nothing is active" too early in the any and some calls, and Testall forgets
     * statuses. */
    switch (pure ? 7 * mine(3) : mine(9)) {
    case 0:
        CHECK_OK(MPI_Waitall(set.n, set.request, set.status));
        all_completed(&set, 1);
        break;
    case 1:
        CHECK_OK(MPI_Waitall(set.n, set.request, MPI_STATUSES_IGNORE));
        all_completed(&set, 0);
        break;
    case 2:
        do
            CHECK_OK(patient ? MPI_Waitall(set.n, set.request, set.status)
                             : MPI_Testall(set.n, set.request, &flag, set.status));
        while (!flag && !patient);
        all_completed(&set, 1);
        break;
    case 3:
    case 4:
        one_by_one(&set, mine(2) && !patient);
        break;
    case 5:
    case 6:
        some_by_some(&set, mine(2) && !patient);
        break;
    case 7:
        if (!everything && !patient) {
            glance(&set);
            break;
        }
        /* fall through */
    default:
        singly(&set);
    }
}

/* ---- the program ---- */

static void step(void)
{
    static void (*const ops[])(void) = {
        op_shift,
        op_shift,
        op_shift,
        op_single,
        op_single,
        op_single,
        op_sendrecv,
        op_probe,
        op_collective,
        op_collective,
        op_collective,
        op_blocking_collective,
        op_comm_make,
        op_comm_free,
        op_persistent,
        op_persistent,
        op_race,
        op_race,
        op_matched,
        op_buffered,
        /* not in plain programs */
        op_ready,
        op_cancel,
        op_synchronous,
        op_forgotten,
        op_early_type,
        op_inter,
        op_neighbors,
        op_persistent,
    };
    const int plain_ops = 20, count = (int)(sizeof(ops) / sizeof(ops[0]));

    int now = all(3) == 0, which = all(2); /* the same point of the program on all ranks, hence agreement */

    if (free_switches) { /* each rank at points of its own, or only by the schedule */
        now = free_switches > 0 && mine(3) == 0;
        which = mine(2);
    }
    if (now && which)
        SWITCH_B();
    else if (now)
        SWITCH_A();
    ops[all(plain ? plain_ops : count)]();
    if (mine(8) == 0)
        usleep((unsigned)mine(50));
    if (mine(3) == 0)
        complete_some(0);
    while (pending() > SLOTS - 4)
        complete_some(mine(2));
}

static void clean_up(void)
{
    while (ncomms > 1) {
        if (comms[--ncomms].comm != MPI_COMM_NULL)
            CHECK_OK(MPI_Comm_free(&comms[ncomms].comm));
    }
    for (int i = 0; i < PERSISTENT; i++) {
        CHECK_OK(MPI_Request_free(&lasting[i].request[0]));
        CHECK_OK(MPI_Request_free(&lasting[i].request[1]));
        free(lasting[i].in);
        free(lasting[i].out);
    }
    for (int i = 1; i < ntypes; i++)
        CHECK_OK(MPI_Type_free(&types[i].type));
}

static int given(int argc, char **argv, const char *word)
{
    for (int i = 3; i < argc; i++)
        if (!strcmp(argv[i], word))
            return 1;
    return 0;
}

int main(int argc, char **argv)
{
    int seed = argc > 1 ? atoi(argv[1]) : 1, steps = argc > 2 ? atoi(argv[2]) : 60;

    check_begin(&argc, &argv);
    pure = given(argc, argv, "pure");
    plain = pure || given(argc, argv, "plain");
    patient = given(argc, argv, "patient");
    blind = given(argc, argv, "blind");
    free_switches = given(argc, argv, "free") - given(argc, argv, "still");
    if (check_size > 64)
        MPI_Abort(MPI_COMM_WORLD, 2);
    common = (unsigned long long)seed * 2 + 1;
    own = (unsigned long long)seed * 1000 + (unsigned)check_rank;
    for (int i = 0; i < 5; i++) {
        all(2);
        mine(2);
    }
    for (int i = 0; i < SLOTS; i++)
        requests[i] = MPI_REQUEST_NULL;
    comm_add(MPI_COMM_WORLD);
    make_types();
    make_persistent();
    for (int i = 0; i < steps; i++) {
        step();
        if (i % 20 == 19)
            TIME("steps");
    }
    complete_some(1);
    CHECK(pending() == 0);
    TIME("end");
    clean_up();
    forget();
    return check_end("randprog");
}
