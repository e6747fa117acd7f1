/* SPDX-License-Identifier: BSD-3-Clause */
/* A library of the standard ABI, with a variable that belongs to one rank. */
#include <mpi.h>

int library_calls(MPI_Comm comm);

int library_calls(MPI_Comm comm)
{
    static int calls;
    MPI_Barrier(comm);
    return ++calls;
}
