/* SPDX-License-Identifier: BSD-3-Clause */
/* e2e: switch=any stock=no np=12 */
/* e2e: switch=any stock=no np=5 */
/* Cartesian communicators: creation, queries, and messages between neighbours. */
#include "../programs/check.h"

/* A program would write this itself, so that it is what the library must agree with. */
static int rank_at(const int dims[2], const int periods[2], int x, int y)
{
    if ((x < 0 || x >= dims[0]) && !periods[0])
        return MPI_PROC_NULL;
    if ((y < 0 || y >= dims[1]) && !periods[1])
        return MPI_PROC_NULL;
    return (x + 4 * dims[0]) % dims[0] * dims[1] + (y + 4 * dims[1]) % dims[1];
}

static void queries(MPI_Comm grid, const int dims[2], const int periods[2])
{
    int ndims = 0, status = 0, d[3] = {-7, -7, -7}, p[3] = {-7, -7, -7}, c[3] = {-7, -7, -7}, rank, at[2],
        found;

    MPI_Comm_rank(grid, &rank);
    CHECK_OK(MPI_Topo_test(grid, &status));
    CHECK(status == MPI_CART);
    CHECK_OK(MPI_Cartdim_get(grid, &ndims));
    CHECK(ndims == 2);
    CHECK_OK(MPI_Cart_get(grid, 2, d, p, c));
    CHECK(d[0] == dims[0] && d[1] == dims[1] && d[2] == -7);
    CHECK(!p[0] == !periods[0] && !p[1] == !periods[1] && p[2] == -7);
    CHECK(c[0] == rank / dims[1] && c[1] == rank % dims[1] && c[2] == -7);
    for (int r = 0; r < dims[0] * dims[1]; r++) {
        CHECK_OK(MPI_Cart_coords(grid, r, 2, at));
        CHECK(at[0] == r / dims[1] && at[1] == r % dims[1]);
        CHECK_OK(MPI_Cart_rank(grid, at, &found));
        CHECK(found == r);
    }
    for (int direction = 0; direction < 2; direction++)
        for (int disp = -3; disp <= 3; disp++) {
            int source = -9, dest = -9, dx = direction == 0 ? disp : 0, dy = disp - dx;
            CHECK_OK(MPI_Cart_shift(grid, direction, disp, &source, &dest));
            CHECK(dest == rank_at(dims, periods, c[0] + dx, c[1] + dy));
            CHECK(source == rank_at(dims, periods, c[0] - dx, c[1] - dy));
        }
    for (int disp = -2; disp <= 2; disp++)
        if (periods[1]) {
            int wrapped[2] = {c[0], c[1] + disp * dims[1]};
            CHECK_OK(MPI_Cart_rank(grid, wrapped, &found));
            CHECK(found == rank);
        }
}

/* A shift of data along each direction arrives from the rank that MPI_Cart_shift names. */
static void messages(MPI_Comm grid, const char *label)
{
    for (int direction = 0; direction < 2; direction++) {
        int source, dest, rank, out[40], in[40];

        MPI_Comm_rank(grid, &rank);
        CHECK_OK(MPI_Cart_shift(grid, direction, 1, &source, &dest));
        check_fill(out, 40, rank, direction);
        memset(in, 0, sizeof in);
        CHECK_OK(
            MPI_Sendrecv(out, 40, MPI_INT, dest, 5, in, 40, MPI_INT, source, 5, grid, MPI_STATUS_IGNORE));
        CHECK(source == MPI_PROC_NULL ? in[0] == 0 && in[39] == 0 : check_filled(in, 40, source, direction));
        TIME(label);
    }
}

