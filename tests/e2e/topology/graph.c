/* SPDX-License-Identifier: BSD-3-Clause */
/* e2e: switch=any stock=no np=6 */
/* MPI_Graph_create and what it answers. Node i is connected with 0 and with its successor; node 0 with
 * all. */
#include "../programs/check.h"

enum { NODES = 5 };

static int index_of[NODES], edges[40], degree[NODES];

static void build(void)
{
    int n = 0;

    for (int i = 0; i < NODES; i++) {
        int before = n;
        for (int j = 0; j < NODES; j++)
            if (i == 0 ? j != 0 : j == 0)
                edges[n++] = j;
        edges[n++] = i; /* an edge to itself */
        if (i == 2) {   /* and a double one */
            edges[n++] = 4;
            edges[n++] = 4;
        }
        degree[i] = n - before;
        index_of[i] = n;
    }
}

static void queries(MPI_Comm graph)
{
    int status, nodes = 0, count = 0, index[NODES + 1], list[40], first = 0;

    CHECK_OK(MPI_Topo_test(graph, &status));
    CHECK(status == MPI_GRAPH);
    CHECK_OK(MPI_Graphdims_get(graph, &nodes, &count));
    CHECK(nodes == NODES && count == index_of[NODES - 1]);
    memset(index, -1, sizeof index);
    memset(list, -1, sizeof list);
    CHECK_OK(MPI_Graph_get(graph, NODES, count, index, list));
    CHECK(memcmp(index, index_of, sizeof index_of) == 0 && index[NODES] == -1);
    CHECK(memcmp(list, edges, (size_t)count * sizeof(int)) == 0 && list[count] == -1);
    for (int i = 0; i < NODES; i++) {
        CHECK_OK(MPI_Graph_neighbors_count(graph, i, &count));
        CHECK(count == degree[i]);
        memset(list, -1, sizeof list);
        CHECK_OK(MPI_Graph_neighbors(graph, i, count, list));
        CHECK(memcmp(list, edges + first, (size_t)count * sizeof(int)) == 0 && list[count] == -1);
        first = index_of[i];
    }
}

static void expect(int error, int wanted)
{
    int class = 0;

    MPI_Error_class(error, &class);
    CHECK(class == wanted);
}

int main(int argc, char **argv)
{
    MPI_Comm graph, copy, none;
    int sum = 0, size, newrank = -5;

    check_begin(&argc, &argv);
    build();
    CHECK_OK(MPI_Graph_create(MPI_COMM_WORLD, NODES, index_of, edges, 0, &graph));
    CHECK((graph == MPI_COMM_NULL) == (check_rank >= NODES));
    if (graph != MPI_COMM_NULL) {
        MPI_Comm_size(graph, &size);
        CHECK(size == NODES);
        queries(graph);
        CHECK_OK(MPI_Comm_dup(graph, &copy));
        MPI_Comm_free(&graph);
        queries(copy);
        CHECK_OK(MPI_Allreduce(&check_rank, &sum, 1, MPI_INT, MPI_SUM, copy));
        CHECK(sum == NODES * (NODES - 1) / 2);
        MPI_Comm_free(&copy);
    }
    CHECK_OK(MPI_Graph_create(MPI_COMM_WORLD, 0, NULL, NULL, 0, &none));
    CHECK(none == MPI_COMM_NULL);
    CHECK_OK(MPI_Graph_map(MPI_COMM_WORLD, NODES, index_of, edges, &newrank));
    if (check_rank < NODES) /* Open MPI gives the others a rank too */
        CHECK(newrank == check_rank);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    expect(MPI_Graph_create(MPI_COMM_WORLD, check_size + 1, index_of, edges, 0, &none), MPI_ERR_ARG);
    expect(MPI_Graph_neighbors_count(MPI_COMM_WORLD, 0, &size), MPI_ERR_TOPOLOGY);
    TIME("end");
    return check_end("graph");
}
