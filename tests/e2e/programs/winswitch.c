/* SPDX-License-Identifier: BSD-3-Clause */
/* e2e: switch=own stock=no mpirun=no */
/* e2e: switch=any stock=no mpirun=no */
/* e2e: switch=any np=3 stock=no mpirun=no args=dynamic */
/*
 * Windows that change their model at fences. Each round is one epoch between fences, in which each rank
 * writes to its right neighbour, reads what the left one shows, and counts on rank 0; between epochs there
 * are locks, groups and requests, which belong to the model in which the fence has left the window. Before
 * each fence another rank switches first, or only some of them do. All kinds of memory, displacement units
 * that differ, and windows on a part of the ranks.
 */
#include "check.h"

enum { N = 48, ROUNDS = 6 };

/* Words of a rank's memory. What an epoch writes is looked at while the next one writes elsewhere: both kinds
 * of cells are there for even and odd rounds. */
enum { WRITTEN = 0, SHOWN = 2 * N, COUNTS = 3 * N, LOCKED = 3 * N + 2, CELLS = 4 * N };

struct window {
    MPI_Win win;
    int *memory;       /* of this rank: see below */
    MPI_Aint *offsets; /* of each rank's memory, in its displacement units; dynamic windows: addresses */
    int unit;          /* ints per displacement */
    int rank, size;
};

static MPI_Aint place(const struct window *w, int rank, int word)
{
    if (w->unit == 0) /* dynamic */
        return w->offsets[rank] + word * (MPI_Aint)sizeof(int);
    return w->unit == -1 && rank % 2 ? word * (MPI_Aint)sizeof(int) : word; /* odd ranks count bytes */
}

/* Another rank switches, to another model, in each round. */
static void switch_some(int round, int rank)
{
    if ((round + rank) % 3 == 2)
        return;
    if (round % 2)
        SWITCH_A();
    else
        SWITCH_B();
}

static void epoch(struct window *w, int round, int end)
{
    int right = (w->rank + 1) % w->size, left = (w->rank + w->size - 1) % w->size, one = round + 1,
        odd = round % 2;
    int out[N], in[N];

    check_fill(out, N, w->rank, round);
    CHECK_OK(MPI_Put(out, N, MPI_INT, right, place(w, right, WRITTEN + odd * N), N, MPI_INT, w->win));
    CHECK_OK(MPI_Get(in, N, MPI_INT, left, place(w, left, SHOWN), N, MPI_INT, w->win));
    CHECK_OK(MPI_Accumulate(&one, 1, MPI_INT, 0, place(w, 0, COUNTS + odd), 1, MPI_INT, MPI_SUM, w->win));
    switch_some(round, w->rank);
    CHECK_OK(MPI_Win_fence(end, w->win));
    CHECK(check_filled(w->memory + WRITTEN + odd * N, N, left, round));
    CHECK(check_filled(in, N, left, 1000));
    for (int earlier = round - 2; earlier >= 0; earlier -= 2)
        one += earlier + 1;
    CHECK(w->memory[COUNTS + odd] == (w->rank == 0 ? w->size * one : 0));
}

static void locked(struct window *w, int round)
{
    int right = (w->rank + 1) % w->size, left = (w->rank + w->size - 1) % w->size, was = -1,
        mine = w->rank + round;
    MPI_Request request[2];
    int got[4] = {0}, out[4] = {mine, mine + 1, mine + 2, mine + 3};

    CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, right, 0, w->win));
    CHECK_OK(MPI_Rput(out, 4, MPI_INT, right, place(w, right, LOCKED), 4, MPI_INT, w->win, &request[0]));
    switch_some(round + 1, w->rank); /* the request stays where it is */
    CHECK_OK(MPI_Wait(&request[0], MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Win_flush(right, w->win));
    CHECK_OK(MPI_Rget(got, 4, MPI_INT, right, place(w, right, LOCKED), 4, MPI_INT, w->win, &request[1]));
    switch_some(round, w->rank);
    CHECK_OK(MPI_Waitall(2, request, MPI_STATUSES_IGNORE));
    CHECK(memcmp(got, out, sizeof out) == 0);
    CHECK_OK(MPI_Win_unlock(right, w->win));
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_OK(MPI_Win_lock_all(0, w->win));
    CHECK_OK(MPI_Fetch_and_op(&mine, &was, MPI_INT, w->rank, place(w, w->rank, LOCKED), MPI_REPLACE, w->win));
    switch_some(round + 2, w->rank);
    CHECK_OK(MPI_Win_flush(w->rank, w->win));
    CHECK(was == left + round);
    CHECK_OK(MPI_Win_unlock_all(w->win));
    MPI_Barrier(MPI_COMM_WORLD);
}

static void grouped(struct window *w, int round)
{
    int right = (w->rank + 1) % w->size, left = (w->rank + w->size - 1) % w->size, out[N];
    MPI_Group all, origin, target;

    check_fill(out, N, w->rank, 500 + round);
    MPI_Win_get_group(w->win, &all);
    MPI_Group_incl(all, 1, &left, &origin);
    MPI_Group_incl(all, 1, &right, &target);
    CHECK_OK(MPI_Win_post(origin, 0, w->win));
    switch_some(round, w->rank);
    CHECK_OK(MPI_Win_start(target, 0, w->win));
    CHECK_OK(MPI_Put(out, N, MPI_INT, right, place(w, right, WRITTEN), N, MPI_INT, w->win));
    switch_some(round + 1, w->rank);
    CHECK_OK(MPI_Win_complete(w->win));
    if (round % 2) {
        CHECK_OK(MPI_Win_wait(w->win));
    } else {
        int flag = 0;
        while (!flag)
            CHECK_OK(MPI_Win_test(w->win, &flag));
    }
    CHECK(check_filled(w->memory, N, left, 500 + round));
    MPI_Group_free(&all);
    MPI_Group_free(&origin);
    MPI_Group_free(&target);
}

