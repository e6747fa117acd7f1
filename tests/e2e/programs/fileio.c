/* SPDX-License-Identifier: BSD-3-Clause */
/* e2e: switch=own stock=no */
/*
 * What files.c leaves out of MPI-IO: nonblocking accesses of every kind, split collectives, shared and
 * ordered pointers, atomic mode, sizes. The model changes between start and completion.
 */
#include "filename.h"

enum { N = 64 };

static MPI_File file;
static int out[N], in[N];

/* Number of bytes of one rank's part. */
static const MPI_Offset part = (MPI_Offset)(N * sizeof(int));

/* A file of `check_size` parts, each pointer at the rank's own. */
static void begin(int salt)
{
    SWITCH_A();
    CHECK_OK(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file));
    CHECK_OK(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
    CHECK_OK(MPI_File_seek(file, (MPI_Offset)check_rank * N, MPI_SEEK_SET));
    check_fill(out, N, check_rank, salt);
    memset(in, 0, sizeof in);
}

static void rewind_part(void)
{
    CHECK_OK(MPI_File_sync(file));
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    CHECK_OK(MPI_File_seek(file, (MPI_Offset)check_rank * N, MPI_SEEK_SET));
}

static void end(void)
{
    CHECK_OK(MPI_File_close(&file));
    SWITCH_A();
}

/* The request of an access, completed in the other model. */
static void complete(MPI_Request *request)
{
    MPI_Status status;
    int count;

    SWITCH_B();
    CHECK_OK(MPI_Wait(request, &status));
    CHECK_OK(MPI_Get_count(&status, MPI_INT, &count));
    CHECK(count == N && *request == MPI_REQUEST_NULL);
    SWITCH_A();
}

static void own_pointers(void)
{
    MPI_Request request;
    MPI_Status status;
    int count;

    begin(1);
    CHECK_OK(MPI_File_write(file, out, N, MPI_INT, &status));
    CHECK_OK(MPI_Get_count(&status, MPI_INT, &count));
    CHECK(count == N);
    rewind_part();
    CHECK_OK(MPI_File_read(file, in, N, MPI_INT, &status));
    CHECK(check_filled(in, N, check_rank, 1));
    end();

    begin(2);
    CHECK_OK(MPI_File_iwrite(file, out, N, MPI_INT, &request));
    complete(&request);
    rewind_part();
    CHECK_OK(MPI_File_iread(file, in, N, MPI_INT, &request));
    complete(&request);
    CHECK(check_filled(in, N, check_rank, 2));
    end();
}

