/* SPDX-License-Identifier: BSD-3-Clause */
/* What pml/cm of Open MPI 4.1 does wrongly with the types of sends. */
#include "ompi_config.h"

#include <string.h>

#include "ompi/datatype/ompi_datatype.h"
#include "ompi/mca/pml/base/base.h"
#include "ompi/mca/pml/base/pml_base_request.h"
#include "ompi/mca/pml/pml.h"
#include "ompi/request/request.h"

#include "adapters/openmpi/glue/internal.h"

/*
 * pml/cm takes a reference to the type of a send, and another one where it should give the first back. Both
 * are given back here when the request is, so that a derived type does not stay behind. (Where the
 * application has freed an active request, that moment is unknown.)
 */
static ompi_request_free_fn_t stock_free;

static int free_send(ompi_request_t **request)
{
    mca_pml_base_request_t *send = (mca_pml_base_request_t *)*request; /* which those of pml/cm begin with */
    ompi_datatype_t *type = send->req_datatype;
    bool over = send->req_pml_complete;
    int status = stock_free(request);
    if (!over || ompi_datatype_is_predefined(type))
        return status;
    opal_obj_update((opal_object_t *)type, -1); /* never the last one: the other is left */
    OBJ_RELEASE(type);
    return status;
}

static void mend_free(ompi_request_t *request)
{
    if (request->req_free == free_send)
        return;
    stock_free = request->req_free;
    request->req_free = free_send;
}

static mca_pml_base_module_isend_fn_t stock_isend;

static int isend(const void *buf, size_t count, struct ompi_datatype_t *datatype, int to, int tag,
                 mca_pml_base_send_mode_t mode, struct ompi_communicator_t *comm,
                 struct ompi_request_t **request)
{
    int status = stock_isend(buf, count, datatype, to, tag, mode, comm, request);
    if (status == OMPI_SUCCESS && !ompi_datatype_is_predefined(datatype))
        mend_free(*request);
    return status;
}

static mca_pml_base_module_isend_init_fn_t stock_isend_init;

/*
 * pml/cm forgets in its persistent sends that contiguous data may begin elsewhere than at the buffer's
 * address. Long puts and accumulates of osc/pt2pt are such sends: they would send, or read, what is not
 * theirs.
 */
static int isend_init(const void *buf, size_t count, struct ompi_datatype_t *datatype, int to, int tag,
                      mca_pml_base_send_mode_t mode, struct ompi_communicator_t *comm,
                      struct ompi_request_t **request)
{
    if (mode != MCA_PML_BASE_SEND_BUFFERED && /* which packs */
        opal_datatype_is_contiguous_memory_layout(&datatype->super, count))
        buf = (const char *)buf + datatype->super.true_lb;
    int status = stock_isend_init(buf, count, datatype, to, tag, mode, comm, request);
    if (status == OMPI_SUCCESS && !ompi_datatype_is_predefined(datatype))
        mend_free(*request);
    return status;
}

void pf_glue_pml_install(void)
{
    if (strcmp(mca_pml_base_selected_component.pmlm_version.mca_component_name, "cm") != 0)
        return;
    stock_isend_init = mca_pml.pml_isend_init;
    mca_pml.pml_isend_init = isend_init;
    stock_isend = mca_pml.pml_isend;
    mca_pml.pml_isend = isend;
}
