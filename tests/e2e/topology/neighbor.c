/* SPDX-License-Identifier: BSD-3-Clause */
/* e2e: switch=any stock=no np=6 */
/* e2e: switch=any stock=no np=2 */
/* e2e: switch=any stock=no np=1 */
/*
 * Neighbourhood collectives, blocking and not, over grids (with edges, and with both neighbours in one rank),
 * graphs, and graphs with several edges between two ranks. Each block has its sender and says which of the
 * sender's blocks it was.
 */
#include "../programs/check.h"

enum { MAX = 24, LEN = 3 };

/* What the calling rank should see: its neighbours, and which block of the source's is meant for each
 * place. */
struct view {
    MPI_Comm comm;
    int in, out, source[MAX], target[MAX], block[MAX];
    int ambiguous; /* a grid with both neighbours in one rank: nonblocking collectives of Open MPI 4.1 mix
                      them up */
};

static int salt;

/* The place that the k-th of equal sources has among the targets of that source. */
static int nth(const int *targets, int count, int rank, int k)
{
    for (int i = 0; i < count; i++)
        if (targets[i] == rank && k-- == 0)
            return i;
    return -1;
}

static int earlier(const struct view *v, int j)
{
    int n = 0;

    for (int i = 0; i < j; i++)
        n += v->source[i] == v->source[j];
    return n;
}

static struct view grid(int ndims, const int *dims, const int *periods)
{
    struct view v = {.in = 2 * ndims, .out = 2 * ndims};

    CHECK_OK(MPI_Cart_create(MPI_COMM_WORLD, ndims, dims, periods, 0, &v.comm));
    for (int i = 0; v.comm != MPI_COMM_NULL && i < ndims; i++) {
        CHECK_OK(MPI_Cart_shift(v.comm, i, 1, &v.source[2 * i], &v.source[2 * i + 1]));
        v.ambiguous |= v.source[2 * i] == v.source[2 * i + 1];
    }
    memcpy(v.target, v.source, sizeof v.target);
    for (int j = 0; j < v.in; j++)
        v.block[j] = j ^ 1;
    return v;
}

/* Node i has edges to all nodes but itself, and two to node 0 (so that node 0 has one to itself). */
static int graph_list(int rank, int *list)
{
    int n = 0;

    for (int i = 0; i < check_size; i++)
        if (i != rank)
            list[n++] = i;
    list[n++] = 0;
    if (rank == 0) /* as many edges back */
        for (int i = 1; i < check_size; i++)
            list[n++] = i;
    return n;
}

static struct view graph(void)
{
    struct view v = {0};
    int index[MAX], edges[MAX * MAX], total = 0, list[MAX];

    for (int i = 0; i < check_size; i++) {
        total += graph_list(i, edges + total);
        index[i] = total;
    }
    CHECK_OK(MPI_Graph_create(MPI_COMM_WORLD, check_size, index, edges, 0, &v.comm));
    v.in = v.out = graph_list(check_rank, v.source);
    memcpy(v.target, v.source, sizeof v.target);
    for (int j = 0; j < v.in; j++)
        v.block[j] = nth(list, graph_list(v.source[j], list), check_rank, earlier(&v, j));
    return v;
}

/* Two edges to the next rank around one to itself; even ranks also have one to rank 0. */
static int dist_targets(int rank, int *list)
{
    int n = 0;

    list[n++] = (rank + 1) % check_size;
    list[n++] = rank;
    list[n++] = (rank + 1) % check_size;
    if (rank % 2 == 0)
        list[n++] = 0;
    return n;
}

static struct view dist(void)
{
    struct view v = {0};
    int list[MAX];

    v.out = dist_targets(check_rank, v.target);
    for (int i = check_size - 1; i >= 0; i--) { /* in another order than the senders' */
        int count = dist_targets(i, list);
        for (int k = 0; k < count; k++)
            if (list[k] == check_rank)
                v.source[v.in++] = i;
    }
    CHECK_OK(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, v.in, v.source, MPI_UNWEIGHTED, v.out, v.target,
                                            MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &v.comm));
    for (int j = 0; j < v.in; j++)
        v.block[j] = nth(list, dist_targets(v.source[j], list), check_rank, earlier(&v, j));
    return v;
}

