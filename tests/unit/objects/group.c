/* SPDX-License-Identifier: BSD-3-Clause */
/* Group operations against brute force, and the errors of MPI 3.1 section 6.3. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "fake_rank.h"
#include "middleware/comm/group.h"
#include "middleware/comm/group_algebra.h"

#define JOB 12

/* A random ordered subset of 0..JOB-1. */
static int random_subset(int *out)
{
    int ranks[JOB], n = rand() % (JOB + 1);
    for (int i = 0; i < JOB; i++)
        ranks[i] = i;
    for (int i = 0; i < n; i++) {
        int other = i + rand() % (JOB - i), swap = ranks[i];
        ranks[i] = ranks[other];
        ranks[other] = swap;
        out[i] = ranks[i];
    }
    return n;
}

static int position(const int *list, int n, int value)
{
    for (int i = 0; i < n; i++)
        if (list[i] == value)
            return i;
    return -1;
}

static void set_operations(void **state)
{
    (void)state;
    srand(1);
    for (int round = 0; round < 2000; round++) {
        int a[JOB], b[JOB], got[2 * JOB], want[2 * JOB], n, m;
        int na = random_subset(a), nb = random_subset(b);

        memcpy(want, a, sizeof a);
        n = na;
        for (int i = 0; i < nb; i++)
            if (position(a, na, b[i]) < 0)
                want[n++] = b[i];
        m = pf_ranks_union(a, na, b, nb, got);
        assert_int_equal(m, n);
        assert_memory_equal(got, want, (size_t)n * sizeof *got);

        for (int inside = 0; inside < 2; inside++) {
            n = 0;
            for (int i = 0; i < na; i++)
                if ((position(b, nb, a[i]) >= 0) == inside)
                    want[n++] = a[i];
            m = inside ? pf_ranks_intersection(a, na, b, nb, got) : pf_ranks_difference(a, na, b, nb, got);
            assert_int_equal(m, n);
            assert_memory_equal(got, want, (size_t)n * sizeof *got);
        }

        int same = na == nb, equal = same;
        for (int i = 0; i < na && same; i++) {
            same = position(b, nb, a[i]) >= 0;
            equal = equal && a[i] == b[i];
        }
        assert_int_equal(pf_ranks_compare(a, na, b, nb), !same   ? MPI_UNEQUAL
                                                         : equal ? MPI_IDENT
                                                                 : MPI_SIMILAR);

        int all[JOB];
        for (int i = 0; i < na; i++)
            all[i] = i;
        assert_int_equal(pf_ranks_translate(a, na, all, na, b, nb, got), na);
        for (int i = 0; i < na; i++)
            assert_int_equal(got[i], position(b, nb, a[i]) >= 0 ? position(b, nb, a[i]) : MPI_UNDEFINED);
    }
}

static void ranges(void **state)
{
    (void)state;
    int out[JOB];
    int down[][3] = {{9, 0, -4}, {2, 3, 1}}; /* 9 5 1 2 3 */
    int want[] = {9, 5, 1, 2, 3};
    assert_int_equal(pf_ranks_expand(down, 2, JOB, out), 5);
    assert_memory_equal(out, want, sizeof want);
    int one[][3] = {{4, 4, -7}};
    assert_int_equal(pf_ranks_expand(one, 1, JOB, out), 1);
    int past[][3] = {{0, 13, 6}}; /* 0 6 12 */
    assert_int_equal(pf_ranks_expand(past, 1, JOB, out), -MPI_ERR_RANK);
    int beyond[][3] = {{0, 13, 9}}; /* 0 9: the last rank itself need not be reached */
    assert_int_equal(pf_ranks_expand(beyond, 1, JOB, out), 2);
    int still[][3] = {{0, 5, 0}};
    assert_int_equal(pf_ranks_expand(still, 1, JOB, out), -MPI_ERR_ARG);
    int away[][3] = {{0, 5, -1}};
    assert_int_equal(pf_ranks_expand(away, 1, JOB, out), -MPI_ERR_ARG);
}

static void handles(void **state)
{
    struct pf_rank *r = *state;
    MPI_Group world, some, rest, empty, both;
    int size, rank, result, chosen[] = {4, 2, 0};
    assert_int_equal(PMPI_Comm_group(MPI_COMM_WORLD, &world), MPI_SUCCESS);
    assert_int_equal(PMPI_Group_incl(world, 3, chosen, &some), MPI_SUCCESS);
    PMPI_Group_size(some, &size);
    PMPI_Group_rank(some, &rank);
    assert_int_equal(size, 3);
    assert_int_equal(rank, 1); /* the fake rank is number 2 */
    assert_int_equal(PMPI_Group_excl(world, 3, chosen, &rest), MPI_SUCCESS);
    PMPI_Group_rank(rest, &rank);
    assert_int_equal(rank, MPI_UNDEFINED);
    assert_int_equal(PMPI_Group_intersection(some, rest, &empty), MPI_SUCCESS);
    assert_ptr_equal(empty, MPI_GROUP_EMPTY);
    assert_int_equal(PMPI_Group_union(rest, some, &both), MPI_SUCCESS);
    PMPI_Group_compare(both, world, &result);
    assert_int_equal(result, MPI_SIMILAR);
    int from[] = {0, MPI_PROC_NULL, 1}, to[3];
    PMPI_Group_translate_ranks(some, 3, from, world, to);
    assert_int_equal(to[0], 4);
    assert_int_equal(to[1], MPI_PROC_NULL);
    assert_int_equal(to[2], 2);

    int twice[] = {1, 1};
    assert_int_equal(PMPI_Group_incl(world, 2, twice, &some), MPI_ERR_RANK);
    assert_int_equal(PMPI_Group_size(MPI_GROUP_NULL, &size), MPI_ERR_GROUP);
    assert_int_equal(PMPI_Group_free(&world) | PMPI_Group_free(&some) | PMPI_Group_free(&rest), MPI_SUCCESS);
    assert_int_equal(PMPI_Group_free(&both) | PMPI_Group_free(&empty), MPI_SUCCESS);
    assert_ptr_equal(empty, MPI_GROUP_NULL);
    assert_int_equal(PMPI_Group_free(&empty), MPI_ERR_GROUP);
    assert_int_equal(r->live_objects, 0);
}

int main(void)
{
    struct pf_rank *r = fake_rank(2, JOB);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(set_operations),
        cmocka_unit_test(ranges),
        cmocka_unit_test_prestate(handles, r),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
