/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The same scenarios from ranks of SMPI, whose library exports MPI_* and PMPI_* to the whole process: neither
 * implementation may call into the other. Arguments are those of smpi_main; the application finds
 * test_in_openmpi here.
 */
#include <stdlib.h>
#include <string.h>

#include <simgrid/actor.h>
#include <smpi/smpi.h>

#include "base/config.h"
#include "base/export.h"

/* Open MPI's header and SMPI's cannot meet in one file. */
struct rank;
struct rank *smpi_rank_new(int rank, int size);
void smpi_rank_run(struct rank *rank, const char *scenarios);

PF_EXPORT void *test_rank_new(int rank, int size);
PF_EXPORT void test_in_openmpi(void *rank, const char *scenarios);

void *test_rank_new(int rank, int size)
{
    return smpi_rank_new(rank, size);
}

void test_in_openmpi(void *rank, const char *scenarios)
{
    smpi_rank_run(rank, scenarios);
}

int main(int argc, char **argv)
{
    if (argc < 2)
        return 2;
    pf_config_load();
    /* smpi_main leaves argv[0] out: it wants the application first. */
    return smpi_main(argv[1], argc - 1, argv + 1);
}