/* The length of block i of a rank in the collectives that allow different ones. */
static int length(int rank, int block)
{
    return (rank + 2 * block) % (LEN + 1);
}

static int value(int rank, int block, int k)
{
    return check_value(rank, 10 * block + k, salt);
}

static void finish(MPI_Request *request)
{
    int done = 0;

    switch (salt % 4) {
    case 0:
        CHECK_OK(MPI_Wait(request, MPI_STATUS_IGNORE));
        break;
    case 1:
        while (!done)
            CHECK_OK(MPI_Test(request, &done, MPI_STATUS_IGNORE));
        break;
    case 2:
        CHECK_OK(MPI_Waitany(1, request, &done, MPI_STATUS_IGNORE));
        break;
    default:
        CHECK_OK(MPI_Waitall(1, request, MPI_STATUSES_IGNORE));
    }
    CHECK(*request == MPI_REQUEST_NULL);
}

static int same_place(const struct view *v, int nonblocking)
{
    return !v->ambiguous || !nonblocking || check_simulated();
}

static void allgather(const struct view *v, int nonblocking)
{
    int mine[LEN], all[MAX * LEN + 1];
    MPI_Request request;

    for (int k = 0; k < LEN; k++)
        mine[k] = value(check_rank, 0, k);
    memset(all, -1, sizeof all);
    if (nonblocking) {
        CHECK_OK(MPI_Ineighbor_allgather(mine, LEN, MPI_INT, all, LEN, MPI_INT, v->comm, &request));
        finish(&request);
    } else {
        CHECK_OK(MPI_Neighbor_allgather(mine, LEN, MPI_INT, all, LEN, MPI_INT, v->comm));
    }
    for (int j = 0; j < v->in; j++)
        for (int k = 0; k < LEN; k++)
            CHECK(all[j * LEN + k] == (v->source[j] == MPI_PROC_NULL ? -1 : value(v->source[j], 0, k)));
    CHECK(all[v->in * LEN] == -1);
}

/* Blocks stand in reverse order and have the length of their sender. */
static void allgatherv(const struct view *v, int nonblocking)
{
    int mine[LEN], all[MAX * LEN + 1], counts[MAX], displs[MAX], n = length(check_rank, 0);
    MPI_Request request;

    for (int k = 0; k < n; k++)
        mine[k] = value(check_rank, 0, k);
    memset(all, -1, sizeof all);
    for (int j = 0; j < v->in; j++) {
        counts[j] = v->source[j] == MPI_PROC_NULL ? 2 : length(v->source[j], 0);
        displs[j] = (v->in - 1 - j) * LEN;
    }
    if (nonblocking) {
        CHECK_OK(MPI_Ineighbor_allgatherv(mine, n, MPI_INT, all, counts, displs, MPI_INT, v->comm, &request));
        finish(&request);
    } else {
        CHECK_OK(MPI_Neighbor_allgatherv(mine, n, MPI_INT, all, counts, displs, MPI_INT, v->comm));
    }
    for (int j = 0; j < v->in; j++)
        for (int k = 0; k < LEN; k++) {
            int here = v->source[j] != MPI_PROC_NULL && k < length(v->source[j], 0);
            CHECK(all[displs[j] + k] == (here ? value(v->source[j], 0, k) : -1));
        }
}

