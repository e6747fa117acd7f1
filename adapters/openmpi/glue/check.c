/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Is this the Open MPI whose headers the glue was compiled with? One object of each kind that it looks into
 * is compared with what public calls say of it, and the sizes of all with those that the libraries have for
 * them.
 */
#include "ompi_config.h"

#include <string.h>

#include "mpi.h"
#include "ompi/communicator/communicator.h"
#include "ompi/datatype/ompi_datatype.h"
#include "ompi/group/group.h"
#include "ompi/mca/pml/base/base.h"
#include "ompi/mca/pml/base/pml_base_request.h"
#include "ompi/mca/pml/pml.h"
#include "ompi/request/request.h"
#include "ompi/win/win.h"
#include "opal/class/opal_free_list.h"
#include "opal/class/opal_hash_table.h"
#include "opal/datatype/opal_convertor.h"

#include "adapters/openmpi/glue/internal.h"
#include "adapters/openmpi/private/private.h"
#include PF_OMPI_TYPES

static void same(const char *what, long long found, long long expected)
{
    if (found != expected)
        pf_glue_host->refuse(pf_glue_host->context, what, found, expected);
}

static void check_sizes(void)
{
#define X(type) same("the size of " #type, (long long)OBJ_CLASS(type)->cls_sizeof, (long long)sizeof(type));
    PF_OMPI_CLASSES(X)
#undef X
}

static void check_comm(void)
{
    ompi_communicator_t *comm = MPI_COMM_WORLD;
    char name[MPI_MAX_OBJECT_NAME];
    int rank, size, length;
    PMPI_Comm_rank(comm, &rank);
    PMPI_Comm_size(comm, &size);
    PMPI_Comm_get_name(comm, name, &length);
    same("the rank in a communicator", comm->c_my_rank, rank);
    same("the number of processes in a group", comm->c_local_group->grp_proc_count, size);
    same("the id of MPI_COMM_WORLD", pf_glue_comm_index(comm), 0);
    same("the place of MPI_COMM_WORLD", opal_pointer_array_get_item(&ompi_mpi_communicators, 0) == comm, 1);
    same("a communicator's name", strncmp(comm->c_name, name, sizeof name), 0);
    same("a communicator's table of collectives", comm->c_coll && comm->c_coll->coll_barrier, 1);
    same("the flag of an intercommunicator", OMPI_COMM_IS_INTER(comm), 0);
}

static void check_type(void)
{
    int length = 1, size;
    MPI_Aint place = 8, true_lb, true_extent;
    MPI_Datatype type;
    PMPI_Type_create_hindexed(1, &length, &place, MPI_INT, &type);
    PMPI_Type_size(type, &size);
    PMPI_Type_get_true_extent(type, &true_lb, &true_extent);
    same("a datatype's size", (long long)type->super.size, size);
    same("a datatype's lower bound", type->super.true_lb, true_lb);
    same("the flag of a derived datatype", ompi_datatype_is_predefined(type) != 0, 0);
    same("the flag of MPI_INT", ompi_datatype_is_predefined(MPI_INT) != 0, 1);
    PMPI_Type_free(&type);
}

/* A send that is never started. */
static void check_request(void)
{
    static int value;
    MPI_Request request;
    PMPI_Send_init(&value, 1, MPI_INT, 0, 0, MPI_COMM_SELF, &request);
    same("a request's state", request->req_state, OMPI_REQUEST_INACTIVE);
    same("the state of MPI_REQUEST_NULL", MPI_REQUEST_NULL->req_state, OMPI_REQUEST_INACTIVE);
    same("a request's communicator", request->req_mpi_object.comm == MPI_COMM_SELF, 1);
    if (strcmp(mca_pml_base_selected_component.pmlm_version.mca_component_name, "ucx") != 0)
        same("a request's datatype", ((mca_pml_base_request_t *)request)->req_datatype == MPI_INT, 1);
    same("a request's function that frees it", request->req_free != NULL, 1);
    PMPI_Request_free(&request);
}

static void check_pml(void)
{
    int *bound, set = 0;
    PMPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &bound, &set);
    same("the highest tag", mca_pml.pml_max_tag, set ? *bound : -1);
}

void pf_glue_check(void)
{
    if (pf_glue_host->rank != pf_glue_host->job_size - 1)
        return; /* all have copies of the same libraries; the last one's number says most */
    check_sizes();
    check_comm();
    check_type();
    check_request();
    check_pml();
}
