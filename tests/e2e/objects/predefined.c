/* SPDX-License-Identifier: BSD-3-Clause */
/* e2e: switch=none np=2 stock=no mpirun=no */
/* Each predefined datatype: its name, three items of it through the model in force, and nothing behind them
 * touched. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

/* It does not come to an end with a list like this. */
/* clang-format off */
#define TYPES(X) \
    X(AINT) \
    X(COUNT) \
    X(OFFSET) \
    X(PACKED) \
    X(SHORT) X(INT) X(LONG) X(LONG_LONG_INT) X(UNSIGNED_SHORT) X(UNSIGNED) X(UNSIGNED_LONG) \
    X(UNSIGNED_LONG_LONG) X(FLOAT) X(C_COMPLEX) X(CXX_FLOAT_COMPLEX) X(DOUBLE) X(C_DOUBLE_COMPLEX) \
    X(CXX_DOUBLE_COMPLEX) X(LONG_DOUBLE) X(C_LONG_DOUBLE_COMPLEX) X(CXX_LONG_DOUBLE_COMPLEX) \
    X(FLOAT_INT) X(DOUBLE_INT) X(LONG_INT) X(2INT) X(SHORT_INT) X(LONG_DOUBLE_INT) X(C_BOOL) \
    X(CXX_BOOL) X(WCHAR) X(INT8_T) X(UINT8_T) X(CHAR) X(SIGNED_CHAR) X(UNSIGNED_CHAR) \
    X(BYTE) X(INT16_T) X(UINT16_T) X(INT32_T) X(UINT32_T) X(INT64_T) X(UINT64_T) \
    X(LOGICAL) X(INTEGER) X(REAL) X(COMPLEX) X(DOUBLE_PRECISION) X(DOUBLE_COMPLEX) \
    X(CHARACTER) X(2REAL) X(2DOUBLE_PRECISION) X(2INTEGER) X(LOGICAL1) \
    X(INTEGER1) X(LOGICAL2) X(INTEGER2) X(LOGICAL4) X(INTEGER4) X(REAL4) \
    X(LOGICAL8) X(INTEGER8) X(INTEGER16) X(REAL8) X(COMPLEX8) X(REAL16) X(COMPLEX16) \
    X(COMPLEX32)
/* clang-format on */

#define ITEMS 3
#define ROOM  256

static int bad;

static void check(int condition, const char *name, const char *what)
{
    if (!condition)
        printf("%s: %s\n", name, what);
    bad += !condition;
}

static void exchange(MPI_Datatype type, const char *expected, int rank)
{
    unsigned char out[ROOM], in[ROOM];
    char name[MPI_MAX_OBJECT_NAME];
    MPI_Aint lb, extent;
    MPI_Status status;
    int length, count = -1, elements = -1;
    MPI_Type_get_name(type, name, &length);
    check(strcmp(name, expected) == 0 && length == (int)strlen(expected), expected, "wrong name");
    MPI_Type_get_extent(type, &lb, &extent);
    for (int i = 0; i < ROOM; i++)
        out[i] = (unsigned char)(i + 1);
    memset(in, 0, sizeof in);
    if (rank == 0) {
        MPI_Send(out, ITEMS, type, 1, 0, MPI_COMM_WORLD);
        return;
    }
    MPI_Recv(in, ITEMS, type, 0, 0, MPI_COMM_WORLD, &status);
    MPI_Get_count(&status, type, &count);
    check(count == ITEMS, expected, "wrong count");
    MPI_Get_elements(&status, type, &elements);
    check(elements == ITEMS || elements == 2 * ITEMS, expected, "wrong number of elements");
    check(in[0] == out[0] && in[ITEMS * extent - 1 - (extent > 8 ? 15 : 0)] != 0, expected, "not received");
    for (int i = (int)(ITEMS * extent); i < ROOM; i++)
        if (in[i] != 0) {
            check(0, expected, "received too much");
            break;
        }
}

