/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An ordinary MPI program that describes the random datatypes. Stock Open MPI's answers are the expected ones
 * of the unit test: mpicc print_types.c -o p && mpirun -np 1 ./p >types.expected
 */
#include "type_cases.h"

int main(int argc, char **argv)
{
    char line[200];
    PMPI_Init(&argc, &argv);
    for (int i = 0; i < TYPE_CASE_COUNT; i++) {
        MPI_Datatype type = type_case(i);
        describe_type(i, type, line, sizeof line);
        puts(line);
        release(type);
    }
    PMPI_Finalize();
    return 0;
}
