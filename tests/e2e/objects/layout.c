/* SPDX-License-Identifier: BSD-3-Clause */
/* e2e: switch=none np=2 stock=no mpirun=no */
/*
 * Does the model in force move the bytes that a datatype names, in the order of its type map? Rank 0 sends
 * three items of each random datatype to rank 1, which receives them as bytes, and gets them back into the
 * same type. Types with pairs such as MPI_DOUBLE_INT are left out: SMPI counts their padding as data. Stock
 * implementations fail: SMPI 3.32 in many cases, Open MPI 4.1.4 where the byte stride is -1.
 */
#include <string.h>

#include "../../unit/objects/type_cases.h"
#include "../../unit/objects/typemap.h"

#define ROOM  (1 << 16)
#define BASE  (ROOM / 4)
#define ITEMS 3

static unsigned char low[ROOM], high[ROOM], from_low[ROOM], from_high[ROOM], want[ROOM], filled[ROOM];
static int bad;

static void complain(int i, const char *what, int at)
{
    bad++;
    if (bad < 20)
        printf("case %d: %s, byte %d\n", i, what, at);
}

/* Where in the buffer each byte of the message comes from; returns their number, or -1 when one place occurs
 * twice. */
static int sources(MPI_Datatype type, int *source)
{
    struct typemap map = {0};
    static char used[ROOM];
    int bytes = 0, twice = 0;
    memset(used, 0, sizeof used);
    for (int item = 0; item < ITEMS; item++)
        map_type(&map, type, BASE + item * extent_of(type));
    for (int i = 0; i < map.count; i++)
        for (int k = 0; map.entries[i].kind == ENTRY_DATA && k < map.entries[i].size; k++) {
            int place = (int)map.entries[i].place + k;
            twice = twice || used[place];
            used[place] = 1;
            source[bytes++] = place;
        }
    free(map.entries);
    source[bytes] = twice;
    return bytes;
}

static void check_sent(int i, const int *source, int bytes)
{
    for (int n = 0; n < bytes; n++)
        if (from_low[n] + 256 * from_high[n] != source[n]) {
            complain(i, "the message has a byte from elsewhere", n);
            return;
        }
}

static void check_filled(int i, const int *source, int bytes)
{
    memset(want, 0xee, sizeof want);
    for (int n = 0; n < bytes; n++)
        want[source[n]] = low[source[n]];
    for (int n = 0; n < ROOM; n++)
        if (want[n] != filled[n]) {
            complain(i, "received into the wrong place", n);
            return;
        }
}

static void exchange(int i, int rank, MPI_Datatype type)
{
    static int source[ROOM + 1];
    int bytes = sources(type, source), count, size;
    MPI_Status status;
    PMPI_Type_size(type, &size);
    PMPI_Type_commit(&type);
    if (rank == 0) {
        PMPI_Send(low + BASE, ITEMS, type, 1, i, MPI_COMM_WORLD);
        PMPI_Send(high + BASE, ITEMS, type, 1, i, MPI_COMM_WORLD);
        memset(filled, 0xee, sizeof filled);
        if (source[bytes]) /* receiving twice into one place is not allowed */
            return;
        PMPI_Recv(filled + BASE, ITEMS, type, 1, i, MPI_COMM_WORLD, &status);
        check_filled(i, source, bytes);
        PMPI_Get_count(&status, type, &count);
        if (count != (size ? ITEMS : 0))
            complain(i, "wrong count", count);
        return;
    }
    PMPI_Recv(from_low, ROOM, MPI_BYTE, 0, i, MPI_COMM_WORLD, &status);
    PMPI_Recv(from_high, ROOM, MPI_BYTE, 0, i, MPI_COMM_WORLD, &status);
    PMPI_Get_count(&status, MPI_BYTE, &count);
    if (count != bytes)
        complain(i, "wrong length", count);
    check_sent(i, source, bytes);
    if (!source[bytes])
        PMPI_Send(from_low, count, MPI_BYTE, 0, i, MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    int rank, all;
    PMPI_Init(&argc, &argv);
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < ROOM; i++) {
        low[i] = (unsigned char)i;
        high[i] = (unsigned char)(i >> 8);
    }
    for (int i = 0; i < TYPE_CASE_COUNT; i++) {
        MPI_Datatype type = type_case(i);
        if (rank < 2 && !case_has_pairs)
            exchange(i, rank, type);
        release(type);
    }
    PMPI_Allreduce(&bad, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        puts(all ? "layout: FAIL" : "layout: PASS");
    PMPI_Finalize();
    return all != 0;
}
