/* SPDX-License-Identifier: BSD-3-Clause */
/* e2e: switch=any stock=no np=6 */
/* MPI_Comm_create_group, which only members call, and MPI_Comm_idup. */
#include "../programs/check.h"

static int copies, deletes;

static int copy_value(MPI_Comm comm, int keyval, void *extra, void *in, void *out, int *flag)
{
    (void)comm, (void)keyval, (void)extra;
    copies++;
    *(void **)out = (char *)in + 1;
    *flag = 1;
    return MPI_SUCCESS;
}

static int delete_value(MPI_Comm comm, int keyval, void *value, void *extra)
{
    (void)comm, (void)keyval, (void)value, (void)extra;
    deletes++;
    return MPI_SUCCESS;
}

static MPI_Group members(int first, int last, int step)
{
    int ranges[1][3] = {{first, last, step}};
    MPI_Group world, group;

    MPI_Comm_group(MPI_COMM_WORLD, &world);
    CHECK_OK(MPI_Group_range_incl(world, 1, ranges, &group));
    MPI_Group_free(&world);
    return group;
}

static void use(MPI_Comm comm, int size, int sum)
{
    int n = 0, total = -1, rank, in = -1;

    MPI_Comm_size(comm, &n);
    MPI_Comm_rank(comm, &rank);
    CHECK(n == size);
    CHECK_OK(MPI_Allreduce(&check_rank, &total, 1, MPI_INT, MPI_SUM, comm));
    CHECK(total == sum);
    CHECK_OK(MPI_Sendrecv(&rank, 1, MPI_INT, (rank + 1) % n, 2, &in, 1, MPI_INT, (rank + n - 1) % n, 2, comm,
                          MPI_STATUS_IGNORE));
    CHECK(in == (rank + n - 1) % n);
}

/* Rank 0 makes two pairs one after the other, under the same tag; the others of each pair make only
 * theirs. */
static void pairs(void)
{
    for (int other = 1; other < 3; other++) {
        MPI_Group group = members(0, other, other);
        MPI_Comm pair;
        if (check_rank == 0 || check_rank == other) {
            CHECK_OK(MPI_Comm_create_group(MPI_COMM_WORLD, group, 5, &pair));
            use(pair, 2, other);
            MPI_Comm_free(&pair);
        }
        MPI_Group_free(&group);
    }
    TIME("pairs");
}

/* Two groups at the same time; the odd one in reverse order. */
static void halves(void)
{
    int odd = check_rank % 2, last = check_size - 1 - (check_size - 1 - odd) % 2, n = 0, sum = 0, rank;
    MPI_Group group = odd ? members(last, 1, -2) : members(0, last, 2);
    MPI_Comm half, again;

    for (int i = odd; i < check_size; i += 2) {
        n++;
        sum += i;
    }
    CHECK_OK(MPI_Comm_create_group(MPI_COMM_WORLD, group, 7, &half));
    CHECK_OK(MPI_Comm_create_group(MPI_COMM_WORLD, group, 7, &again));
    MPI_Comm_rank(half, &rank);
    CHECK(rank == (odd ? (last - check_rank) / 2 : check_rank / 2));
    use(half, n, sum);
    use(again, n, sum);
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    use(again, n, sum);
    use(half, n, sum);
    MPI_Comm_free(&half);
    MPI_Comm_free(&again);
    MPI_Group_free(&group);
    TIME("halves");
}

static void duplicates(void)
{
    MPI_Comm copies_of_world[3], ring, copy;
    MPI_Request requests[3];
    MPI_Info info, back;
    int keyval, flag = 0, status, periodic = 1, before = copies, sum = check_size * (check_size - 1) / 2;
    char value[8] = "", base[4], *attribute = NULL;

    CHECK_OK(MPI_Comm_create_keyval(copy_value, delete_value, &keyval, NULL));
    CHECK_OK(MPI_Cart_create(MPI_COMM_WORLD, 1, &check_size, &periodic, 0, &ring));
    CHECK_OK(MPI_Comm_set_attr(ring, keyval, base));
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpi_colour", "red");
    CHECK_OK(MPI_Comm_set_info(ring, info));
    CHECK_OK(MPI_Comm_idup(ring, &copy, &requests[0]));
    CHECK_OK(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
    CHECK(copies == before + 1);
    CHECK_OK(MPI_Comm_get_attr(copy, keyval, &attribute, &flag));
    CHECK(flag && attribute == base + 1);
    CHECK_OK(MPI_Topo_test(copy, &status));
    CHECK(status == MPI_CART);
    if (check_simulated()) { /* Open MPI 4.1 keeps only keys that it knows */
        MPI_Comm_get_info(copy, &back);
        MPI_Info_get(back, "mpi_colour", 7, value, &flag);
        CHECK(flag && strcmp(value, "red") == 0);
        MPI_Info_free(&back);
    }
    MPI_Info_free(&info);
    MPI_Comm_free(&ring);
    use(copy, check_size, sum);
    MPI_Comm_free(&copy);
    CHECK(deletes == 2);
    MPI_Comm_free_keyval(&keyval);
    for (int i = 0; i < 3; i++)
        CHECK_OK(MPI_Comm_idup(MPI_COMM_WORLD, &copies_of_world[i], &requests[i]));
    CHECK_OK(MPI_Waitall(3, requests, MPI_STATUSES_IGNORE));
    for (int i = 2; i >= 0; i--) {
        use(copies_of_world[i], check_size, sum);
        MPI_Comm_free(&copies_of_world[i]);
    }
    TIME("duplicates");
}

static void wrong(void)
{
    MPI_Comm small, none = MPI_COMM_WORLD;
    MPI_Group group = members(0, check_size - 1, 1);
    int class = 0;

    CHECK_OK(MPI_Comm_split(MPI_COMM_WORLD, check_rank == 0, 0, &small));
    if (check_simulated()) { /* Open MPI does not look */
        MPI_Comm_set_errhandler(small, MPI_ERRORS_RETURN);
        MPI_Error_class(MPI_Comm_create_group(small, group, 1, &none), &class);
        CHECK(class == MPI_ERR_GROUP);
    }
    MPI_Comm_free(&small);
    MPI_Group_free(&group);
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    pairs();
    MPI_Barrier(MPI_COMM_WORLD);
    halves();
    duplicates();
    wrong();
    return check_end("subgroup");
}
