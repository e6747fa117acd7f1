/* SPDX-License-Identifier: BSD-3-Clause */
/* files HOW [HOW ...]: each rank writes or reads its million bytes in these ways, and says how long that
 * took. */
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { BYTES = 1000000 };
static char data[BYTES];

static void by_mpi(const char *how, const char *name, int me)
{
    MPI_File file;
    MPI_Request request;
    MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
    MPI_Barrier(MPI_COMM_WORLD);
    double begin = MPI_Wtime();
    if (!strcmp(how, "write"))
        MPI_File_write_at(file, (MPI_Offset)me * BYTES, data, BYTES, MPI_CHAR, MPI_STATUS_IGNORE);
    else if (!strcmp(how, "read"))
        MPI_File_read_at(file, (MPI_Offset)me * BYTES, data, BYTES, MPI_CHAR, MPI_STATUS_IGNORE);
    else if (!strcmp(how, "iwrite")) {
        MPI_File_iwrite_at(file, (MPI_Offset)me * BYTES, data, BYTES, MPI_CHAR, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else if (!strcmp(how, "write_all"))
        MPI_File_write_at_all(file, (MPI_Offset)me * BYTES, data, BYTES, MPI_CHAR, MPI_STATUS_IGNORE);
    printf("%s %d %.6f ms\n", how, me, 1e3 * (MPI_Wtime() - begin));
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_close(&file);
}

static void by_stream(const char *name, int me)
{
    MPI_Barrier(MPI_COMM_WORLD);
    double begin = MPI_Wtime();
    FILE *file = fopen(name, "w");
    for (int i = 0; i < BYTES; i += 100)
        fwrite(data + i, 1, 100, file);
    fprintf(file, "%-100s", "the end");
    fclose(file);
    printf("fwrite %d %.6f ms\n", me, 1e3 * (MPI_Wtime() - begin));
    begin = MPI_Wtime();
    file = fopen(name, "r");
    while (fread(data, 1, 100, file) == 100) {
    }
    fclose(file);
    printf("fread %d %.6f ms\n", me, 1e3 * (MPI_Wtime() - begin));
}

static void by_call(const char *name, int me)
{
    int file = open(name, O_RDWR | O_CREAT, 0666);
    MPI_Barrier(MPI_COMM_WORLD);
    double begin = MPI_Wtime();
    if (write(file, data, BYTES) != BYTES || pwrite(file, data, BYTES, 0) != BYTES)
        perror(name);
    printf("posix %d %.6f ms\n", me, 1e3 * (MPI_Wtime() - begin));
    close(file);
}

int main(int argc, char **argv)
{
    char name[300], own[320];
    int me;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    for (int i = 2; i < argc; i++) {
        snprintf(name, sizeof name, "%s/file", argv[1]);
        snprintf(own, sizeof own, "%s.%d", name, me);
        if (!strcmp(argv[i], "posix"))
            by_call(own, me);
        else if (!strcmp(argv[i], "stream"))
            by_stream(own, me);
        else
            by_mpi(argv[i], name, me);
    }
    MPI_Finalize();
    return 0;
}