/* Rows and columns know their own grid. */
static void subs(MPI_Comm grid, const int dims[2], const int periods[2])
{
    for (int keep = 0; keep < 4; keep++) {
        int remain[2] = {keep & 1, keep >> 1}, ndims = -1, d[2], p[2], c[2], me[2], rank, size, sum = 0,
            expected = 0;
        int kept = remain[0] && remain[1] ? 2 : keep ? 1 : 0, world;
        MPI_Comm part;

        MPI_Comm_rank(grid, &world);
        CHECK_OK(MPI_Cart_coords(grid, world, 2, me));
        CHECK_OK(MPI_Cart_sub(grid, remain, &part));
        CHECK_OK(MPI_Cartdim_get(part, &ndims));
        CHECK(ndims == kept);
        MPI_Comm_size(part, &size);
        CHECK(size == (remain[0] ? dims[0] : 1) * (remain[1] ? dims[1] : 1));
        MPI_Comm_rank(part, &rank);
        CHECK(rank == (kept == 2 ? world : remain[0] ? me[0] : remain[1] ? me[1] : 0));
        if (kept == 1) {
            int which = remain[0] ? 0 : 1;
            CHECK_OK(MPI_Cart_get(part, 1, d, p, c));
            CHECK(d[0] == dims[which] && !p[0] == !periods[which] && c[0] == me[which]);
        }
        for (int r = 0; r < dims[0] * dims[1]; r++)
            if ((remain[0] || r / dims[1] == me[0]) && (remain[1] || r % dims[1] == me[1]))
                expected += r + 1;
        world++;
        CHECK_OK(MPI_Allreduce(&world, &sum, 1, MPI_INT, MPI_SUM, part));
        CHECK(sum == expected);
        TIME("sub");
        MPI_Comm_free(&part);
    }
}

static void grids(int px, int py)
{
    int dims[2] = {0, 0}, periods[2] = {px, py}, status, size;
    MPI_Comm grid, copy;

    CHECK_OK(MPI_Dims_create(check_size > 5 ? check_size : check_size - 1, 2, dims));
    CHECK_OK(MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &grid));
    TIME("create");
    if (check_rank >= dims[0] * dims[1]) {
        CHECK(grid == MPI_COMM_NULL);
        return;
    }
    MPI_Comm_size(grid, &size);
    CHECK(size == dims[0] * dims[1]);
    queries(grid, dims, periods);
    messages(grid, "grid");
    CHECK_OK(MPI_Comm_dup(grid, &copy));
    MPI_Comm_free(&grid);
    queries(copy, dims, periods);
    subs(copy, dims, periods);
    messages(copy, "copy");
    MPI_Comm_free(&copy);
    CHECK_OK(MPI_Topo_test(MPI_COMM_WORLD, &status));
    CHECK(status == MPI_UNDEFINED);
}

static void expect(int error, int wanted)
{
    int class = 0;

    CHECK(error != MPI_SUCCESS);
    MPI_Error_class(error, &class);
    CHECK(class == wanted);
}

static void mistakes(void)
{
    int dims[2] = {check_size, 2}, periods[2] = {0, 1}, at[2] = {-1, 0}, source, dest, rank;
    MPI_Comm grid;

    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    expect(MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &grid), MPI_ERR_ARG);
    expect(MPI_Cart_shift(MPI_COMM_WORLD, 0, 1, &source, &dest), MPI_ERR_TOPOLOGY);
    dims[1] = 1;
    CHECK_OK(MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &grid));
    MPI_Comm_set_errhandler(grid, MPI_ERRORS_RETURN);
    expect(MPI_Cart_rank(grid, at, &rank), MPI_ERR_ARG);
    expect(MPI_Cart_shift(grid, -1, 1, &source, &dest), MPI_ERR_DIMS);
    CHECK_OK(MPI_Cart_map(MPI_COMM_WORLD, 2, dims, periods, &rank));
    CHECK(rank == check_rank);
    MPI_Comm_free(&grid);
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    for (int p = 0; p < 4; p++)
        grids(p & 1, p >> 1);
    mistakes();
    TIME("end");
    return check_end("cart");
}
