/* SPDX-License-Identifier: BSD-3-Clause */
/* e2e: switch=any stock=no np=4 args=inter */
/* e2e: switch=own stock=no np=4 args=inter */
/* e2e: switch=any stock=no np=4 args=dup */
/* e2e: switch=own stock=no np=4 args=dup */
/* Communicators that are freed while a send is under way that no call waits for (buffered, or its request
 * was freed), again and again: what belongs to the send stays, and the next communicator does not meet it.
 * Stock SMPI takes this for a deadlock. */
#include "check.h"

enum { ROUNDS = 12, COUNT = 100, BIG = 30000 };

static int sent[ROUNDS][COUNT], big[ROUNDS][BIG], got[BIG];

static void send_and_forget(MPI_Comm comm, int peer, int i)
{
    MPI_Request request = MPI_REQUEST_NULL;
    int *data = i % 4 == 3 ? big[i] : sent[i], count = i % 4 == 3 ? BIG : COUNT;

    check_fill(data, count, check_rank, i);
    if (i % 4 == 0) {
        CHECK_OK(MPI_Bsend(data, count, MPI_INT, peer, i, comm));
    } else {
        CHECK_OK(i % 4 == 1 ? MPI_Ibsend(data, count, MPI_INT, peer, i, comm, &request)
                            : MPI_Isend(data, count, MPI_INT, peer, i, comm, &request));
        MPI_Request_free(&request);
    }
}

static void receive(MPI_Comm comm, int peer, int from, int i)
{
    int count = i % 4 == 3 ? BIG : COUNT;

    CHECK_OK(MPI_Recv(got, count, MPI_INT, peer, i, comm, MPI_STATUS_IGNORE));
    CHECK(check_filled(got, count, from, i));
}

/* Half of the rounds create in one model and send in the other, half the other way round. */
static void model(int i, int sends)
{
    if ((i < ROUNDS / 2) == sends)
        SWITCH_B();
    else
        SWITCH_A();
}

int main(int argc, char **argv)
{
    int size = ROUNDS * (int)(COUNT * sizeof(int) + MPI_BSEND_OVERHEAD), inter, odd, peer;
    void *buffer = malloc((size_t)size);
    MPI_Comm half, comm;

    check_begin(&argc, &argv);
    inter = argc > 1 && !strcmp(argv[1], "inter");
    odd = check_rank % 2;
    peer = inter ? check_rank / 2 : check_rank ^ 1;
    MPI_Buffer_attach(buffer, size);
    MPI_Comm_split(MPI_COMM_WORLD, odd, check_rank, &half);
    for (int i = 0; i < ROUNDS; i++) {
        model(i, 0);
        if (inter)
            MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - odd, 5, &comm);
        else
            MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        model(i, 1);
        /* Where both send, the answer may show a sender that its message is there; where one does, nothing.
         */
        if (i % 2 || !odd)
            send_and_forget(comm, peer, i);
        if (i % 2 || odd)
            receive(comm, peer, check_rank ^ 1, i);
        MPI_Comm_free(&comm);
        CHECK(comm == MPI_COMM_NULL);
    }
    MPI_Comm_free(&half);
    MPI_Buffer_detach(&buffer, &size);
    free(buffer);
    MPI_Barrier(MPI_COMM_WORLD);
    return check_end("commkept");
}
