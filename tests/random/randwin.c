/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A random but valid program of one-sided communication: usage randwin SEED [STEPS] [pure | free | still].
 *
 * Every rank draws the same sequence of steps from the seed and plays its own part in each. Several windows
 * of all kinds exist at a time, on all ranks or on some of them. A step is an epoch on one of them: between
 * fences, under locks of one target or of all, or between groups; a window that is locked may stay locked
 * while others are used. Each rank writes to cells of its own at each target and counts in common ones, so
 * that all know what must be there. With "free" each rank switches the model where it likes, also within an
 * epoch; with "still" only the schedule does; otherwise all switch between two steps. "pure" leaves out what
 * stock SMPI cannot run.
 */
#include "../e2e/programs/check.h"

#include <unistd.h>

enum {
    MOST_RANKS = 8,
    BLOCK = 32,
    WINDOWS = 3,
    COUNT = MOST_RANKS * BLOCK,
    RAISED = COUNT + 1,
    SWAPPED = COUNT + 2,
    CELLS = COUNT + 3
};

typedef struct {
    MPI_Win win; /* MPI_WIN_NULL: not there, or not on this rank */
    MPI_Comm comm;
    int exists, parts, kind, rank, size, open;
    int members[MOST_RANKS]; /* world ranks */
    int *memory;
    MPI_Aint place[MOST_RANKS];       /* of a dynamic window's memory */
    int salt[MOST_RANKS][MOST_RANKS]; /* what origin (second) has last put at target (first) */
    int count[MOST_RANKS], raised[MOST_RANKS], swapped[MOST_RANKS]; /* what is in the common cells */
} window_t;

enum { CREATED, ALLOCATED, SHARED, DYNAMIC, KINDS };

static unsigned long long common, own;
static int pure, free_switches;
static window_t windows[WINDOWS];
static MPI_Comm halves;
static int stamp; /* each put has a salt of its own */

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

static void maybe_switch(void)
{
    if (free_switches <= 0 || mine(3))
        return;
    if (mine(2))
        SWITCH_A();
    else
        SWITCH_B();
}

static void maybe_sleep(void)
{
    if (mine(4) == 0)
        usleep((unsigned)mine(60));
}

static MPI_Aint at(const window_t *w, int target, int cell)
{
    return w->kind == DYNAMIC ? w->place[target] + cell * (MPI_Aint)sizeof(int) : cell;
}

/* ---- windows come and go ---- */

static void window_make(window_t *w)
{
    int bytes = CELLS * (int)sizeof(int), unit = (int)sizeof(int);
    MPI_Aint address;

    memset(w, 0, sizeof *w);
    w->exists = 1;
    w->parts = all(2);
    w->kind = all(pure ? 2 : KINDS);
    w->comm = w->parts ? halves : MPI_COMM_WORLD;
    MPI_Comm_rank(w->comm, &w->rank);
    MPI_Comm_size(w->comm, &w->size);
    maybe_switch();
    CHECK_OK(MPI_Allgather(&check_rank, 1, MPI_INT, w->members, 1, MPI_INT, w->comm));
    if (w->kind == CREATED || w->kind == DYNAMIC)
        w->memory = malloc((size_t)bytes);
    if (w->kind == CREATED)
        CHECK_OK(MPI_Win_create(w->memory, bytes, unit, MPI_INFO_NULL, w->comm, &w->win));
    else if (w->kind == ALLOCATED)
        CHECK_OK(MPI_Win_allocate(bytes, unit, MPI_INFO_NULL, w->comm, &w->memory, &w->win));
    else if (w->kind == SHARED)
        CHECK_OK(MPI_Win_allocate_shared(bytes, unit, MPI_INFO_NULL, w->comm, &w->memory, &w->win));
    else
        CHECK_OK(MPI_Win_create_dynamic(MPI_INFO_NULL, w->comm, &w->win));
    memset(w->memory, 0, (size_t)bytes);
    if (w->kind == DYNAMIC) {
        CHECK_OK(MPI_Win_attach(w->win, w->memory, bytes));
        MPI_Get_address(w->memory, &address);
        CHECK_OK(MPI_Allgather(&address, 1, MPI_AINT, w->place, 1, MPI_AINT, w->comm));
    }
    CHECK_OK(MPI_Barrier(w->comm));
}

