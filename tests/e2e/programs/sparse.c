/* SPDX-License-Identifier: BSD-3-Clause */
/* e2e: switch=any np=7 */
/* Collectives in which some members have nothing to send or to receive: they may leave before others come,
 * and overwrite their buffers then. The last members come late. */
#include "check.h"

#include <string.h>

static int counts[64], places[64];

/* Only the members from `first` on in steps of three have data, two items each. */
static int sparse(int first)
{
    int total = 0;
    for (int r = 0; r < check_size; r++) {
        places[r] = total;
        counts[r] = r % 3 == first ? 2 : 0;
        total += counts[r];
    }
    return total;
}

/* A message goes through all ranks, so that the last ones come late. */
static void line_up(void)
{
    int token = 0;
    if (check_rank > 0)
        MPI_Recv(&token, 1, MPI_INT, check_rank - 1, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (check_rank + 1 < check_size)
        MPI_Send(&token, 1, MPI_INT, check_rank + 1, 9, MPI_COMM_WORLD);
}

static void reduce_scatter(int total)
{
    int in[64], out[2] = {-1, -1};
    for (int i = 0; i < total; i++)
        in[i] = i + check_rank;
    CHECK_OK(MPI_Reduce_scatter(in, out, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    memset(in, 0xee, sizeof in);
    for (int i = 0; i < counts[check_rank]; i++)
        CHECK(out[i] == (places[check_rank] + i) * check_size + check_size * (check_size - 1) / 2);
    CHECK(counts[check_rank] || out[0] == -1);
}

static void allgatherv(int total)
{
    int in[2] = {100 + check_rank, 200 + check_rank}, out[64];
    CHECK_OK(MPI_Allgatherv(in, counts[check_rank], MPI_INT, out, counts, places, MPI_INT, MPI_COMM_WORLD));
    memset(in, 0xee, sizeof in);
    for (int r = 0; r < check_size && total > 0; r++)
        CHECK(!counts[r] || (out[places[r]] == 100 + r && out[places[r] + 1] == 200 + r));
}

static void alltoallv(void)
{
    int in[64], out[64], send[64], receive[64];
    for (int r = 0; r < check_size; r++) {
        in[r] = 1000 * check_rank + r;
        send[r] = (check_rank + 2 * r) % 3 == 0;
        receive[r] = (r + 2 * check_rank) % 3 == 0;
        places[r] = r;
        out[r] = -1;
    }
    CHECK_OK(MPI_Alltoallv(in, send, places, MPI_INT, out, receive, places, MPI_INT, MPI_COMM_WORLD));
    memset(in, 0xee, sizeof in);
    for (int r = 0; r < check_size; r++)
        CHECK(out[r] == (receive[r] ? 1000 * r + check_rank : -1));
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    for (int first = 0; first < 3; first++) {
        int total = sparse(first);
        line_up();
        reduce_scatter(total);
        line_up();
        allgatherv(total);
        line_up();
        alltoallv();
    }
    return check_end("sparse");
}