/* No model computes with 16 bytes of integer: it says so. */
static void refuse_sum(void)
{
    __int128 one = 1, sum = 0;
    int class = MPI_SUCCESS, code = MPI_Allreduce(&one, &sum, 1, MPI_INTEGER16, MPI_SUM, MPI_COMM_WORLD);
    MPI_Error_class(code, &class);
    check(class == MPI_ERR_OP, "MPI_INTEGER16", "MPI_SUM is not refused");
}

static int class_of(int code)
{
    int class = MPI_SUCCESS;
    MPI_Error_class(code, &class);
    return class;
}

static void summed(int code, int was, int expected, const char *call)
{
    int class = class_of(code);
    check(class == MPI_ERR_OP || (class == MPI_SUCCESS && was == expected), call, "neither refused nor done");
}

/* MPI 3.1 section 5.9.2 has no sum of bytes: Open MPI computes it all the same, others refuse it. */
static void accumulate_bytes(int rank)
{
    unsigned char memory[4] = {1, 2, 3, 4}, one[2] = {1, 1}, result[2] = {0, 0};
    MPI_Datatype apart;
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Win win;
    int code;
    MPI_Type_vector(2, 1, 2, MPI_BYTE, &apart);
    MPI_Type_commit(&apart);
    MPI_Win_create(memory, sizeof memory, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, win);
    code = MPI_Accumulate(one, 1, MPI_BYTE, rank, 0, 1, MPI_BYTE, MPI_SUM, win);
    MPI_Win_flush(rank, win);
    summed(code, memory[0], 2, "MPI_Accumulate");
    memory[0] = 1;
    code = MPI_Accumulate(one, 2, MPI_BYTE, rank, 0, 1, apart, MPI_SUM, win);
    MPI_Win_flush(rank, win);
    summed(code, memory[0] + memory[2], 6, "MPI_Accumulate of a vector");
    memory[0] = 1;
    code = MPI_Raccumulate(one, 1, MPI_BYTE, rank, 0, 1, MPI_BYTE, MPI_SUM, win, &request);
    if (code == MPI_SUCCESS)
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Win_flush(rank, win);
    summed(code, memory[0], 2, "MPI_Raccumulate");
    code = MPI_Get_accumulate(one, 1, MPI_BYTE, result, 1, MPI_BYTE, rank, 3, 1, MPI_BYTE, MPI_SUM, win);
    MPI_Win_flush(rank, win);
    summed(code, result[0], 4, "MPI_Get_accumulate");
    code = MPI_Rget_accumulate(one, 1, MPI_BYTE, result, 1, MPI_BYTE, rank, 1, 1, MPI_BYTE, MPI_SUM, win,
                               &request);
    if (code == MPI_SUCCESS)
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Win_flush(rank, win);
    summed(code, result[0], 2, "MPI_Rget_accumulate");
    memory[1] = 2;
    code = MPI_Fetch_and_op(one, result, MPI_BYTE, rank, 1, MPI_SUM, win);
    MPI_Win_flush(rank, win);
    summed(code, result[0], 2, "MPI_Fetch_and_op");
    code = MPI_Accumulate(one, 1, MPI_BYTE, rank, 1, 1, MPI_BYTE, MPI_REPLACE, win);
    MPI_Win_flush(rank, win);
    check(code == MPI_SUCCESS && memory[1] == 1, "MPI_REPLACE", "bytes are refused");
    memory[1] = 2;
    code = MPI_Accumulate(one, 1, MPI_BYTE, rank, 1, 1, MPI_BYTE, MPI_BXOR, win);
    MPI_Win_flush(rank, win);
    check(code == MPI_SUCCESS && memory[1] == 3, "MPI_BXOR", "bytes are refused");
    MPI_Win_unlock(rank, win);
    MPI_Win_free(&win);
    MPI_Type_free(&apart);
}

int main(int argc, char **argv)
{
    int rank, all;
    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
#define X(name) exchange(MPI_##name, "MPI_" #name, rank);
    TYPES(X)
#undef X
    refuse_sum();
    accumulate_bytes(rank);
    MPI_Allreduce(&bad, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        puts(all ? "predefined: FAIL" : "predefined: PASS");
    MPI_Finalize();
    return all != 0;
}