static void window_close(window_t *w)
{
    if (w->open)
        CHECK_OK(MPI_Win_unlock_all(w->win));
    w->open = 0;
}

static void window_free(window_t *w)
{
    window_close(w);
    maybe_switch();
    if (w->kind == DYNAMIC) {
        CHECK_OK(MPI_Barrier(w->comm));
        CHECK_OK(MPI_Win_detach(w->win, w->memory));
    }
    CHECK_OK(MPI_Win_free(&w->win));
    CHECK(w->win == MPI_WIN_NULL);
    if (w->kind == CREATED || w->kind == DYNAMIC)
        free(w->memory);
    w->exists = 0;
}

/* ---- what must be there ---- */

static int block_is(const int *block, const window_t *w, int origin, int salt)
{
    for (int i = 0; i < BLOCK; i++)
        if (block[i] != (salt ? check_value(w->members[origin], i, salt) : 0))
            return 0;
    return 1;
}

/* Between two barriers, so that no rank writes meanwhile. */
static void look(const window_t *w)
{
    const volatile int *cells = w->memory;

    CHECK_OK(MPI_Barrier(w->comm));
    CHECK_OK(MPI_Win_sync(w->win));
    for (int origin = 0; origin < w->size; origin++)
        CHECK(block_is(w->memory + origin * BLOCK, w, origin, w->salt[w->rank][origin]));
    CHECK(cells[COUNT] == w->count[w->rank]);
    CHECK(cells[RAISED] == w->raised[w->rank]);
    CHECK(cells[SWAPPED] == w->swapped[w->rank]);
    CHECK_OK(MPI_Barrier(w->comm));
}

/* All ranks draw what each origin does; the caller does its own part. What is read back was not written in
 * this epoch, unless `ordered` flushes stand between. */
typedef struct {
    int target, put, get, adds, salt;
} part_t;

static void draw(const window_t *w, part_t *parts)
{
    for (int origin = 0; origin < MOST_RANKS; origin++) {
        part_t *p = &parts[origin];
        p->target = all(64) % w->size;
        p->put = all(3) > 0;
        p->get = all(2);
        p->adds = all(3);
        p->salt = ++stamp;
    }
}

static void expect(window_t *w, const part_t *parts)
{
    for (int origin = 0; origin < w->size; origin++) {
        const part_t *p = &parts[origin];
        if (p->put)
            w->salt[p->target][origin] = p->salt;
        w->count[p->target] += p->adds * (origin + 1);
    }
}

static void put_block(const window_t *w, const part_t *p, int *out, MPI_Request *request)
{
    MPI_Aint place = at(w, p->target, w->rank * BLOCK);

    check_fill(out, BLOCK, check_rank, p->salt);
    if (request)
        CHECK_OK(MPI_Rput(out, BLOCK, MPI_INT, p->target, place, BLOCK, MPI_INT, w->win, request));
    else
        CHECK_OK(MPI_Put(out, BLOCK, MPI_INT, p->target, place, BLOCK, MPI_INT, w->win));
}

/* What an epoch reads and writes stays in place until its end. */
static void add_counts(const window_t *w, const part_t *p, int fetch)
{
    static int one, was;

    one = w->rank + 1;
    for (int i = 0; i < p->adds; i++)
        if (fetch)
            CHECK_OK(
                MPI_Fetch_and_op(&one, &was, MPI_INT, p->target, at(w, p->target, COUNT), MPI_SUM, w->win));
        else
            CHECK_OK(MPI_Accumulate(&one, 1, MPI_INT, p->target, at(w, p->target, COUNT), 1, MPI_INT, MPI_SUM,
                                    w->win));
}

/* ---- epochs ---- */

