/* SPDX-License-Identifier: BSD-3-Clause */
/* e2e: switch=any np=2 stock=no */
/* Messages that end inside an item of the receiver's derived datatype: the part of the item arrives, what
 * lies behind it is not touched, and MPI_Get_elements counts it. (Stock SMPI drops the part.) */
#include "check.h"

enum { ROOM = 64, UNTOUCHED = -7 };

/* Places of the integers of an item, in the order of the type map. */
struct shape {
    MPI_Datatype type;
    int ints, places[8], extent;
};

static void make(struct shape *shapes)
{
    MPI_Datatype pair, two;
    int lengths[] = {1, 0, 2, 1}, places[] = {0, 1, 4, 2};
    shapes[0] = (struct shape){.ints = 4, .places = {0, 4, 5, 2}, .extent = 6};
    CHECK_OK(MPI_Type_indexed(4, lengths, places, MPI_INT, &shapes[0].type));
    shapes[1] = (struct shape){.ints = 6, .places = {0, 1, 3, 4, 6, 7}, .extent = 8};
    CHECK_OK(MPI_Type_contiguous(2, MPI_INT, &pair));
    CHECK_OK(MPI_Type_create_hvector(3, 1, 3 * sizeof(int), pair, &shapes[1].type));
    shapes[2] = (struct shape){.ints = 3, .places = {0, 1, 2}, .extent = 3};
    CHECK_OK(MPI_Type_create_struct(2, (int[]){1, 2}, (MPI_Aint[]){0, sizeof(int)},
                                    (MPI_Datatype[]){MPI_INT, MPI_INT}, &shapes[2].type));
    shapes[3] = (struct shape){.ints = 4, .places = {0, 1, 3, 4}, .extent = 9};
    CHECK_OK(MPI_Type_create_hindexed(2, (int[]){1, 1}, (MPI_Aint[]){0, 3 * sizeof(int)}, pair, &two));
    CHECK_OK(MPI_Type_create_resized(two, 0, 9 * sizeof(int), &shapes[3].type));
    for (int i = 0; i < 4; i++)
        CHECK_OK(MPI_Type_commit(&shapes[i].type));
    CHECK_OK(MPI_Type_free(&pair));
    CHECK_OK(MPI_Type_free(&two));
}

static void receive(int how, int *in, int items, MPI_Datatype type, MPI_Status *status)
{
    MPI_Request request;
    MPI_Message message;
    switch (how) {
    case 0:
        CHECK_OK(MPI_Recv(in, items, type, 0, how, MPI_COMM_WORLD, status));
        break;
    case 1:
        CHECK_OK(MPI_Irecv(in, items, type, 0, how, MPI_COMM_WORLD, &request));
        CHECK_OK(MPI_Wait(&request, status));
        break;
    case 2:
        CHECK_OK(MPI_Irecv(in, items, type, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &request));
        CHECK_OK(MPI_Waitall(1, &request, status));
        break;
    case 3:
        CHECK_OK(MPI_Recv_init(in, items, type, 0, how, MPI_COMM_WORLD, &request));
        CHECK_OK(MPI_Start(&request));
        CHECK_OK(MPI_Wait(&request, status));
        CHECK_OK(MPI_Request_free(&request));
        break;
    case 4:
        CHECK_OK(MPI_Mprobe(0, how, MPI_COMM_WORLD, &message, status));
        CHECK_OK(MPI_Mrecv(in, items, type, &message, status));
        break;
    default:
        CHECK_OK(MPI_Sendrecv(NULL, 0, MPI_INT, MPI_PROC_NULL, 0, in, items, type, 0, how, MPI_COMM_WORLD,
                              status));
    }
}

static void compare(const struct shape *shape, const int *in, int ints, const MPI_Status *status)
{
    int expected[ROOM], elements, count;
    for (int i = 0; i < ROOM; i++)
        expected[i] = UNTOUCHED;
    for (int i = 0; i < ints; i++)
        expected[i / shape->ints * shape->extent + shape->places[i % shape->ints]] = i + 1;
    for (int i = 0; i < ROOM; i++)
        CHECK(in[i] == expected[i]);
    CHECK_OK(MPI_Get_elements(status, shape->type, &elements));
    CHECK(elements == ints);
    CHECK_OK(MPI_Get_count(status, shape->type, &count));
    CHECK(count == (ints % shape->ints ? MPI_UNDEFINED : ints / shape->ints));
}

int main(int argc, char **argv)
{
    struct shape shapes[4];
    int in[ROOM], out[ROOM];
    MPI_Status status;
    check_begin(&argc, &argv);
    make(shapes);
    for (int i = 0; i < ROOM; i++)
        out[i] = i + 1;
    for (int s = 0; s < 4; s++)
        for (int how = 0; how < 6; how++)
            for (int ints = 0; ints <= 3 * shapes[s].ints; ints++) {
                for (int i = 0; i < ROOM; i++)
                    in[i] = UNTOUCHED;
                if (check_rank == 0) {
                    CHECK_OK(MPI_Send(out, ints, MPI_INT, 1, how, MPI_COMM_WORLD));
                } else {
                    receive(how, in, 3, shapes[s].type, &status);
                    compare(&shapes[s], in, ints, &status);
                }
            }
    for (int s = 0; s < 4; s++)
        CHECK_OK(MPI_Type_free(&shapes[s].type));
    return check_end("partial");
}
