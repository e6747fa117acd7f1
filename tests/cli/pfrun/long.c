/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages of more than INT_MAX bytes, of datatypes whose items overlap, so that they need little memory:
 * "carried" expects that they arrive and that their statuses have their lengths, "lengths" only the
 * latter, "refused" that each call that starts one says MPI_ERR_COUNT and that nothing is sent.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 1 << 20, MANY = 2100 };

static int rank, wrong, look = 1; /* at the data */
static char memory[BLOCK];
static MPI_Datatype again; /* BLOCK bytes; all items in one place */

#define CHECK(what)                                                                                          \
    do {                                                                                                     \
        if (!(what)) {                                                                                       \
            printf("rank %d, line %d: %s\n", rank, __LINE__, #what);                                         \
            wrong = 1;                                                                                       \
        }                                                                                                    \
    } while (0)

static int is_count_error(int code)
{
    int class = 0;
    MPI_Error_class(code, &class);
    return class == MPI_ERR_COUNT;
}

static void carried(void)
{
    MPI_Status status;
    MPI_Count elements = 0;
    int count = 0;
    if (rank == 0) {
        memset(memory, 'a', BLOCK);
        CHECK(MPI_Send(memory, MANY, again, 1, 0, MPI_COMM_WORLD) == MPI_SUCCESS);
    } else {
        CHECK(MPI_Probe(0, 0, MPI_COMM_WORLD, &status) == MPI_SUCCESS);
        MPI_Get_elements_x(&status, MPI_BYTE, &elements);
        CHECK(elements == (MPI_Count)MANY * BLOCK);
        CHECK(MPI_Recv(memory, MANY + 3, again, 0, 0, MPI_COMM_WORLD, &status) == MPI_SUCCESS);
        MPI_Get_count(&status, again, &count);
        CHECK(count == MANY);
        MPI_Get_count(&status, MPI_BYTE, &count);
        CHECK(count == MPI_UNDEFINED);
        elements = 0;
        MPI_Get_elements_x(&status, again, &elements);
        CHECK(elements == (MPI_Count)MANY * BLOCK);
        CHECK(!look || (memory[0] == 'a' && memory[BLOCK - 1] == 'a'));
    }
    if (rank == 0)
        memset(memory, 'b', BLOCK);
    CHECK(MPI_Bcast(memory, MANY, again, 0, MPI_COMM_WORLD) == MPI_SUCCESS);
    CHECK(!look || (memory[0] == 'b' && memory[BLOCK - 1] == 'b'));
}

static void refused(void)
{
    static char other[BLOCK];
    int other_rank = 1 - rank, flag = 1, blocks[2] = {MANY / 2 + 1, MANY / 2 + 1}, places[2] = {0, 0};
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Win win;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    CHECK(is_count_error(MPI_Send(memory, MANY, again, other_rank, 0, MPI_COMM_WORLD)));
    CHECK(is_count_error(MPI_Isend(memory, MANY, again, other_rank, 0, MPI_COMM_WORLD, &request)));
    CHECK(request == MPI_REQUEST_NULL);
    CHECK(is_count_error(MPI_Sendrecv(memory, MANY, again, other_rank, 0, other, BLOCK, MPI_BYTE, other_rank,
                                      0, MPI_COMM_WORLD, MPI_STATUS_IGNORE)));
    CHECK(is_count_error(MPI_Bcast(memory, MANY, again, 0, MPI_COMM_WORLD)));
    CHECK(is_count_error(
        MPI_Gather(memory, MANY / 2 + 1, again, other, MANY / 2 + 1, again, 0, MPI_COMM_WORLD)));
    CHECK(is_count_error(
        MPI_Allgather(memory, MANY / 2 + 1, again, other, MANY / 2 + 1, again, MPI_COMM_WORLD)));
    CHECK(is_count_error(
        MPI_Alltoall(memory, MANY / 2 + 1, again, other, MANY / 2 + 1, again, MPI_COMM_WORLD)));
    CHECK(is_count_error(
        MPI_Allgatherv(memory, MANY / 2 + 1, again, other, blocks, places, again, MPI_COMM_WORLD)));
    CHECK(is_count_error(
        MPI_Alltoallv(memory, blocks, places, again, other, blocks, places, again, MPI_COMM_WORLD)));
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    CHECK(!flag);
    MPI_Win_create(memory, BLOCK, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    MPI_Win_fence(0, win);
    CHECK(is_count_error(MPI_Put(other, MANY, again, other_rank, 0, MANY, again, win)));
    MPI_Win_fence(0, win);
    MPI_Win_free(&win);
}

int main(int argc, char **argv)
{
    MPI_Datatype bytes;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Type_contiguous(BLOCK, MPI_BYTE, &bytes);
    MPI_Type_create_resized(bytes, 0, 0, &again);
    MPI_Type_commit(&again);
    MPI_Type_free(&bytes);
    look = argc == 1 || strcmp(argv[1], "lengths") != 0;
    if (argc > 1 && strcmp(argv[1], "refused") == 0)
        refused();
    else
        carried();
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0 && !wrong)
        printf("long messages: %s\n", argc > 1 ? argv[1] : "carried");
    MPI_Type_free(&again);
    MPI_Finalize();
    return wrong;
}