static void between_fences(window_t *w)
{
    part_t parts[MOST_RANKS];
    int opening = all(2) ? MPI_MODE_NOPRECEDE : 0, rounds = 1 + all(3), out[BLOCK], in[BLOCK];

    CHECK_OK(MPI_Win_fence(opening, w->win));
    for (int round = 0; round < rounds; round++) {
        draw(w, parts);
        const part_t *p = &parts[w->rank];
        int last = round == rounds - 1, from = all(64) % w->size, other = (p->target + 1) % w->size;
        int known = w->salt[other][from] && !(parts[from].put && parts[from].target == other);
        if (p->put)
            put_block(w, p, out, NULL);
        maybe_switch();
        if (p->get && known)
            CHECK_OK(MPI_Get(in, BLOCK, MPI_INT, other, at(w, other, from * BLOCK), BLOCK, MPI_INT, w->win));
        add_counts(w, p, 0);
        maybe_switch();
        maybe_sleep();
        CHECK_OK(MPI_Win_fence(last ? MPI_MODE_NOSUCCEED : 0, w->win));
        if (p->get && known)
            CHECK(block_is(in, w, from, w->salt[other][from]));
        expect(w, parts);
        if (last || all(2))
            look(w);
    }
}

/* Puts, reads back, and counts; requests may be waited for after a switch. */
static void work_at(window_t *w, const part_t *p, int requests)
{
    MPI_Request request[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    int out[BLOCK], in[BLOCK];
    MPI_Aint place = at(w, p->target, w->rank * BLOCK);

    if (p->put) {
        put_block(w, p, out, requests ? &request[0] : NULL);
        maybe_switch();
        CHECK_OK(MPI_Wait(&request[0], MPI_STATUS_IGNORE));
        CHECK_OK(MPI_Win_flush(p->target, w->win));
        if (requests)
            CHECK_OK(MPI_Rget(in, BLOCK, MPI_INT, p->target, place, BLOCK, MPI_INT, w->win, &request[1]));
        else
            CHECK_OK(MPI_Get(in, BLOCK, MPI_INT, p->target, place, BLOCK, MPI_INT, w->win));
        maybe_switch();
        CHECK_OK(MPI_Waitall(2, request, MPI_STATUSES_IGNORE));
        CHECK_OK(MPI_Win_flush_local(p->target, w->win));
        if (!requests)
            CHECK_OK(MPI_Win_flush(p->target, w->win));
        CHECK(block_is(in, w, w->rank, p->salt));
    }
    add_counts(w, p, p->get);
}

static void under_lock(window_t *w)
{
    part_t parts[MOST_RANKS];
    int exclusive = all(2), mixed = !pure && all(2), requests = all(2);

    draw(w, parts);
    const part_t *p = &parts[w->rank];
    if (mixed)
        exclusive = mine(2);
    maybe_sleep();
    CHECK_OK(MPI_Win_lock(exclusive ? MPI_LOCK_EXCLUSIVE : MPI_LOCK_SHARED, p->target, 0, w->win));
    work_at(w, p, requests);
    maybe_switch();
    CHECK_OK(MPI_Win_unlock(p->target, w->win));
    expect(w, parts);
    look(w);
}

/* The window may stay locked for some steps, in which others are used. */
static void under_locks(window_t *w)
{
    part_t parts[MOST_RANKS];
    int requests = all(2), stays = all(2);

    draw(w, parts);
    if (!w->open)
        CHECK_OK(MPI_Win_lock_all(0, w->win));
    w->open = 1;
    maybe_switch();
    work_at(w, &parts[w->rank], requests);
    maybe_switch();
    CHECK_OK(MPI_Win_flush_all(w->win));
    expect(w, parts);
    if (!stays)
        window_close(w);
    look(w);
}

static void between_groups(window_t *w)
{
    int shift = 1 + all(64) % w->size, test = !pure && all(2), salt = ++stamp, out[BLOCK], done = 0;
    int to = (w->rank + shift) % w->size, from = (w->rank + shift * (w->size - 1)) % w->size;
    part_t part = {.target = to, .salt = salt};
    MPI_Group group, origin, target;

    CHECK_OK(MPI_Comm_group(w->comm, &group));
    CHECK_OK(MPI_Group_incl(group, 1, &from, &origin));
    CHECK_OK(MPI_Group_incl(group, 1, &to, &target));
    maybe_sleep();
    CHECK_OK(MPI_Win_post(origin, 0, w->win));
    maybe_switch();
    CHECK_OK(MPI_Win_start(target, 0, w->win));
    put_block(w, &part, out, NULL);
    maybe_switch();
    CHECK_OK(MPI_Win_complete(w->win));
    while (test && !done)
        CHECK_OK(MPI_Win_test(w->win, &done));
    if (!test)
        CHECK_OK(MPI_Win_wait(w->win));
    for (int i = 0; i < w->size; i++)
        w->salt[(i + shift) % w->size][i] = salt;
    MPI_Group_free(&group);
    MPI_Group_free(&origin);
    MPI_Group_free(&target);
    look(w);
}

/* Counts by reading and writing in two calls under a lock, and by compare-and-swap. */
static void contended(window_t *w)
{
    int turns = 1 + all(3), target = all(64) % w->size, seen, wanted, expected = w->swapped[target];

    for (int i = 0; i < turns; i++) {
        CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, w->win));
        CHECK_OK(MPI_Get(&seen, 1, MPI_INT, target, at(w, target, RAISED), 1, MPI_INT, w->win));
        CHECK_OK(MPI_Win_flush(target, w->win));
        maybe_switch();
        seen++;
        CHECK_OK(MPI_Put(&seen, 1, MPI_INT, target, at(w, target, RAISED), 1, MPI_INT, w->win));
        CHECK_OK(MPI_Win_unlock(target, w->win));
    }
    CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, target, 0, w->win));
    for (int i = 0; i < turns; i++)
        for (;;) {
            wanted = expected + 1;
            CHECK_OK(MPI_Compare_and_swap(&wanted, &expected, &seen, MPI_INT, target, at(w, target, SWAPPED),
                                          w->win));
            CHECK_OK(MPI_Win_flush(target, w->win));
            if (seen == expected)
                break;
            expected = seen;
        }
    CHECK_OK(MPI_Win_unlock(target, w->win));
    w->raised[target] += turns * w->size;
    w->swapped[target] += turns * w->size;
    look(w);
}

