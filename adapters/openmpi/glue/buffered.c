/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Buffered sends, as libraries over InfiniBand make them of short messages: the sender keeps a copy, and the
 * send has ended when its call returns. Stock mtl/portals4 ends every send with the NIC's acknowledgement,
 * which makes each exchange of a collective as long as the way there and back. The component sends the copy,
 * so that its flow control can still send again.
 */
#include "ompi_config.h"

#include <stdlib.h>
#include <string.h>

#include "ompi/communicator/communicator.h"
#include "ompi/datatype/ompi_datatype.h"
#include "ompi/mca/mtl/base/base.h"
#include "ompi/mca/mtl/base/mtl_base_datatype.h"
#include "ompi/mca/mtl/mtl.h"
#include "ompi/mca/pml/pml.h"
#include "ompi/proc/proc.h"
#include "ompi/request/request.h"
#include "opal/datatype/opal_convertor.h"

#include "adapters/openmpi/glue/internal.h"

struct buffered {
    ompi_request_t request; /* for the component, as in send.c */
    opal_convertor_t convertor;
    void *data;
    mca_mtl_request_t mtl; /* and what the component needs behind it */
};

static int (*stock_send)(mca_mtl_base_module_t *mtl, ompi_communicator_t *comm, int to, int tag,
                         struct opal_convertor_t *convertor, mca_pml_base_send_mode_t mode);
static int (*stock_isend)(mca_mtl_base_module_t *mtl, ompi_communicator_t *comm, int to, int tag,
                          struct opal_convertor_t *convertor, mca_pml_base_send_mode_t mode, bool blocking,
                          mca_mtl_request_t *request);

static void forget(struct buffered *b)
{
    OBJ_DESTRUCT(&b->convertor);
    free(b->data);
    free(b);
}

/* The component completes its request in a progress function, long after the program's send. */
static void sent(mca_mtl_request_t *request)
{
    forget((struct buffered *)request->ompi_req);
}

/* The message's data, without gaps, in memory of its own. */
static struct buffered *keep(mca_mtl_base_module_t *mtl, struct opal_convertor_t *convertor, size_t bytes)
{
    bool gaps;
    size_t length = bytes;
    void *at = NULL;
    struct buffered *b = calloc(1, sizeof *b + mtl->mtl_request_size);
    if (!b)
        return NULL;
    b->data = malloc(bytes ? bytes : 1);
    if (!b->data || ompi_mtl_datatype_pack(convertor, &at, &length, &gaps) != OMPI_SUCCESS) {
        free(b->data);
        free(b);
        return NULL;
    }
    memcpy(b->data, at, length);
    if (gaps)
        free(at);
    OBJ_CONSTRUCT(&b->convertor, opal_convertor_t);
    opal_convertor_copy_and_prepare_for_send(ompi_proc_local()->super.proc_convertor, &ompi_mpi_byte.dt.super,
                                             length, b->data, 0, &b->convertor);
    b->mtl.ompi_req = &b->request;
    b->mtl.completion_callback = sent;
    return b;
}

static bool buffers(struct opal_convertor_t *convertor, mca_pml_base_send_mode_t mode, size_t *bytes)
{
    opal_convertor_get_packed_size(convertor, bytes);
    return mode == MCA_PML_BASE_SEND_STANDARD && *bytes <= pf_glue_host->buffered_max;
}

static int send_copy(mca_mtl_base_module_t *mtl, ompi_communicator_t *comm, int to, int tag,
                     struct opal_convertor_t *convertor, size_t bytes)
{
    struct buffered *b = keep(mtl, convertor, bytes);
    if (!b)
        return OMPI_ERR_OUT_OF_RESOURCE;
    int status = stock_isend(mtl, comm, to, tag, &b->convertor, MCA_PML_BASE_SEND_STANDARD, false, &b->mtl);
    if (status != OMPI_SUCCESS)
        forget(b);
    return status;
}

static int buffered_send(mca_mtl_base_module_t *mtl, ompi_communicator_t *comm, int to, int tag,
                         struct opal_convertor_t *convertor, mca_pml_base_send_mode_t mode)
{
    size_t bytes;
    if (!buffers(convertor, mode, &bytes))
        return stock_send(mtl, comm, to, tag, convertor, mode);
    return send_copy(mtl, comm, to, tag, convertor, bytes);
}

static int buffered_isend(mca_mtl_base_module_t *mtl, ompi_communicator_t *comm, int to, int tag,
                          struct opal_convertor_t *convertor, mca_pml_base_send_mode_t mode, bool blocking,
                          mca_mtl_request_t *request)
{
    size_t bytes;
    if (!buffers(convertor, mode, &bytes))
        return stock_isend(mtl, comm, to, tag, convertor, mode, blocking, request);
    int status = send_copy(mtl, comm, to, tag, convertor, bytes);
    if (status != OMPI_SUCCESS)
        return status;
    request->ompi_req->req_status.MPI_ERROR = OMPI_SUCCESS;
    request->completion_callback(request);
    return OMPI_SUCCESS;
}

void pf_glue_buffered_install(void)
{
    if (!ompi_mtl || pf_glue_host->buffered_max == 0)
        return;
    stock_send = ompi_mtl->mtl_send;
    stock_isend = ompi_mtl->mtl_isend;
    ompi_mtl->mtl_send = buffered_send;
    ompi_mtl->mtl_isend = buffered_isend;
}
