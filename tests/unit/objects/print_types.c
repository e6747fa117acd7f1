/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An ordinary MPI program. With stock Open MPI it makes the expected answers of the unit test
 * (mpicc print_types.c -o p && mpirun -np 1 ./p >types.expected). With pfcc it also checks that a model moves
 * the right bytes (print_types packs): each type is packed and unpacked three items at a time.
 */
#include <stdlib.h>
#include <string.h>

#include "type_cases.h"

#define ROOM  (1 << 16)
#define ITEMS 3

static unsigned char low[ROOM], high[ROOM], packed_low[ROOM], packed_high[ROOM], filled[ROOM];
static int seen[ROOM];

/* Which byte of the buffer is the n-th packed one. */
static int source_of(int n)
{
    return packed_low[n] + 256 * packed_high[n];
}

static int pack(const unsigned char *from, unsigned char *to, MPI_Datatype type)
{
    int position = 0;
    PMPI_Pack((void *)(from + ROOM / 2), ITEMS, type, to, ROOM, &position, MPI_COMM_WORLD);
    return position;
}

/* A digest of the order in which the bytes are packed, -1 when unpacking does not put them back. */
static long pack_digest(MPI_Datatype type)
{
    int size, position = 0, overlaps = 0;
    unsigned long digest = 5381;
    PMPI_Type_size(type, &size);
    pack(low, packed_low, type);
    if (pack(high, packed_high, type) != ITEMS * size)
        return -2;
    memset(seen, 0, sizeof seen);
    for (int n = 0; n < ITEMS * size; n++) {
        digest = digest * 33 + (unsigned long)source_of(n);
        overlaps += seen[source_of(n)]++;
    }
    if (!overlaps) { /* unpacking onto itself is not defined */
        memset(filled, 0, sizeof filled);
        PMPI_Unpack(packed_low, ITEMS * size, &position, filled + ROOM / 2, ITEMS, type, MPI_COMM_WORLD);
        for (int i = 0; i < ROOM; i++)
            if (filled[i] != (seen[i] ? low[i] : 0))
                return -1;
    }
    return (long)(digest & 0x7fffffff);
}

int main(int argc, char **argv)
{
    char line[200];
    PMPI_Init(&argc, &argv);
    for (int i = 0; i < ROOM; i++) {
        low[i] = (unsigned char)i;
        high[i] = (unsigned char)(i >> 8);
    }
    for (int i = 0; i < TYPE_CASE_COUNT; i++) {
        MPI_Datatype type = type_case(i);
        describe_type(i, type, line, sizeof line);
        if (argc == 1)
            puts(line);
        else if (!case_has_pairs)
            printf("%d: digest %ld\n", i, pack_digest(type));
        release(type);
    }
    PMPI_Finalize();
    return 0;
}
