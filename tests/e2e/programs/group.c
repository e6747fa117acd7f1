/* SPDX-License-Identifier: BSD-3-Clause */
/* e2e: switch=any */
/* Groups, communicators made from them, split_type, compare, names. */
#include "check.h"

static void group_algebra(void)
{
    MPI_Group world, even, odd, low, g;
    int ranges[1][3] = {{0, check_size - 1, 2}}, size, rank, result, in[2] = {0, 1}, back[2];

    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_size(world, &size);
    MPI_Group_rank(world, &rank);
    CHECK(size == check_size && rank == check_rank);
    MPI_Group_range_incl(world, 1, ranges, &even);
    MPI_Group_range_excl(world, 1, ranges, &odd);
    MPI_Group_incl(world, 2, in, &low);
    MPI_Group_size(odd, &size);
    CHECK(size == check_size / 2);
    MPI_Group_rank(even, &rank);
    CHECK(rank == (check_rank % 2 ? MPI_UNDEFINED : check_rank / 2));
    MPI_Group_union(odd, even, &g);
    MPI_Group_compare(g, world, &result);
    CHECK(result == (check_size > 1 ? MPI_SIMILAR : MPI_IDENT));
    MPI_Group_free(&g);
    MPI_Group_intersection(odd, even, &g);
    MPI_Group_size(g, &size);
    CHECK(size == 0);
    MPI_Group_compare(g, MPI_GROUP_EMPTY, &result);
    CHECK(result == MPI_IDENT);
    MPI_Group_free(&g);
    MPI_Group_difference(world, even, &g);
    MPI_Group_compare(g, odd, &result);
    CHECK(result == MPI_IDENT);
    MPI_Group_free(&g);
    MPI_Group_excl(world, 2, in, &g);
    MPI_Group_size(g, &size);
    CHECK(size == check_size - 2);
    MPI_Group_free(&g);
    CHECK(g == MPI_GROUP_NULL);
    MPI_Group_translate_ranks(low, 2, in, odd, back);
    CHECK(back[0] == MPI_UNDEFINED && back[1] == 0);
    MPI_Group_translate_ranks(odd, 1, in, world, back);
    CHECK(back[0] == 1);
    MPI_Group_free(&low);
    MPI_Group_free(&odd);
    MPI_Group_free(&even);
    MPI_Group_free(&world);
}

static void sum_over(MPI_Comm comm, int expected)
{
    int sum = -1;

    CHECK_OK(MPI_Allreduce(&check_rank, &sum, 1, MPI_INT, MPI_SUM, comm));
    CHECK(sum == expected);
}

static void created(void)
{
    MPI_Group world, g, of_comm;
    MPI_Comm c, d;
    int last = check_size - 1, members[2] = {last, 0}, rank, result;
    int in = check_rank == 0 || check_rank == last;

    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, 2, members, &g);
    CHECK_OK(MPI_Comm_create(MPI_COMM_WORLD, g, &c));
    CHECK((c != MPI_COMM_NULL) == in);
    TIME("create");
    if (in) {
        MPI_Comm_rank(c, &rank);
        CHECK(rank == (check_rank == last ? 0 : 1));
        sum_over(c, last);
        MPI_Comm_group(c, &of_comm);
        MPI_Group_compare(of_comm, g, &result);
        CHECK(result == MPI_IDENT);
        MPI_Group_free(&of_comm);
        CHECK_OK(MPI_Comm_create_group(MPI_COMM_WORLD, g, 17, &d));
        TIME("create-group");
        MPI_Comm_compare(c, d, &result);
        CHECK(result == MPI_CONGRUENT);
        MPI_Comm_compare(c, c, &result);
        CHECK(result == MPI_IDENT);
        MPI_Comm_compare(c, MPI_COMM_WORLD, &result);
        CHECK(result == (check_size == 2 ? MPI_SIMILAR : MPI_UNEQUAL));
        sum_over(d, last);
        MPI_Comm_free(&d);
        sum_over(c, last);
        MPI_Comm_free(&c);
    }
    MPI_Group_free(&g);
    MPI_Group_free(&world);
}

static void by_type(void)
{
    MPI_Comm node;
    int size, result, inter = 1, length;
    char name[MPI_MAX_OBJECT_NAME];

    CHECK_OK(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node));
    MPI_Comm_size(node, &size);
    CHECK(size >= 1 && size <= check_size);
    MPI_Comm_compare(node, MPI_COMM_SELF, &result);
    CHECK(result == (size == 1 ? MPI_CONGRUENT : MPI_UNEQUAL));
    CHECK_OK(MPI_Comm_set_name(node, "node"));
    CHECK_OK(MPI_Comm_get_name(node, name, &length));
    CHECK(!strcmp(name, "node") && length == 4);
    CHECK_OK(MPI_Comm_get_name(MPI_COMM_WORLD, name, &length));
    CHECK(!strcmp(name, "MPI_COMM_WORLD"));
    MPI_Comm_test_inter(node, &inter);
    CHECK(!inter);
    MPI_Comm_free(&node);
    TIME("split-type");
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    if (check_size < 2)
        MPI_Abort(MPI_COMM_WORLD, 2);
    group_algebra();
    TIME("algebra");
    created();
    by_type();
    return check_end("group");
}