static void step(void)
{
    window_t *w = &windows[all(WINDOWS)];
    int what = all(12);

    if (free_switches == 0 && all(2)) { /* all at once */
        if (all(2))
            SWITCH_A();
        else
            SWITCH_B();
    }
    if (!w->exists) {
        window_make(w);
    } else if (what == 0) {
        window_free(w);
    } else if (what <= 3 && !pure) {
        under_locks(w);
    } else {
        window_close(w);
        CHECK_OK(MPI_Barrier(w->comm)); /* no rank has a lock any more */
        if (what <= 7)
            between_fences(w);
        else if (what <= 9)
            under_lock(w);
        else if (what == 10 || pure)
            between_groups(w);
        else
            contended(w);
    }
}

int main(int argc, char **argv)
{
    int seed = argc > 1 ? atoi(argv[1]) : 1, steps = argc > 2 ? atoi(argv[2]) : 40;

    check_begin(&argc, &argv);
    pure = argc > 3 && !strcmp(argv[3], "pure");
    free_switches = argc > 3 ? !strcmp(argv[3], "free") - !strcmp(argv[3], "still") : 0;
    if (check_size > MOST_RANKS)
        MPI_Abort(MPI_COMM_WORLD, 2);
    common = (unsigned long long)seed * 2 + 1;
    own = (unsigned long long)seed * 1000 + (unsigned)check_rank;
    for (int i = 0; i < 5; i++) {
        all(2);
        mine(2);
    }
    CHECK_OK(MPI_Comm_split(MPI_COMM_WORLD, check_rank % 2, check_rank, &halves));
    for (int i = 0; i < steps; i++) {
        step();
        if (i % 10 == 9)
            TIME("steps");
    }
    for (int i = 0; i < WINDOWS; i++)
        if (windows[i].exists)
            window_free(&windows[i]);
    TIME("end");
    MPI_Comm_free(&halves);
    return check_end("randwin");
}
