/* SPDX-License-Identifier: BSD-3-Clause */
/* Where the names of the MPI functions lead: a run without a layer calls the functions beneath directly. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    int size;

    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    printf("%s %s\n", &MPI_Comm_size == &PMPI_Comm_size ? "direct" : "layer",
           &MPI_Waitall == &PMPI_Waitall ? "direct" : "layer");
    MPI_Finalize();
    return 0;
}
