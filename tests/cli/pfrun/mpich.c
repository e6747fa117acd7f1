/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What model mpich has, in little: messages, derived types, collectives, communicators of a part of the
 * ranks, windows, pending requests; each across a switch from argv[1] to argv[2]. Prints PASS, or what is
 * wrong. With argv[3]: how long accesses to a rank take that is busy, one line each (s).
 */
#include <mpi.h>
#include <parfocal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { N = 3000 };
static int rank, size;

static void check(int good, const char *what)
{
    if (good)
        return;
    printf("rank %d: %s is wrong\n", rank, what);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

/* An empty name: the model in force stays. */
static void go(const char *model)
{
    if (*model)
        pf_model_switch(model);
}

static void messages(const char *to)
{
    static int in[N], out[N];
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    MPI_Request requests[2];
    MPI_Status status;
    for (int i = 0; i < N; i++)
        out[i] = rank * N + i;
    MPI_Irecv(in, N, MPI_INT, MPI_ANY_SOURCE, 5, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(out, N, MPI_INT, right, 5, MPI_COMM_WORLD, &requests[1]);
    go(to);
    MPI_Wait(&requests[0], &status);
    MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
    check(status.MPI_SOURCE == left && in[N - 1] == left * N + N - 1, "a message");
}

static void types(void)
{
    struct pair {
        char c;
        double d;
    } out[4], in[4];
    MPI_Datatype strided, structure, both[2] = {MPI_CHAR, MPI_DOUBLE};
    int lengths[2] = {1, 1}, column[4][4], sum = 0;
    MPI_Aint places[2] = {0, offsetof(struct pair, d)};
    memset(in, 0, sizeof in);
    for (int i = 0; i < 16; i++)
        column[i / 4][i % 4] = i;
    for (int i = 0; i < 4; i++)
        out[i] = (struct pair){(char)('a' + i), i + rank};
    MPI_Type_vector(4, 1, 4, MPI_INT, &strided);
    MPI_Type_create_struct(2, lengths, places, both, &structure);
    MPI_Type_commit(&strided);
    MPI_Type_commit(&structure);
    MPI_Sendrecv(&column[0][1], 1, strided, rank, 0, &column[0][2], 1, strided, rank, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    MPI_Sendrecv(out, 4, structure, rank, 1, in, 4, structure, rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < 4; i++)
        sum += column[i][2];
    check(sum == 1 + 5 + 9 + 13 && in[3].c == 'd' && in[3].d == 3 + rank, "a derived type");
    MPI_Type_free(&strided);
    MPI_Type_free(&structure);
}

static void largest(void *in, void *inout, int *n, MPI_Datatype *type)
{
    check(*type == MPI_INT, "the type of a user's operation");
    for (int i = 0; i < *n; i++)
        if (((int *)in)[i] > ((int *)inout)[i])
            ((int *)inout)[i] = ((int *)in)[i];
}

static void collectives(MPI_Comm comm)
{
    int me, n, sum = 0, most = 0, *all;
    MPI_Op op;
    MPI_Request request;
    MPI_Comm_rank(comm, &me);
    MPI_Comm_size(comm, &n);
    all = malloc((size_t)n * sizeof *all);
    MPI_Allreduce(&me, &sum, 1, MPI_INT, MPI_SUM, comm);
    MPI_Op_create(largest, 1, &op);
    MPI_Reduce(&rank, &most, 1, MPI_INT, op, 0, comm);
    MPI_Op_free(&op);
    MPI_Iallgather(&me, 1, MPI_INT, all, 1, MPI_INT, comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    check(sum == n * (n - 1) / 2 && all[n - 1] == n - 1, "a collective");
    check(me != 0 || most >= rank, "a user's operation");
    MPI_Barrier(comm);
    free(all);
}

/* Both sides of a move have the same displacement units, and it finds what was there. */
static void windows(MPI_Comm comm, const char *to)
{
    long *memory, one = 1, old, mine[2] = {10 * rank, 7}, found[2];
    int me, members;
    MPI_Win win;
    MPI_Comm_rank(comm, &me);
    MPI_Comm_size(comm, &members);
    MPI_Win_allocate((me + 3) * (MPI_Aint)sizeof *memory, me % 2 ? 1 : sizeof *memory, MPI_INFO_NULL, comm,
                     &memory, &win);
    memory[0] = memory[1] = memory[2] = 0;
    int next = (me + 1) % members, unit = next % 2 ? sizeof *memory : 1;
    MPI_Win_fence(0, win);
    MPI_Put(mine, 2, MPI_LONG, next, unit, 2, MPI_LONG, win);
    go(to);
    MPI_Win_fence(0, win);
    MPI_Get(found, 2, MPI_LONG, next, unit, 2, MPI_LONG, win);
    MPI_Accumulate(&one, 1, MPI_LONG, 0, 0, 1, MPI_LONG, MPI_SUM, win);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    check(found[0] == mine[0] && found[1] == 7 && memory[2] == 7, "a put or get");
    MPI_Win_lock_all(0, win);
    MPI_Fetch_and_op(&one, &old, MPI_LONG, 0, 0, MPI_SUM, win);
    MPI_Win_unlock_all(win);
    check(old >= members && old < 2 * members, "a sum");
    MPI_Win_free(&win);
}

/* Rank 1 is busy for a second. */
static void accesses(void)
{
    static const char *const names[] = {"put", "get", "sum"};
    static long memory, value = 1, old;
    MPI_Win win;
    MPI_Win_create(&memory, sizeof memory, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_lock_all(MPI_MODE_NOCHECK, win);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1)
        sleep(1);
    for (int i = 0; rank == 0 && i < 3; i++) {
        double begin = MPI_Wtime();
        if (i == 0)
            MPI_Put(&value, 1, MPI_LONG, 1, 0, 1, MPI_LONG, win);
        else if (i == 1)
            MPI_Get(&old, 1, MPI_LONG, 1, 0, 1, MPI_LONG, win);
        else
            MPI_Fetch_and_op(&value, &old, MPI_LONG, 1, 0, MPI_SUM, win);
        MPI_Win_flush(1, win);
        check(i == 0 || old == 1, names[i]);
        printf("%s %.9f\n", names[i], MPI_Wtime() - begin);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
}

int main(int argc, char **argv)
{
    MPI_Comm half, copy;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < 3; i++) {
        go(argv[1]);
        MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half);
        messages(argv[2]);
        types();
        collectives(MPI_COMM_WORLD);
        collectives(half);
        go(argv[1]);
        windows(half, argv[2]);
        go(argv[1]);
        MPI_Comm_dup(half, &copy);
        collectives(copy);
        MPI_Comm_free(&half);
        MPI_Comm_free(&copy);
    }
    if (argc > 3)
        accesses();
    double end = MPI_Wtime();
    if (rank == 0)
        printf("PASS after %.9f\n", end);
    MPI_Finalize();
    return 0;
}
