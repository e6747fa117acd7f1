/* SPDX-License-Identifier: BSD-3-Clause */
/* e2e: switch=own stock=no */
/*
 * MPI-IO on the real file system: explicit offsets, individual and shared pointers, collective, nonblocking
 * and split accesses, views, sizes, errors. A file stays Open MPI's, whatever the ranks switch to. (Stock
 * SMPI simulates disks and lacks half of the calls.)
 */
#include "filename.h"

enum { N = 256 };

static void open_file(MPI_File *file, int mode)
{
    CHECK_OK(MPI_File_open(MPI_COMM_WORLD, name, mode, MPI_INFO_NULL, file));
}

static void explicit_offsets(void)
{
    MPI_File file;
    MPI_Status status;
    MPI_Offset size;
    int out[N], in[N], count, next = (check_rank + 1) % check_size;

    open_file(&file, MPI_MODE_CREATE | MPI_MODE_RDWR);
    check_fill(out, N, check_rank, 1);
    CHECK_OK(MPI_File_write_at(file, (MPI_Offset)(check_rank * sizeof out), out, N, MPI_INT, &status));
    CHECK_OK(MPI_Get_count(&status, MPI_INT, &count));
    CHECK(count == N);
    CHECK_OK(MPI_File_sync(file));
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    CHECK_OK(MPI_File_get_size(file, &size));
    CHECK(size == (MPI_Offset)(check_size * sizeof out));
    CHECK_OK(MPI_File_read_at_all(file, (MPI_Offset)(next * sizeof in), in, N, MPI_INT, &status));
    CHECK(check_filled(in, N, next, 1));
    CHECK_OK(MPI_File_read_at(file, size, in, N, MPI_INT, &status));
    CHECK_OK(MPI_Get_count(&status, MPI_INT, &count));
    CHECK(count == 0);
    CHECK_OK(MPI_File_close(&file));
    CHECK(file == MPI_FILE_NULL);
}

/* Every rank sees its own column of blocks. */
static void views(void)
{
    MPI_File file;
    MPI_Datatype column, etype, filetype;
    MPI_Offset disp;
    MPI_Status status;
    char datarep[MPI_MAX_DATAREP_STRING];
    int out[N], in[N], count;

    CHECK_OK(MPI_Type_vector(N / 16, 16, 16 * check_size, MPI_INT, &column));
    CHECK_OK(MPI_Type_commit(&column));
    open_file(&file, MPI_MODE_RDWR);
    disp = (MPI_Offset)(check_rank * 16 * sizeof(int));
    CHECK_OK(MPI_File_set_view(file, disp, MPI_INT, column, "native", MPI_INFO_NULL));
    CHECK_OK(MPI_Type_free(&column));
    check_fill(out, N, check_rank, 2);
    CHECK_OK(MPI_File_write_all(file, out, N, MPI_INT, &status));
    CHECK_OK(MPI_Get_count(&status, MPI_INT, &count));
    CHECK(count == N);
    CHECK_OK(MPI_File_seek(file, 0, MPI_SEEK_SET));
    CHECK_OK(MPI_File_read_all(file, in, N, MPI_INT, MPI_STATUS_IGNORE));
    CHECK(check_filled(in, N, check_rank, 2));
    CHECK_OK(MPI_File_get_view(file, &disp, &etype, &filetype, datarep));
    CHECK(disp == (MPI_Offset)(check_rank * 16 * sizeof(int)) && etype == MPI_INT &&
          !strcmp(datarep, "native"));
    CHECK(filetype != MPI_INT && filetype != MPI_BYTE);
    if (filetype != MPI_BYTE)
        CHECK_OK(MPI_Type_free(&filetype));
    CHECK_OK(MPI_File_seek(file, -(MPI_Offset)N / 2, MPI_SEEK_CUR));
    CHECK_OK(MPI_File_get_position(file, &disp));
    CHECK(disp == N / 2);
    CHECK_OK(MPI_File_close(&file));

    /* What lies where, seen without a view. */
    open_file(&file, MPI_MODE_RDONLY);
    int next = (check_rank + 1) % check_size, head[16];
    check_fill(out, N, next, 2);
    CHECK_OK(
        MPI_File_read_at(file, (MPI_Offset)(next * 16 * sizeof(int)), head, 16, MPI_INT, MPI_STATUS_IGNORE));
    CHECK(!memcmp(head, out, sizeof head));
    CHECK_OK(MPI_File_close(&file));
}

