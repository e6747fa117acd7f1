/* SPDX-License-Identifier: BSD-3-Clause */
/* A communicator's number in Open MPI 5.0, and how one is made without it. */
#include "ompi_config.h"

#include "ompi/communicator/communicator.h"
#include "ompi/errhandler/errhandler.h"

#include "adapters/openmpi/glue/internal.h"

uint32_t pf_glue_comm_index(const struct ompi_communicator_t *comm)
{
    return comm->c_index;
}

/* All members know it by the same number. The extended one is set as Open MPI sets it where that is so. */
void pf_glue_comm_set_index(struct ompi_communicator_t *comm, uint32_t index)
{
    comm->c_flags |= OMPI_COMM_GLOBAL_INDEX;
    comm->c_index = index;
    comm->c_contextid.cid_base = 0;
    comm->c_contextid.cid_sub.u64 = index;
}

int pf_glue_comm_over(const int *world_ranks, int n, struct ompi_communicator_t **comm)
{
    ompi_request_t *request = NULL;
    return ompi_comm_set_nb(comm, &ompi_mpi_comm_world.comm, n, (int *)(uintptr_t)world_ranks, 0, NULL, NULL,
                            &ompi_mpi_errors_return.eh, NULL, NULL, 0, &request);
}

/* What pml/cm 4.1 does wrongly with sends is right here. */
void pf_glue_pml_install(void)
{
}
