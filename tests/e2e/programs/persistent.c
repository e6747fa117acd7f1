/* SPDX-License-Identifier: BSD-3-Clause */
/* e2e: switch=own */
/* e2e: switch=own stock=no mpirun=no args=bsend */
/* e2e: switch=own stock=no args=derived */
/* e2e: switch=own stock=no args=freed */
/*
 * Persistent requests belong to no model while they are inactive: each MPI_Start may run in another one. All
 * modes, Start and Startall, completed after a further switch. The variants are beyond the stock
 * implementations: Bsend_init
 * ("bsend": Open MPI sends stale contents again), derived datatypes ("derived": SMPI sends what was there at
 * Send_init) and a datatype that is freed before the first start ("freed").
 */
#include "check.h"

enum { N = 6, MOST = 20000 };

static int in[N][MOST], out[N][MOST];
static int right, left;

static int length(int i)
{
    return i % 2 ? 50 + i : MOST - i;
}

static void make(MPI_Request *q, MPI_Datatype type, MPI_Comm comm, int buffered)
{
    for (int i = 0; i < N; i++)
        CHECK_OK(MPI_Recv_init(in[i], length(i), type, left, i, comm, &q[i]));
    CHECK_OK(MPI_Send_init(out[0], length(0), type, right, 0, comm, &q[N + 0]));
    CHECK_OK(MPI_Ssend_init(out[1], length(1), type, right, 1, comm, &q[N + 1]));
    if (buffered)
        CHECK_OK(MPI_Bsend_init(out[2], length(2), type, right, 2, comm, &q[N + 2]));
    else
        CHECK_OK(MPI_Ssend_init(out[2], length(2), type, right, 2, comm, &q[N + 2]));
    CHECK_OK(MPI_Send_init(out[3], length(3), type, right, 3, comm, &q[N + 3]));
    CHECK_OK(MPI_Ssend_init(out[4], length(4), type, right, 4, comm, &q[N + 4]));
    CHECK_OK(MPI_Send_init(out[5], length(5), type, right, 5, comm, &q[N + 5]));
}

static void use(MPI_Request *q, int round, int look)
{
    MPI_Status status[2 * N];
    int flag, count, index;

    for (int i = 0; i < N; i++) {
        check_fill(out[i], length(i), check_rank, round * N + i);
        memset(in[i], 0, length(i) * sizeof(int));
    }
    /* The first half of the pairs starts here and the second half after a switch. */
    for (int i = 0; i < N; i++) {
        if (i == N / 2) {
            if (round & 1)
                SWITCH_A();
            else
                SWITCH_B();
        }
        if (round & 4) {
            CHECK_OK(MPI_Start(&q[i]));
            CHECK_OK(MPI_Start(&q[N + i]));
        } else if (i % (N / 2) == 0) {
            CHECK_OK(MPI_Startall(N / 2, &q[i]));
            CHECK_OK(MPI_Startall(N / 2, &q[N + i]));
        }
    }
    if (round & 2)
        SWITCH_A();
    if (round == 5) {
        for (int k = 0; k < 2 * N; k++) {
            CHECK_OK(MPI_Waitany(2 * N, q, &index, &status[0]));
            CHECK(index >= 0 && index < 2 * N);
        }
        CHECK_OK(MPI_Waitany(2 * N, q, &index, &status[0])); /* all are inactive now */
        CHECK(index == MPI_UNDEFINED);
    } else {
        CHECK_OK(MPI_Waitall(2 * N, q, status));
        for (int i = 0; i < N; i++) {
            CHECK_OK(MPI_Get_count(&status[i], MPI_INT, &count));
            CHECK(status[i].MPI_SOURCE == left && status[i].MPI_TAG == i && count == length(i));
        }
    }
    for (int i = 0; i < N; i++) {
        CHECK(check_filled(in[i], length(i), left, round * N + i));
        CHECK(q[i] != MPI_REQUEST_NULL && q[N + i] != MPI_REQUEST_NULL);
    }
    if (!look) /* a look at an inactive request costs simulated time in stock SMPI */
        return;
    CHECK_OK(MPI_Test(&q[0], &flag, &status[0])); /* inactive: complete, with an empty status */
    CHECK(flag && status[0].MPI_SOURCE == MPI_ANY_SOURCE && status[0].MPI_TAG == MPI_ANY_TAG);
}

/* More than the polls in vain after which a rank waits for its NIC, in all ranks at once: none wakes another
 * one. */
static void many(MPI_Comm comm)
{
    enum { MANY = 40 };
    static int data[MANY];
    MPI_Request q[MANY];
    int partner = check_rank ^ 1;
    if (partner >= check_size)
        return;
    for (int i = 0; i < MANY; i++) {
        data[i] = check_rank % 2 ? -1 : i;
        if (check_rank % 2)
            CHECK_OK(MPI_Recv_init(&data[i], 1, MPI_INT, partner, 100 + i, comm, &q[i]));
        else
            CHECK_OK(MPI_Send_init(&data[i], 1, MPI_INT, partner, 100 + i, comm, &q[i]));
    }
    CHECK_OK(MPI_Startall(MANY, q));
    CHECK_OK(MPI_Waitall(MANY, q, MPI_STATUSES_IGNORE));
    for (int i = 0; i < MANY; i++) {
        CHECK(data[i] == i);
        CHECK_OK(MPI_Request_free(&q[i]));
    }
}

int main(int argc, char **argv)
{
    static char buffer[8 * MOST * sizeof(int)];
    MPI_Request q[2 * N];
    MPI_Comm comm;
    MPI_Datatype type;
    const char *variant = argc > 1 ? argv[1] : "";
    char *back;
    int size;

    check_begin(&argc, &argv);
    right = (check_rank + 1) % check_size;
    left = (check_rank + check_size - 1) % check_size;
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    CHECK_OK(MPI_Type_vector(1, 1, 2, MPI_INT, &type));
    CHECK_OK(MPI_Type_commit(&type));
    CHECK_OK(MPI_Buffer_attach(buffer, sizeof(buffer)));
    SWITCH_B();
    make(q, *variant == 'd' || *variant == 'f' ? type : MPI_INT, comm, !strcmp(variant, "bsend"));
    if (!strcmp(variant, "freed"))
        CHECK_OK(MPI_Type_free(&type)); /* the requests keep what they need */
    for (int round = 0; round < 8; round++) {
        use(q, round, argc > 1);
        TIME("round");
    }
    for (int i = 0; i < 2 * N; i++) {
        CHECK_OK(MPI_Request_free(&q[i]));
        CHECK(q[i] == MPI_REQUEST_NULL);
    }
    many(comm);
    MPI_Barrier(comm);
    CHECK_OK(MPI_Buffer_detach(&back, &size));
    CHECK(back == buffer && size == (int)sizeof(buffer));
    if (type != MPI_DATATYPE_NULL)
        MPI_Type_free(&type);
    MPI_Comm_free(&comm);
    return check_end("persistent");
}
