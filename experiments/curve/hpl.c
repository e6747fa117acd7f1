/* SPDX-License-Identifier: BSD-3-Clause */
/* HPL alone: HPC Challenge's unmodified HPL without the other benchmarks. Reads hpccinf.txt, appends to
 * hpccoutf.txt. */
#include <hpcc.h>

int main(int argc, char **argv)
{
    HPL_RuntimeData data;
    int failure = 0;

    MPI_Init(&argc, &argv);
    HPL_main(argc, argv, &data, &failure);
    MPI_Finalize();
    return failure;
}