static void alltoall(const struct view *v, int nonblocking)
{
    int mine[MAX * LEN], all[MAX * LEN + 1];
    MPI_Request request;

    for (int i = 0; i < v->out; i++)
        for (int k = 0; k < LEN; k++)
            mine[i * LEN + k] = value(check_rank, i, k);
    memset(all, -1, sizeof all);
    if (nonblocking) {
        CHECK_OK(MPI_Ineighbor_alltoall(mine, LEN, MPI_INT, all, LEN, MPI_INT, v->comm, &request));
        finish(&request);
    } else {
        CHECK_OK(MPI_Neighbor_alltoall(mine, LEN, MPI_INT, all, LEN, MPI_INT, v->comm));
    }
    for (int j = 0; j < v->in && same_place(v, nonblocking); j++)
        for (int k = 0; k < LEN; k++)
            CHECK(all[j * LEN + k] ==
                  (v->source[j] == MPI_PROC_NULL ? -1 : value(v->source[j], v->block[j], k)));
    CHECK(all[v->in * LEN] == -1);
}

/* Lengths differ between blocks; places are reversed on both sides. */
static void alltoallv(const struct view *v, int nonblocking)
{
    int mine[MAX * LEN], all[MAX * LEN + 1], scounts[MAX], sdispls[MAX], rcounts[MAX], rdispls[MAX];
    int fixed = v->ambiguous; /* so that a mixed-up block is no error in itself */
    MPI_Request request;

    for (int i = 0; i < v->out; i++) {
        scounts[i] = fixed ? LEN : length(check_rank, i);
        sdispls[i] = (v->out - 1 - i) * LEN;
        for (int k = 0; k < LEN; k++)
            mine[sdispls[i] + k] = value(check_rank, i, k);
    }
    for (int j = 0; j < v->in; j++) {
        rcounts[j] = fixed ? LEN : v->source[j] == MPI_PROC_NULL ? 1 : length(v->source[j], v->block[j]);
        rdispls[j] = (v->in - 1 - j) * LEN;
    }
    memset(all, -1, sizeof all);
    if (nonblocking) {
        CHECK_OK(MPI_Ineighbor_alltoallv(mine, scounts, sdispls, MPI_INT, all, rcounts, rdispls, MPI_INT,
                                         v->comm, &request));
        finish(&request);
    } else {
        CHECK_OK(
            MPI_Neighbor_alltoallv(mine, scounts, sdispls, MPI_INT, all, rcounts, rdispls, MPI_INT, v->comm));
    }
    for (int j = 0; j < v->in && same_place(v, nonblocking); j++)
        for (int k = 0; k < LEN; k++) {
            int here = v->source[j] != MPI_PROC_NULL && k < rcounts[j];
            CHECK(all[rdispls[j] + k] == (here ? value(v->source[j], v->block[j], k) : -1));
        }
}

/* Sends a vector with gaps, receives plain ints. */
static void alltoallw(const struct view *v, int nonblocking)
{
    int mine[MAX * 2 * LEN], all[MAX * LEN + 1], ones[MAX], lens[MAX];
    MPI_Aint sdispls[MAX], rdispls[MAX];
    MPI_Datatype gaps, stypes[MAX], rtypes[MAX];
    MPI_Request request;

    CHECK_OK(MPI_Type_vector(LEN, 1, 2, MPI_INT, &gaps));
    CHECK_OK(MPI_Type_commit(&gaps));
    for (int i = 0; i < MAX; i++) {
        ones[i] = 1;
        lens[i] = LEN;
        stypes[i] = gaps;
        rtypes[i] = MPI_INT;
        sdispls[i] = (MPI_Aint)(i * 2 * LEN * sizeof(int));
        rdispls[i] = (MPI_Aint)((MAX - 1 - i) * LEN * sizeof(int));
        for (int k = 0; k < LEN; k++)
            mine[i * 2 * LEN + 2 * k] = value(check_rank, i, k);
    }
    memset(all, -1, sizeof all);
    if (nonblocking) {
        CHECK_OK(MPI_Ineighbor_alltoallw(mine, ones, sdispls, stypes, all, lens, rdispls, rtypes, v->comm,
                                         &request));
        finish(&request);
    } else {
        CHECK_OK(MPI_Neighbor_alltoallw(mine, ones, sdispls, stypes, all, lens, rdispls, rtypes, v->comm));
    }
    MPI_Type_free(&gaps);
    for (int j = 0; j < v->in && same_place(v, nonblocking); j++)
        for (int k = 0; k < LEN; k++)
            CHECK(all[(MAX - 1 - j) * LEN + k] ==
                  (v->source[j] == MPI_PROC_NULL ? -1 : value(v->source[j], v->block[j], k)));
}

