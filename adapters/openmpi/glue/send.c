/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Blocking sends. Stock mtl/portals4 waits for one by running its own progress function only, so a
 * nonblocking collective of the same rank stands still meanwhile, and the rank that waits for it never
 * receives: a deadlock of a correct program. Here a blocking send is the component's nonblocking one, and the
 * rank waits for it as for any request. The same calls reach the NIC in the same order.
 *
 * One caller must not see other components progress meanwhile: osc/pt2pt answers a compare-and-swap from
 * within a progress function, with its accumulate lock held, and the next compare-and-swap would wait for
 * that lock for ever. Such an answer is one element, so the smallest messages are sent as the component does
 * it.
 */
#include "ompi_config.h"

#include <alloca.h>
#include <string.h>

#include "ompi/communicator/communicator.h"
#include "ompi/datatype/ompi_datatype.h"
#include "ompi/mca/mtl/base/base.h"
#include "ompi/mca/mtl/mtl.h"
#include "ompi/mca/pml/base/base.h"
#include "ompi/mca/pml/base/pml_base_request.h"
#include "ompi/mca/pml/pml.h"
#include "ompi/request/request.h"
#include "opal/datatype/opal_convertor.h"
#include "opal/runtime/opal_progress.h"

#include "adapters/openmpi/glue/internal.h"

struct send {
    ompi_request_t request; /* for the component, which writes the error of the operation to its status */
    bool done;
};

static int (*stock_send)(mca_mtl_base_module_t *mtl, ompi_communicator_t *comm, int to, int tag,
                         struct opal_convertor_t *convertor, mca_pml_base_send_mode_t mode);

/* The largest type that MPI_Compare_and_swap takes (MPI 3.1 section 11.3.4). */
enum { ELEMENT = 16 };

static void send_done(mca_mtl_request_t *request)
{
    ((struct send *)request->ompi_req)->done = true;
}

static int send_and_progress(mca_mtl_base_module_t *mtl, ompi_communicator_t *comm, int to, int tag,
                             struct opal_convertor_t *convertor, mca_pml_base_send_mode_t mode)
{
    size_t bytes;
    opal_convertor_get_packed_size(convertor, &bytes);
    if (bytes <= ELEMENT && mode == MCA_PML_BASE_SEND_STANDARD)
        return stock_send(mtl, comm, to, tag, convertor, mode);
    struct send send;
    /* The component says how much it needs beyond the common part. */
    size_t size = sizeof(mca_mtl_request_t) + mtl->mtl_request_size;
    mca_mtl_request_t *request = alloca(size);
    memset(&send, 0, sizeof send);
    memset(request, 0, size);
    request->ompi_req = &send.request;
    request->completion_callback = send_done;
    int status = mtl->mtl_isend(mtl, comm, to, tag, convertor, mode, true, request);
    while (status == OMPI_SUCCESS && !send.done)
        opal_progress();
    return status == OMPI_SUCCESS ? send.request.req_status.MPI_ERROR : status;
}

/*
 * pml/cm takes a reference to the type of a send, and another one where it should give the first back. Both
 * are given back here when the request is, so that a derived type does not stay behind. (Where the
 * application has freed an active request, nobody knows when that is.)
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

static void pml_install(void)
{
    if (strcmp(mca_pml_base_selected_component.pmlm_version.mca_component_name, "cm") != 0)
        return;
    stock_isend_init = mca_pml.pml_isend_init;
    mca_pml.pml_isend_init = isend_init;
    stock_isend = mca_pml.pml_isend;
    mca_pml.pml_isend = isend;
}

void pf_glue_send_install(void)
{
    pml_install();
    if (!ompi_mtl)
        return;
    stock_send = ompi_mtl->mtl_send;
    ompi_mtl->mtl_send = send_and_progress;
}