/* Started before a switch, completed after it. */
static void nonblocking(void)
{
    MPI_File file;
    MPI_Request requests[2];
    int out[N], in[N], back[N];

    SWITCH_A();
    open_file(&file, MPI_MODE_RDWR);
    check_fill(out, N, check_rank, 3);
    CHECK_OK(MPI_File_iwrite_at(file, (MPI_Offset)(check_rank * sizeof out), out, N, MPI_INT, &requests[0]));
    CHECK_OK(MPI_Irecv(in, N, MPI_INT, (check_rank + 1) % check_size, 9, MPI_COMM_WORLD, &requests[1]));
    SWITCH_B();
    CHECK_OK(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
    SWITCH_A();
    CHECK_OK(MPI_Send(out, N, MPI_INT, (check_rank + check_size - 1) % check_size, 9, MPI_COMM_WORLD));
    CHECK_OK(MPI_File_iread_at(file, (MPI_Offset)(check_rank * sizeof out), back, N, MPI_INT, &requests[0]));
    CHECK_OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
    CHECK(check_filled(in, N, (check_rank + 1) % check_size, 3) && check_filled(back, N, check_rank, 3));
    CHECK_OK(MPI_File_write_at_all_begin(file, (MPI_Offset)(check_rank * sizeof out), back, N, MPI_INT));
    SWITCH_B();
    CHECK_OK(MPI_File_write_at_all_end(file, back, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_File_close(&file));
    SWITCH_A();
}

/* Records of all ranks one behind the other, in the order of ranks or in any. */
static void shared_pointer(void)
{
    MPI_File file;
    MPI_Offset position;
    int record[2] = {check_rank, 1}, in[2], seen = 0;

    open_file(&file, MPI_MODE_RDWR);
    CHECK_OK(MPI_File_set_size(file, 0));
    CHECK_OK(MPI_File_write_ordered(file, record, 2, MPI_INT, MPI_STATUS_IGNORE));
    record[1] = 2;
    CHECK_OK(MPI_File_write_shared(file, record, 2, MPI_INT, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    CHECK_OK(MPI_File_get_position_shared(file, &position));
    CHECK(position == (MPI_Offset)(2 * check_size * sizeof record));
    for (int i = 0; i < check_size; i++) {
        CHECK_OK(MPI_File_read_at(file, (MPI_Offset)(i * sizeof in), in, 2, MPI_INT, MPI_STATUS_IGNORE));
        CHECK(in[0] == i && in[1] == 1);
        CHECK_OK(MPI_File_read_at(file, (MPI_Offset)((check_size + i) * sizeof in), in, 2, MPI_INT,
                                  MPI_STATUS_IGNORE));
        seen += in[0] + 1;
        CHECK(in[1] == 2);
    }
    CHECK(seen == check_size * (check_size + 1) / 2);
    CHECK_OK(MPI_File_close(&file));
}

static int handler_calls;

static void handler(MPI_File *file, int *code, ...)
{
    (void)file, (void)code;
    handler_calls++;
}

static void errors(void)
{
    MPI_File file;
    MPI_Errhandler own;
    MPI_Group group;
    MPI_Info info;
    int class, mode, size, value;

    CHECK(MPI_File_open(MPI_COMM_WORLD, "nowhere/file", MPI_MODE_RDONLY, MPI_INFO_NULL, &file) !=
          MPI_SUCCESS);
    value = MPI_File_open(MPI_COMM_SELF, "absent", MPI_MODE_RDONLY, MPI_INFO_NULL, &file);
    CHECK_OK(MPI_Error_class(value, &class));
    CHECK(class == MPI_ERR_NO_SUCH_FILE);
    CHECK(MPI_File_get_size(MPI_FILE_NULL, NULL) == MPI_ERR_FILE);
    CHECK_OK(MPI_Info_create(&info));
    CHECK_OK(MPI_Info_set(info, "access_style", "read_once"));
    CHECK_OK(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDONLY, info, &file));
    CHECK_OK(MPI_Info_free(&info));
    CHECK_OK(MPI_File_get_info(file, &info));
    char text[32];
    int flag;
    CHECK_OK(MPI_Info_get(info, "access_style", 31, text, &flag));
    CHECK(flag && !strcmp(text, "read_once"));
    CHECK_OK(MPI_Info_free(&info));
    CHECK_OK(MPI_File_get_amode(file, &mode));
    CHECK(mode == MPI_MODE_RDONLY);
    CHECK_OK(MPI_File_get_group(file, &group));
    CHECK_OK(MPI_Group_size(group, &size));
    CHECK(size == check_size);
    CHECK_OK(MPI_Group_free(&group));
    CHECK_OK(MPI_File_create_errhandler(handler, &own));
    CHECK_OK(MPI_File_set_errhandler(file, own));
    CHECK(MPI_File_write(file, &value, 1, MPI_INT, MPI_STATUS_IGNORE) != MPI_SUCCESS);
    CHECK(handler_calls == 1);
    CHECK_OK(MPI_Errhandler_free(&own));
    CHECK(MPI_File_f2c(MPI_File_c2f(file)) == file);
    CHECK_OK(MPI_File_close(&file));
}

int main(int argc, char *argv[])
{
    check_begin(&argc, &argv);
    choose_name();
    explicit_offsets();
    views();
    nonblocking();
    shared_pointer();
    errors();
    if (check_rank == 0)
        CHECK_OK(MPI_File_delete(name, MPI_INFO_NULL));
    CHECK(check_rank != 0 || access(name, F_OK) != 0);
    return check_end("files");
}