/* Several at once, which complete in another order, with a large block so that sends need their receivers. */
static void several(const struct view *v)
{
    enum { AT_ONCE = 3, LARGE = 30000 };
    static int mine[AT_ONCE][LARGE], all[AT_ONCE][MAX * LARGE];
    MPI_Request requests[AT_ONCE];
    int index, flag = 0;

    for (int a = 0; a < AT_ONCE; a++) {
        int n = a == 1 ? LARGE : 10;
        check_fill(mine[a], n, check_rank, salt + a);
        memset(all[a], -1, sizeof all[a]);
        CHECK_OK(MPI_Ineighbor_allgather(mine[a], n, MPI_INT, all[a], n, MPI_INT, v->comm, &requests[a]));
    }
    CHECK_OK(MPI_Waitany(AT_ONCE, requests, &index, MPI_STATUS_IGNORE));
    CHECK(index >= 0 && index < AT_ONCE && requests[index] == MPI_REQUEST_NULL);
    while (!flag)
        CHECK_OK(MPI_Testall(AT_ONCE, requests, &flag, MPI_STATUSES_IGNORE));
    for (int a = 0; a < AT_ONCE; a++) {
        int n = a == 1 ? LARGE : 10;
        for (int j = 0; j < v->in; j++)
            CHECK(v->source[j] == MPI_PROC_NULL || check_filled(all[a] + j * n, n, v->source[j], salt + a));
    }
}

/* A receive of anything that is posted before must not get what belongs to the collective. */
static void with_messages(const struct view *v)
{
    int rank, size, in = -1, out, buffer[MAX], me;
    MPI_Request request;
    MPI_Status status;

    MPI_Comm_rank(v->comm, &rank);
    MPI_Comm_size(v->comm, &size);
    out = value(rank, 7, 0);
    me = value(rank, 0, 0);
    CHECK_OK(MPI_Irecv(&in, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, v->comm, &request));
    CHECK_OK(MPI_Neighbor_allgather(&me, 1, MPI_INT, buffer, 1, MPI_INT, v->comm));
    CHECK_OK(MPI_Send(&out, 1, MPI_INT, (rank + 1) % size, 3, v->comm));
    CHECK_OK(MPI_Wait(&request, &status));
    CHECK(status.MPI_TAG == 3 && in == value((rank + size - 1) % size, 7, 0));
    for (int j = 0; j < v->in; j++)
        CHECK(v->source[j] == MPI_PROC_NULL || buffer[j] == value(v->source[j], 0, 0));
}

static void run(struct view v, const char *label)
{
    if (v.comm == MPI_COMM_NULL)
        return;
    for (int nonblocking = 0; nonblocking < 2; nonblocking++) {
        allgather(&v, nonblocking);
        salt++;
        allgatherv(&v, nonblocking);
        salt++;
        alltoall(&v, nonblocking);
        salt++;
        alltoallv(&v, nonblocking);
        salt++;
        alltoallw(&v, nonblocking);
        TIME(label);
    }
    several(&v);
    with_messages(&v);
    MPI_Comm_free(&v.comm);
    TIME(label);
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    run(grid(1, (int[]){check_size}, (int[]){1}), "ring");
    run(grid(1, (int[]){check_size}, (int[]){0}), "line");
    run(grid(2, check_size > 1 ? (int[]){check_size / 2, 2} : (int[]){1, 1}, (int[]){0, 1}), "strip");
    run(grid(3, (int[]){1, check_size, 1}, (int[]){1, 1, 0}), "flat");
    run(graph(), "graph");
    run(dist(), "dist");
    return check_end("neighbor");
}
