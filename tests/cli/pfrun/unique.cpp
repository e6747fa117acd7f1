/* SPDX-License-Identifier: BSD-3-Clause */
/* Each rank counts its own visits in what g++ defines once per process. */
#include <cstdio>
#include <mpi.h>

template <typename T> struct Counter {
    static int value;
};
template <typename T> int Counter<T>::value = 0;

inline int variable = 0;

inline int &instance()
{
    static int one = 0;
    return one;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    ++instance(), ++variable, ++Counter<int>::value;
    MPI_Barrier(MPI_COMM_WORLD);
    std::printf("once in inline functions, variables, templates: %d %d %d\n", instance(), variable,
                Counter<int>::value);
    MPI_Finalize();
}
