/* SPDX-License-Identifier: BSD-3-Clause */
/* Wrong on purpose: more requests than the array holds. The sanitizer must see libparfocal read behind it. */
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Request *requests = malloc(sizeof *requests);
    requests[0] = MPI_REQUEST_NULL;
    MPI_Waitall(argc > 1 ? atoi(argv[1]) : 1, requests, MPI_STATUSES_IGNORE);
    free(requests);
    MPI_Finalize();
    return 0;
}
