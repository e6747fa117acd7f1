/* SPDX-License-Identifier: BSD-3-Clause */
/* e2e: switch=own stock=no */
/*
 * The canonical data representation, which SMPI lacks: what one model packs the other unpacks. And what
 * dynamic processes leave to ask when there are none.
 */
#include "check.h"

int main(int argc, char *argv[])
{
    check_begin(&argc, &argv);
    int out[4] = {1, -2, 3000000, check_rank}, in[4] = {0};
    char packed[64];
    MPI_Aint size = 0, position = 0;
    MPI_Comm parent, copy;

    SWITCH_A();
    CHECK_OK(MPI_Pack_external_size("external32", 4, MPI_INT, &size));
    CHECK(size == 16);
    CHECK_OK(MPI_Pack_external("external32", out, 4, MPI_INT, packed, sizeof packed, &position));
    CHECK(position == 16);
    if (check_simulated()) { /* stock Open MPI says 8 and packs 4 */
        long number = 0;
        MPI_Aint long_size = 0, long_end = 0;
        CHECK_OK(MPI_Pack_external_size("external32", 10, MPI_LONG, &long_size));
        CHECK_OK(MPI_Pack_external("external32", &number, 1, MPI_LONG, packed + 16, 16, &long_end));
        CHECK(long_size == 10 * long_end);
    }
    CHECK(packed[0] == 0 && packed[3] == 1); /* the most significant byte comes first */
    SWITCH_B();
    position = 0;
    CHECK_OK(MPI_Unpack_external("external32", packed, 16, &position, in, 4, MPI_INT));
    CHECK(position == 16 && !memcmp(in, out, sizeof in));
    CHECK_OK(MPI_Comm_get_parent(&parent));
    CHECK(parent == MPI_COMM_NULL);
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &copy));
    SWITCH_A();
    CHECK_OK(MPI_Barrier(copy));
    CHECK_OK(MPI_Comm_disconnect(&copy));
    CHECK(copy == MPI_COMM_NULL);
    return check_end("packexternal");
}
