/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PF_CONFORMANCE_MPI1_OPENMPI_H
#define PF_CONFORMANCE_MPI1_OPENMPI_H

/*
 * The suite uses names that MPI 3.0 has removed. The distribution's Open MPI library has them, its header
 * hides them. mpicc includes this file first when it builds the suite, so that the programs need not be
 * changed.
 */
#define OMPI_OMIT_MPI1_COMPAT_DECLS 0
#define __mpi_interface_removed__(old_name, new_name)
#include <mpi.h>

extern struct ompi_predefined_datatype_t ompi_mpi_lb;
extern struct ompi_predefined_datatype_t ompi_mpi_ub;
#define MPI_LB                        OMPI_PREDEFINED_GLOBAL(MPI_Datatype, ompi_mpi_lb)
#define MPI_UB                        OMPI_PREDEFINED_GLOBAL(MPI_Datatype, ompi_mpi_ub)

#define MPI_COMBINER_HVECTOR_INTEGER  OMPI_WAS_MPI_COMBINER_HVECTOR_INTEGER
#define MPI_COMBINER_HINDEXED_INTEGER OMPI_WAS_MPI_COMBINER_HINDEXED_INTEGER
#define MPI_COMBINER_STRUCT_INTEGER   OMPI_WAS_MPI_COMBINER_STRUCT_INTEGER

#endif
