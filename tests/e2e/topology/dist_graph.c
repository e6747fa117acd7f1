/* SPDX-License-Identifier: BSD-3-Clause */
/* e2e: switch=any stock=no np=5 */
/* e2e: switch=any stock=no np=2 */
/* e2e: switch=any stock=no np=1 */
/* Distributed graphs: adjacent ones, and ones whose edges other members give. */
#include "../programs/check.h"

enum { MAX = 64 };

static int wrap(int rank)
{
    return (rank % check_size + check_size) % check_size;
}

/* Two edges to the successor and one to itself. */
static void adjacent(int weighted)
{
    int sources[3] = {wrap(check_rank - 1), wrap(check_rank - 1), check_rank};
    int targets[3] = {wrap(check_rank + 1), check_rank, wrap(check_rank + 1)};
    int source_weights[3] = {10 * sources[0] + 1, 10 * sources[1] + 2, 7};
    int target_weights[3] = {10 * check_rank + 1, 7, 10 * check_rank + 2};
    int in = -1, out = -1, flag = -1, s[4], t[4], sw[4], tw[4], status, sum = 0;
    MPI_Comm graph, copy;

    CHECK_OK(MPI_Dist_graph_create_adjacent(
        MPI_COMM_WORLD, 3, sources, weighted ? source_weights : MPI_UNWEIGHTED, 3, targets,
        weighted ? target_weights : MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &graph));
    CHECK_OK(MPI_Comm_dup(graph, &copy));
    MPI_Comm_free(&graph);
    CHECK_OK(MPI_Topo_test(copy, &status));
    CHECK(status == MPI_DIST_GRAPH);
    CHECK_OK(MPI_Dist_graph_neighbors_count(copy, &in, &out, &flag));
    CHECK(in == 3 && out == 3 && !flag == !weighted);
    CHECK_OK(MPI_Dist_graph_neighbors(copy, 3, s, weighted ? sw : MPI_UNWEIGHTED, 3, t,
                                      weighted ? tw : MPI_UNWEIGHTED));
    CHECK(memcmp(s, sources, sizeof sources) == 0 && memcmp(t, targets, sizeof targets) == 0);
    CHECK(!weighted || memcmp(sw, source_weights, sizeof source_weights) == 0);
    CHECK(!weighted || memcmp(tw, target_weights, sizeof target_weights) == 0);
    CHECK_OK(MPI_Allreduce(&check_rank, &sum, 1, MPI_INT, MPI_SUM, copy));
    CHECK(sum == check_size * (check_size - 1) / 2);
    MPI_Comm_free(&copy);
    TIME("adjacent");
}

/* How often the pair (rank, weight) is in the list. */
static int times_in(int rank, int weight, int count, const int *ranks, const int *weights)
{
    int n = 0;

    for (int i = 0; i < count; i++)
        n += ranks[i] == rank && (!weights || weights[i] == weight);
    return n;
}