static void use(struct window *w)
{
    memset(w->memory, 0, CELLS * sizeof(int));
    check_fill(w->memory + SHOWN, N, w->rank, 1000);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_OK(MPI_Win_fence(MPI_MODE_NOPRECEDE, w->win));
    for (int round = 0; round < ROUNDS; round++) {
        int ends = round % 3 == 2 || round == ROUNDS - 1; /* the other fences open the next epoch */
        epoch(w, round, ends ? MPI_MODE_NOSUCCEED : 0);
        if (!ends)
            continue;
        locked(w, round);
        grouped(w, round);
        MPI_Barrier(MPI_COMM_WORLD);
        CHECK_OK(MPI_Win_fence(
            round == ROUNDS - 1 ? MPI_MODE_NOPRECEDE | MPI_MODE_NOSUCCEED : MPI_MODE_NOPRECEDE, w->win));
    }
    TIME("window");
}

static void finish(struct window *w)
{
    CHECK_OK(MPI_Win_free(&w->win));
    free(w->offsets);
}

static void begin(struct window *w, MPI_Comm comm, int unit)
{
    memset(w, 0, sizeof *w);
    MPI_Comm_rank(comm, &w->rank);
    MPI_Comm_size(comm, &w->size);
    w->unit = unit;
}

static void created(MPI_Comm comm, int unit)
{
    struct window w;
    int memory[CELLS];

    begin(&w, comm, unit);
    w.memory = memory;
    CHECK_OK(MPI_Win_create(memory, sizeof memory, unit == -1 && w.rank % 2 ? 1 : (int)sizeof(int),
                            MPI_INFO_NULL, comm, &w.win));
    use(&w);
    finish(&w);
}

static void allocated(MPI_Comm comm)
{
    struct window w;

    begin(&w, comm, 1);
    CHECK_OK(MPI_Win_allocate(CELLS * sizeof(int), sizeof(int), MPI_INFO_NULL, comm, &w.memory, &w.win));
    use(&w);
    finish(&w);
}

/* The pieces differ in size; loads and stores see what puts have written. */
static void shared(MPI_Comm comm)
{
    struct window w;
    MPI_Aint size;
    int unit, *theirs;

    begin(&w, comm, 1);
    CHECK_OK(MPI_Win_allocate_shared((MPI_Aint)((CELLS + w.rank) * sizeof(int)), sizeof(int), MPI_INFO_NULL,
                                     comm, &w.memory, &w.win));
    use(&w);
    MPI_Barrier(comm);
    for (int i = 0; i < w.size; i++) {
        CHECK_OK(MPI_Win_shared_query(w.win, i, &size, &unit, &theirs));
        CHECK(size == (MPI_Aint)((CELLS + i) * sizeof(int)) && unit == sizeof(int));
        CHECK(check_filled(theirs + SHOWN, N, i, 1000));
    }
    MPI_Barrier(comm);
    finish(&w);
}

/* The memory comes in pieces; one of them goes before the window is used, another comes in the middle. */
static void dynamic(MPI_Comm comm)
{
    struct window w;
    int *memory = malloc(CELLS * sizeof(int)), *other = malloc(CELLS * sizeof(int));
    MPI_Aint address;

    begin(&w, comm, 0);
    w.offsets = malloc((size_t)w.size * sizeof *w.offsets);
    CHECK_OK(MPI_Win_create_dynamic(MPI_INFO_NULL, comm, &w.win));
    for (int turn = 0; turn < 2; turn++) {
        int *mine = turn ? other : memory, *old = turn ? memory : other;
        if (turn == 0)
            CHECK_OK(MPI_Win_attach(w.win, old, CELLS * sizeof(int)));
        CHECK_OK(MPI_Win_attach(w.win, mine, CELLS * sizeof(int)));
        CHECK_OK(MPI_Win_detach(w.win, old));
        MPI_Get_address(mine, &address);
        MPI_Allgather(&address, 1, MPI_AINT, w.offsets, 1, MPI_AINT, comm);
        w.memory = mine;
        use(&w);
        if (turn == 0)
            CHECK_OK(MPI_Win_attach(w.win, old, 16));
        if (turn == 0)
            CHECK_OK(MPI_Win_detach(w.win, old));
        if (turn == 0)
            CHECK_OK(MPI_Win_detach(w.win, mine));
        if (turn == 0)
            CHECK_OK(MPI_Win_attach(w.win, memory, CELLS * sizeof(int)));
    }
    finish(&w);
    free(memory);
    free(other);
}

int main(int argc, char **argv)
{
    MPI_Comm part;

    check_begin(&argc, &argv);
    if (argc > 1) {
        dynamic(MPI_COMM_WORLD);
        shared(MPI_COMM_WORLD);
        return check_end("winswitch");
    }
    created(MPI_COMM_WORLD, 1);
    SWITCH_B();
    created(MPI_COMM_WORLD, -1);
    allocated(MPI_COMM_WORLD);
    SWITCH_A();
    shared(MPI_COMM_WORLD);
    dynamic(MPI_COMM_WORLD);
    MPI_Comm_split(MPI_COMM_WORLD, check_rank % 2, -check_rank, &part);
    allocated(part);
    MPI_Comm_free(&part);
    SWITCH_A();
    return check_end("winswitch");
}
