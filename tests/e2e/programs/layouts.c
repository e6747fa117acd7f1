/* SPDX-License-Identifier: BSD-3-Clause */
/* e2e: switch=none np=3 stock=no */
/* Where data lie: types with absolute addresses on both sides, two types from one address, a message that
 * ends inside an item, and lists of sizes that are gone when the last member comes to a collective. */
#include "check.h"

#include <unistd.h>

/* MPI_BOTTOM is one address for all, and says nothing about where the data are. */
static void bottom(void)
{
    int value = check_rank == 0 ? 17 : -1, one = 1;
    MPI_Aint place;
    MPI_Datatype type;

    MPI_Get_address(&value, &place);
    MPI_Type_create_hindexed(1, &one, &place, MPI_INT, &type);
    MPI_Type_commit(&type);
    if (check_rank == 1)
        usleep(100); /* the message is there before its receive; for rank 2 the receive is */
    if (check_rank == 0)
        usleep(50);
    for (int to = 1; to < check_size && check_rank == 0; to++)
        CHECK_OK(MPI_Send(MPI_BOTTOM, 1, type, to, 1, MPI_COMM_WORLD));
    if (check_rank > 0)
        CHECK_OK(MPI_Recv(MPI_BOTTOM, 1, type, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    CHECK(value == 17);
    MPI_Type_free(&type);
}

/* From the odd places to the even ones of one array. SMPI takes the same address for the same data. */
static void one_address(void)
{
    int values[8] = {0, 1, 0, 3, 0, 5, 0, 7}, odd_at[4] = {1, 3, 5, 7};
    MPI_Datatype even, odd;

    MPI_Type_vector(4, 1, 2, MPI_INT, &even);
    MPI_Type_create_indexed_block(4, 1, odd_at, MPI_INT, &odd);
    MPI_Type_commit(&even);
    MPI_Type_commit(&odd);
    CHECK_OK(MPI_Sendrecv(values, 1, odd, check_rank, 2, values, 1, even, check_rank, 2, MPI_COMM_WORLD,
                          MPI_STATUS_IGNORE));
    for (int i = 0; i < 8; i++)
        CHECK(values[i] == i + (i % 2 == 0));
    MPI_Type_free(&even);
    MPI_Type_free(&odd);
}

/* Five numbers into items of three that lie apart. SMPI unpacks whole items only. */
static void part_of_item(void)
{
    int numbers[5] = {1, 2, 3, 4, 5}, places[3] = {0, 2, 3}, wanted[10] = {1, 0, 2, 3, 4, 0, 5, 0, 0, 0};
    int in[10] = {0}, count = 0;
    MPI_Datatype type;
    MPI_Request request;
    MPI_Status status;

    MPI_Type_create_indexed_block(3, 1, places, MPI_INT, &type);
    MPI_Type_commit(&type);
    for (int first = 0; first < 2; first++) { /* the send, or the receive */
        memset(in, 0, sizeof in);
        if (first == 0)
            CHECK_OK(MPI_Isend(numbers, 5, MPI_INT, check_rank, 3, MPI_COMM_WORLD, &request));
        else
            CHECK_OK(MPI_Irecv(in, 2, type, check_rank, 3, MPI_COMM_WORLD, &request));
        if (first == 0)
            CHECK_OK(MPI_Recv(in, 2, type, check_rank, 3, MPI_COMM_WORLD, &status));
        else
            CHECK_OK(MPI_Send(numbers, 5, MPI_INT, check_rank, 3, MPI_COMM_WORLD));
        CHECK_OK(MPI_Wait(&request, first == 0 ? MPI_STATUS_IGNORE : &status));
        CHECK(!memcmp(in, wanted, sizeof in));
        MPI_Get_count(&status, type, &count);
        CHECK(count == MPI_UNDEFINED);
        MPI_Get_elements(&status, type, &count);
        CHECK(count == 5);
    }
    MPI_Type_free(&type);
}

/* The root is done before the others come, and forgets what it has passed. */
static void forgotten_lists(void)
{
    int *counts = malloc(3 * sizeof(int)), *displs = malloc(3 * sizeof(int)), *out = malloc(6 * sizeof(int));
    int in[6] = {0};
    MPI_Request request;

    for (int i = 0; i < 3; i++) {
        counts[i] = i + 1;
        displs[i] = i * (i + 1) / 2;
    }
    check_fill(out, 6, 0, 4);
    usleep(check_rank ? 500 : 0);
    CHECK_OK(MPI_Iscatterv(out, counts, displs, MPI_INT, in, check_rank + 1, MPI_INT, 0, MPI_COMM_WORLD,
                           &request));
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    for (int i = 0; i <= check_rank; i++)
        CHECK(in[i] == check_value(0, check_rank * (check_rank + 1) / 2 + i, 4));
    memset(counts, 0x7f, 3 * sizeof(int));
    memset(displs, 0x7f, 3 * sizeof(int));
    memset(out, 0, 6 * sizeof(int));
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    free(counts);
    free(displs);
    free(out);
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    bottom();
    if (strcmp(pf_model_current(), "smpi")) {
        one_address();
        part_of_item();
    }
    if (check_size == 3)
        forgotten_lists();
    return check_end("layouts");
}
