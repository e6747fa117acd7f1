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

static int isend_and_progress(mca_mtl_base_module_t *mtl, ompi_communicator_t *comm, int to, int tag,
                              struct opal_convertor_t *convertor, mca_pml_base_send_mode_t mode)
{
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

static int send_and_progress(mca_mtl_base_module_t *mtl, ompi_communicator_t *comm, int to, int tag,
                             struct opal_convertor_t *convertor, mca_pml_base_send_mode_t mode)
{
    size_t bytes;
    bool before = pf_glue_waits.sending;
    opal_convertor_get_packed_size(convertor, &bytes);
    pf_glue_waits.sending = true;
    int status = bytes <= ELEMENT && mode == MCA_PML_BASE_SEND_STANDARD
                     ? stock_send(mtl, comm, to, tag, convertor, mode)
                     : isend_and_progress(mtl, comm, to, tag, convertor, mode);
    pf_glue_waits.sending = before;
    return status;
}

void pf_glue_send_install(void)
{
    pf_glue_pml_install();
    if (!ompi_mtl)
        return;
    stock_send = ompi_mtl->mtl_send;
    ompi_mtl->mtl_send = send_and_progress;
}