static void nonblocking_collectives(void)
{
    MPI_Request request;

    begin(3);
    CHECK_OK(MPI_File_iwrite_all(file, out, N, MPI_INT, &request));
    complete(&request);
    rewind_part();
    CHECK_OK(MPI_File_iread_all(file, in, N, MPI_INT, &request));
    complete(&request);
    CHECK(check_filled(in, N, check_rank, 3));
    end();

    begin(4);
    CHECK_OK(MPI_File_iwrite_at_all(file, (MPI_Offset)check_rank * N, out, N, MPI_INT, &request));
    complete(&request);
    rewind_part();
    CHECK_OK(MPI_File_iread_at_all(file, (MPI_Offset)check_rank * N, in, N, MPI_INT, &request));
    complete(&request);
    CHECK(check_filled(in, N, check_rank, 4));
    end();

    begin(5);
    CHECK_OK(MPI_File_write_at_all(file, (MPI_Offset)check_rank * N, out, N, MPI_INT, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_File_sync(file));
    CHECK_OK(MPI_File_read_at_all_begin(file, (MPI_Offset)check_rank * N, in, N, MPI_INT));
    SWITCH_B();
    CHECK_OK(MPI_File_read_at_all_end(file, in, MPI_STATUS_IGNORE));
    CHECK(check_filled(in, N, check_rank, 5));
    end();
}

static void split_collectives(void)
{
    MPI_Status status;
    int count;

    begin(6);
    CHECK_OK(MPI_File_write_all_begin(file, out, N, MPI_INT));
    SWITCH_B();
    CHECK_OK(MPI_File_write_all_end(file, out, &status));
    CHECK_OK(MPI_Get_count(&status, MPI_INT, &count));
    CHECK(count == N);
    rewind_part();
    CHECK_OK(MPI_File_read_all_begin(file, in, N, MPI_INT));
    SWITCH_A();
    CHECK_OK(MPI_File_read_all_end(file, in, &status));
    CHECK(check_filled(in, N, check_rank, 6));
    end();
}

static void ordered(void)
{
    begin(7);
    CHECK_OK(MPI_File_write_ordered_begin(file, out, N, MPI_INT));
    SWITCH_B();
    CHECK_OK(MPI_File_write_ordered_end(file, out, MPI_STATUS_IGNORE));
    SWITCH_A();
    CHECK_OK(MPI_File_sync(file));
    CHECK_OK(MPI_File_seek_shared(file, 0, MPI_SEEK_SET));
    CHECK_OK(MPI_File_read_ordered(file, in, N, MPI_INT, MPI_STATUS_IGNORE));
    CHECK(check_filled(in, N, check_rank, 7));
    memset(in, 0, sizeof in);
    CHECK_OK(MPI_File_seek_shared(file, 0, MPI_SEEK_SET));
    CHECK_OK(MPI_File_read_ordered_begin(file, in, N, MPI_INT));
    SWITCH_B();
    CHECK_OK(MPI_File_read_ordered_end(file, in, MPI_STATUS_IGNORE));
    CHECK(check_filled(in, N, check_rank, 7));
    end();
}

/* Which rank gets which record is open; together they get each once. */
static void shared(int nonblocking)
{
    MPI_Request request;
    int own = check_rank + 100, got = 0, sum = 0;

    begin(8);
    CHECK_OK(MPI_File_set_size(file, 0));
    CHECK_OK(MPI_File_seek_shared(file, 0, MPI_SEEK_SET));
    if (nonblocking) {
        CHECK_OK(MPI_File_iwrite_shared(file, &own, 1, MPI_INT, &request));
        SWITCH_B();
        CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        SWITCH_A();
    } else {
        CHECK_OK(MPI_File_write_shared(file, &own, 1, MPI_INT, MPI_STATUS_IGNORE));
    }
    CHECK_OK(MPI_File_sync(file));
    CHECK_OK(MPI_File_seek_shared(file, 0, MPI_SEEK_SET));
    if (nonblocking) {
        CHECK_OK(MPI_File_iread_shared(file, &got, 1, MPI_INT, &request));
        SWITCH_B();
        CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        SWITCH_A();
    } else {
        CHECK_OK(MPI_File_read_shared(file, &got, 1, MPI_INT, MPI_STATUS_IGNORE));
    }
    CHECK_OK(MPI_Allreduce(&got, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    CHECK(sum == check_size * (check_size - 1) / 2 + 100 * check_size);
    end();
}

static int handler_calls;

static void handler(MPI_File *f, int *code, ...)
{
    CHECK(*f == file && *code == MPI_ERR_OTHER);
    handler_calls++;
}

static void properties(void)
{
    MPI_Errhandler own, got;
    MPI_Info info;
    MPI_Offset disp, size;
    MPI_Aint extent;
    int flag = 7;

    begin(9);
    CHECK_OK(MPI_File_get_atomicity(file, &flag));
    CHECK(!flag);
    CHECK_OK(MPI_File_set_atomicity(file, 1));
    CHECK_OK(MPI_File_get_atomicity(file, &flag));
    CHECK(flag);
    CHECK_OK(MPI_File_set_atomicity(file, 0));
    CHECK_OK(MPI_File_preallocate(file, 100 * part));
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD)); /* only the rank that does it knows when it is done */
    CHECK_OK(MPI_File_get_size(file, &size));
    CHECK(size == 100 * part);
    CHECK_OK(MPI_File_get_byte_offset(file, 5, &disp));
    CHECK(disp == (MPI_Offset)(5 * sizeof(int)));
    CHECK_OK(MPI_File_get_type_extent(file, MPI_DOUBLE, &extent));
    CHECK(extent == (MPI_Aint)sizeof(double));
    CHECK_OK(MPI_Info_create(&info));
    CHECK_OK(MPI_Info_set(info, "access_style", "random"));
    CHECK_OK(MPI_File_set_info(file, info));
    CHECK_OK(MPI_Info_free(&info));
    CHECK_OK(MPI_File_create_errhandler(handler, &own));
    CHECK_OK(MPI_File_set_errhandler(file, own));
    CHECK_OK(MPI_File_get_errhandler(file, &got));
    CHECK(got == own);
    CHECK_OK(MPI_File_call_errhandler(file, MPI_ERR_OTHER));
    CHECK(handler_calls == 1);
    CHECK_OK(MPI_Errhandler_free(&own));
    CHECK_OK(MPI_Errhandler_free(&got));
    CHECK_OK(MPI_File_set_errhandler(file, MPI_ERRORS_RETURN));
    end();
}

/* Nothing is behind the end, and the request says so: stock Open MPI waits for ever. */
static void end_of_file(void)
{
    MPI_Request request;
    MPI_Status status;
    int count = -1;
    MPI_Offset last = (MPI_Offset)check_size * N;

    begin(11);
    CHECK_OK(MPI_File_write_at_all(file, (MPI_Offset)check_rank * N, out, N, MPI_INT, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_File_sync(file));
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    CHECK_OK(MPI_File_iread_at(file, last + 100, in, N, MPI_INT, &request));
    SWITCH_B();
    CHECK_OK(MPI_Wait(&request, &status));
    CHECK_OK(MPI_Get_count(&status, MPI_INT, &count));
    CHECK(count == 0);
    CHECK_OK(MPI_File_iread_at(file, last - 1, in, N, MPI_INT, &request));
    SWITCH_A();
    CHECK_OK(MPI_Wait(&request, &status));
    CHECK_OK(MPI_Get_count(&status, MPI_INT, &count));
    CHECK(count == 1);
    end();
}

/* Open MPI begins 2,048 pieces each time it is polled, which no event of the simulation answers. */
static void many_pieces(void)
{
    enum { PIECES = 40000 };
    MPI_Request requests[2];
    MPI_Status statuses[2];
    MPI_Datatype spread;
    int *pieces = calloc(PIECES, sizeof *pieces), many = check_rank == 0 ? PIECES : 1, count = -1;
    MPI_Offset place = (MPI_Offset)check_rank * 2 * PIECES * (MPI_Offset)sizeof(int);
    begin(13);
    CHECK_OK(MPI_Type_vector(many, 1, 2, MPI_INT, &spread));
    CHECK_OK(MPI_Type_commit(&spread));
    CHECK_OK(MPI_File_set_view(file, place, MPI_INT, spread, "native", MPI_INFO_NULL));
    for (int i = 0; i < PIECES; i++)
        pieces[i] = check_rank + i;
    CHECK_OK(MPI_File_iwrite_at(file, 0, pieces, many, MPI_INT, &requests[0]));
    SWITCH_B();
    CHECK_OK(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
    memset(pieces, 0, PIECES * sizeof *pieces);
    CHECK_OK(MPI_File_iread_at(file, 0, pieces, many, MPI_INT, &requests[0]));
    CHECK_OK(MPI_Ibarrier(MPI_COMM_WORLD, &requests[1]));
    SWITCH_A();
    CHECK_OK(MPI_Waitall(2, requests, statuses));
    CHECK_OK(MPI_Get_count(&statuses[0], MPI_INT, &count));
    CHECK(count == many && pieces[many - 1] == check_rank + many - 1);
    CHECK_OK(MPI_Type_free(&spread));
    CHECK_OK(MPI_File_set_size(file, 0));
    free(pieces);
    end();
}

int main(int argc, char *argv[])
{
    check_begin(&argc, &argv);
    choose_name();
    if (check_simulated()) /* mpirun takes a minute for its threads */
        many_pieces();
    own_pointers();
    nonblocking_collectives();
    split_collectives();
    ordered();
    shared(0);
    shared(1);
    if (check_simulated())
        end_of_file();
    properties();
    if (check_rank == 0)
        CHECK_OK(MPI_File_delete(name, MPI_INFO_NULL));
    return check_end("fileio");
}