/* Member m gives the edges m+1 -> m+3 (weight m), m+1 -> m+1 (weight 100+m), and m -> 0 (weight 200+m). */
static void told_by_others(int weighted)
{
    int sources[2] = {wrap(check_rank + 1), check_rank}, degrees[2] = {2, 1};
    int targets[3] = {wrap(check_rank + 3), wrap(check_rank + 1), 0},
        weights[3] = {check_rank, 100 + check_rank, 200 + check_rank};
    int in = -1, out = -1, flag = -1, s[MAX], t[MAX], sw[MAX], tw[MAX], *given = weighted ? sw : NULL;
    MPI_Comm graph;

    CHECK_OK(MPI_Dist_graph_create(MPI_COMM_WORLD, 2, sources, degrees, targets,
                                   weighted ? weights : MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &graph));
    CHECK_OK(MPI_Dist_graph_neighbors_count(graph, &in, &out, &flag));
    CHECK(out == 3 && in == (check_rank == 0 ? 2 + check_size : 2) && !flag == !weighted);
    CHECK_OK(MPI_Dist_graph_neighbors(graph, in, s, weighted ? sw : MPI_UNWEIGHTED, out, t,
                                      weighted ? tw : MPI_UNWEIGHTED));
    if (check_size >= 3) {
        CHECK(times_in(wrap(check_rank + 2), wrap(check_rank - 1), out, t, weighted ? tw : NULL) >= 1);
        CHECK(times_in(wrap(check_rank - 2), wrap(check_rank - 3), in, s, given) >= 1);
    }
    CHECK(times_in(check_rank, 100 + wrap(check_rank - 1), out, t, weighted ? tw : NULL) >= 1);
    CHECK(times_in(check_rank, 100 + wrap(check_rank - 1), in, s, given) >= 1);
    CHECK(times_in(0, 200 + check_rank, out, t, weighted ? tw : NULL) >= 1);
    if (check_rank == 0)
        for (int i = 0; i < check_size; i++)
            CHECK(times_in(i, 200 + i, in, s, given) >= 1);
    MPI_Comm_free(&graph);
    TIME("others");
}

/* Rank 0 gives all; some members have no edges. */
static void told_by_one(void)
{
    int n = check_rank == 0 ? check_size / 2 : 0, sources[MAX], degrees[MAX], targets[MAX], weights[MAX];
    int in = -1, out = -1, flag = -1, s[MAX], t[MAX], sw[MAX], tw[MAX];
    MPI_Comm graph;

    for (int i = 0; i < n; i++) {
        sources[i] = i;
        degrees[i] = 1;
        targets[i] = check_size - 1 - i;
        weights[i] = 5 + i;
    }
    CHECK_OK(MPI_Dist_graph_create(MPI_COMM_WORLD, n, sources, degrees, targets,
                                   n ? weights : MPI_WEIGHTS_EMPTY, MPI_INFO_NULL, 0, &graph));
    CHECK_OK(MPI_Dist_graph_neighbors_count(graph, &in, &out, &flag));
    int sends = check_rank < check_size / 2, receives = check_size - 1 - check_rank < check_size / 2;
    CHECK(out == sends && in == receives && flag);
    CHECK_OK(MPI_Dist_graph_neighbors(graph, in, s, sw, out, t, tw));
    CHECK(!sends || (t[0] == check_size - 1 - check_rank && tw[0] == 5 + check_rank));
    CHECK(!receives || (s[0] == check_size - 1 - check_rank && sw[0] == 5 + check_size - 1 - check_rank));
    MPI_Comm_free(&graph);
    TIME("one");
}

static void expect(int error, int wanted)
{
    int class = 0;

    MPI_Error_class(error, &class);
    CHECK(class == wanted);
}

static void mistakes(void)
{
    int rank = check_size, one = 1, zero = 0, in, out, flag;
    MPI_Comm graph;

    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    expect(MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &rank, &one, &zero, MPI_UNWEIGHTED, MPI_INFO_NULL, 0,
                                 &graph),
           MPI_ERR_ARG);
    expect(MPI_Dist_graph_create(MPI_COMM_WORLD, -1, &zero, &one, &zero, MPI_UNWEIGHTED, MPI_INFO_NULL, 0,
                                 &graph),
           MPI_ERR_ARG);
    expect(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &rank, MPI_UNWEIGHTED, 0, NULL, MPI_UNWEIGHTED,
                                          MPI_INFO_NULL, 0, &graph),
           MPI_ERR_ARG);
    expect(MPI_Dist_graph_neighbors_count(MPI_COMM_WORLD, &in, &out, &flag), MPI_ERR_TOPOLOGY);
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    for (int weighted = 0; weighted < 2; weighted++) {
        adjacent(weighted);
        told_by_others(weighted);
    }
    told_by_one();
    mistakes();
    TIME("end");
    return check_end("dist_graph");
}
