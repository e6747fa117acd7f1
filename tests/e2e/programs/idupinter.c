/* SPDX-License-Identifier: BSD-3-Clause */
/* e2e: switch=own stock=no np=5 mpirun=no without=ucx */
/* e2e: switch=any stock=no np=4 mpirun=no without=ucx */
/* MPI_Comm_idup of an intercommunicator: it does not block, several may be pending, the copies are
 * intercommunicators. Stock Open MPI waits for ever now and then with several pending, over UCX mostly. */
#include "check.h"

enum { COPIES = 3 };

static MPI_Comm local, inter;
static int odd, remote_size;

static int copy_value(MPI_Comm comm, int keyval, void *extra, void *in, void *out, int *flag)
{
    (void)comm, (void)keyval, (void)extra;
    *(void **)out = (char *)in + 1;
    *flag = 1;
    return MPI_SUCCESS;
}

static int copy_fails(MPI_Comm comm, int keyval, void *extra, void *in, void *out, int *flag)
{
    (void)comm, (void)keyval, (void)extra, (void)in, (void)out;
    *flag = 0;
    return MPI_ERR_OTHER;
}

/* Collectives and messages with the other side. */
static void use(MPI_Comm copy, int salt)
{
    int flag = 0, size = 0, me, sum = -1, expected = 0, out[4], in[4];
    MPI_Request request;

    CHECK_OK(MPI_Comm_test_inter(copy, &flag));
    CHECK_OK(MPI_Comm_remote_size(copy, &size));
    CHECK_OK(MPI_Comm_rank(copy, &me));
    CHECK(flag && size == remote_size && me == check_rank / 2);
    for (int i = 0; i < size; i++)
        expected += 2 * i + 1 - odd + salt;
    int mine = check_rank + salt;
    CHECK_OK(MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, copy));
    CHECK(sum == expected);
    for (int i = 0; i < size; i++) {
        check_fill(out, 4, check_rank, salt + i);
        CHECK_OK(MPI_Isend(out, 4, MPI_INT, i, salt, copy, &request));
        CHECK_OK(MPI_Recv(in, 4, MPI_INT, i, salt, copy, MPI_STATUS_IGNORE));
        CHECK(check_filled(in, 4, 2 * i + 1 - odd, salt + me));
        CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    }
}

/* Rank 0 duplicates only when all others have sent it that they have: with a call that waits for all members
 * this would be a deadlock. */
static void staggered(void)
{
    MPI_Comm copy = MPI_COMM_NULL;
    MPI_Request request = MPI_REQUEST_NULL;
    int token = 0, keyval, flag = 0;
    char base[2], *value = NULL;

    CHECK_OK(MPI_Comm_create_keyval(copy_value, MPI_COMM_NULL_DELETE_FN, &keyval, NULL));
    CHECK_OK(MPI_Comm_set_attr(inter, keyval, base));
    if (check_rank == 0)
        for (int i = 1; i < check_size; i++)
            CHECK_OK(MPI_Recv(&token, 1, MPI_INT, i, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Comm_idup(inter, &copy, &request));
    CHECK(copy != MPI_COMM_NULL && request != MPI_REQUEST_NULL);
    SWITCH_B();
    if (check_rank != 0)
        CHECK_OK(MPI_Ssend(&token, 1, MPI_INT, 0, 1, MPI_COMM_WORLD));
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    SWITCH_A();
    CHECK_OK(MPI_Comm_get_attr(copy, keyval, &value, &flag));
    CHECK(flag && value == base + 1);
    use(copy, 5);
    CHECK_OK(MPI_Comm_free(&copy));
    CHECK_OK(MPI_Comm_delete_attr(inter, keyval));
    CHECK_OK(MPI_Comm_free_keyval(&keyval));
}

/* Several at once, completed in another order. (With another collective under way stock Open MPI waits for
 * ever now and then.) */
static void several(void)
{
    MPI_Comm copies[COPIES];
    MPI_Request requests[COPIES];
    int flag = 0;

    for (int i = 0; i < COPIES; i++)
        CHECK_OK(MPI_Comm_idup(inter, &copies[i], &requests[i]));
    while (!flag) /* NOLINT(bugprone-infinite-loop) */
        CHECK_OK(MPI_Test(&requests[1], &flag, MPI_STATUS_IGNORE));
    SWITCH_B();
    CHECK_OK(MPI_Waitall(COPIES, requests, MPI_STATUSES_IGNORE));
    SWITCH_A();
    for (int i = COPIES - 1; i >= 0; i--) {
        use(copies[i], i);
        CHECK_OK(MPI_Comm_free(&copies[i]));
    }
}

/* An attribute that does not want to be copied: an error at this member, and no new communicator. */
static void refused(void)
{
    MPI_Comm copy = MPI_COMM_WORLD;
    MPI_Request request;
    int keyval, class = 0;

    CHECK_OK(MPI_Comm_create_keyval(copy_fails, MPI_COMM_NULL_DELETE_FN, &keyval, NULL));
    CHECK_OK(MPI_Comm_set_attr(inter, keyval, NULL));
    CHECK_OK(MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN));
    MPI_Error_class(MPI_Comm_idup(inter, &copy, &request), &class);
    CHECK(class == MPI_ERR_OTHER && copy == MPI_COMM_NULL);
    CHECK_OK(MPI_Comm_delete_attr(inter, keyval));
    CHECK_OK(MPI_Comm_free_keyval(&keyval));
    use(inter, 9);
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    odd = check_rank % 2;
    CHECK_OK(MPI_Comm_split(MPI_COMM_WORLD, odd, check_rank, &local));
    CHECK_OK(MPI_Intercomm_create(local, 0, MPI_COMM_WORLD, 1 - odd, 7, &inter));
    CHECK_OK(MPI_Comm_remote_size(inter, &remote_size));
    staggered();
    several();
    if (check_simulated()) /* Open MPI forgets the others then */
        refused();
    CHECK_OK(MPI_Comm_free(&inter));
    CHECK_OK(MPI_Comm_free(&local));
    return check_end("idupinter");
}
