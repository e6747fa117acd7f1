/* SPDX-License-Identifier: BSD-3-Clause */
/* What keeps stock coll/portals4 from computing wrong results where its own tests have not been. */
#include "ompi_config.h"

#include <limits.h>
#include <stdlib.h>

#include "ompi/communicator/communicator.h"
#include "ompi/datatype/ompi_datatype.h"
#include "ompi/datatype/ompi_datatype_internal.h"
#include "ompi/mca/coll/coll.h"
#include "ompi/request/request.h"

#include "adapters/openmpi/glue/internal.h"
#include "lowlevel/portals/include/portals4.h"

static mca_coll_base_module_bcast_fn_t stock_bcast;

static size_t atomic_size(ptl_datatype_t type)
{
    static const size_t sizes[PTL_DATATYPE_LAST] = {
        [PTL_INT8_T] = 1,
        [PTL_UINT8_T] = 1,
        [PTL_INT16_T] = 2,
        [PTL_UINT16_T] = 2,
        [PTL_INT32_T] = 4,
        [PTL_UINT32_T] = 4,
        [PTL_INT64_T] = 8,
        [PTL_UINT64_T] = 8,
        [PTL_FLOAT] = sizeof(float),
        [PTL_FLOAT_COMPLEX] = 2 * sizeof(float),
        [PTL_DOUBLE] = sizeof(double),
        [PTL_DOUBLE_COMPLEX] = 2 * sizeof(double),
        [PTL_LONG_DOUBLE] = sizeof(long double),
        [PTL_LONG_DOUBLE_COMPLEX] = 2 * sizeof(long double),
    };
    return (unsigned)type < PTL_DATATYPE_LAST ? sizes[type] : 0;
}

/* The component's table takes MPI_INTEGER for 64 bits, and types that it has forgotten for bytes. Those stay
 * with the component that would reduce them otherwise. */
static void forget_wrong_types(ptl_datatype_t *types)
{
    for (int id = 0; id < OMPI_DATATYPE_MPI_MAX_PREDEFINED; id++)
        if (ompi_datatype_basicDatatypes[id] &&
            ompi_datatype_basicDatatypes[id]->super.size != atomic_size(types[id]))
            types[id] = (ptl_datatype_t)-1; /* none, see coll_portals4.h */
}

/* The component would receive a type with gaps in a buffer whose size it has not computed. What it gets to
 * see here is packed: contiguous bytes, of which all ranks have the same number. */

static int bcast(void *buffer, int count, ompi_datatype_t *type, int root, ompi_communicator_t *comm,
                 mca_coll_base_module_t *module)
{
    if (ompi_datatype_is_contiguous_memory_layout(type, count))
        return stock_bcast(buffer, count, type, root, comm, module);
    size_t size;
    ompi_datatype_type_size(type, &size);
    size *= (size_t)count;
    if (size > INT_MAX)
        return MPI_ERR_COUNT;
    int position = 0, bytes = (int)size, status = MPI_SUCCESS;
    void *packed = malloc(size ? size : 1);
    if (!packed)
        return MPI_ERR_NO_MEM;
    if (ompi_comm_rank(comm) == root)
        status = PMPI_Pack(buffer, count, type, packed, bytes, &position, comm);
    if (status == MPI_SUCCESS)
        status = stock_bcast(packed, bytes, MPI_BYTE, root, comm, module);
    if (status == MPI_SUCCESS && ompi_comm_rank(comm) != root)
        status = PMPI_Unpack(packed, bytes, &position, buffer, count, type, comm);
    free(packed);
    return status;
}

void *pf_glue_coll_repair(void *function, void *types)
{
    stock_bcast = (mca_coll_base_module_bcast_fn_t)function;
    forget_wrong_types(types);
    return (void *)bcast;
}

/* The component leaves the error of its requests as it found it in fresh memory, and MPI_Wait returns it. */
typedef int end_fn(ompi_request_t *request);
static end_fn *stock_end[PF_GLUE_COLL_ENDS];

static int end(int which, ompi_request_t *request)
{
    request->req_status.MPI_ERROR = MPI_SUCCESS;
    return stock_end[which](request);
}

static int end_0(ompi_request_t *request)
{
    return end(0, request);
}

static int end_1(ompi_request_t *request)
{
    return end(1, request);
}

static int end_2(ompi_request_t *request)
{
    return end(2, request);
}

static int end_3(ompi_request_t *request)
{
    return end(3, request);
}

void *pf_glue_coll_end(int which, void *function)
{
    static end_fn *const ends[PF_GLUE_COLL_ENDS] = {end_0, end_1, end_2, end_3};
    stock_end[which] = (end_fn *)function;
    return (void *)ends[which];
}
