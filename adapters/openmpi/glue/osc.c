/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What keeps stock osc/pt2pt from wrong results, and over pml/ucx from waiting for ever. Where the data of an
 * MPI_Get_accumulate do not fit into a fragment, the target receives them into a buffer for packed elements
 * and sends its own elements back from the window. It swaps the two descriptions: it receives the target's
 * derived type into the buffer, beyond its end, and sends packed elements from the window, gaps included. The
 * receive and the send follow each other with the same context, so here each gets what belongs to it.
 *
 * A target that sends its elements back learns by the tag in the status of that send whether they belong to a
 * lock, whose release it answers when all is done. pml/ucx leaves the status of sends without a tag: here it
 * gets one before the component looks.
 */
#include "ompi_config.h"

#include <stdlib.h>
#include <string.h>

#include "ompi/communicator/communicator.h"
#include "ompi/datatype/ompi_datatype.h"
#include "ompi/mca/pml/base/base.h"
#include "ompi/mca/osc/base/osc_base_obj_convert.h"
#include "ompi/request/request.h"

#include "adapters/openmpi/glue/internal.h"

typedef int receive_fn(void *buffer, int count, ompi_datatype_t *type, int from, int tag,
                       ompi_communicator_t *comm, ompi_request_t **request, ompi_request_complete_fn_t done,
                       void *context);
typedef int send_fn(const void *buffer, int count, ompi_datatype_t *type, int to, int tag,
                    ompi_communicator_t *comm, ompi_request_complete_fn_t done, void *context);

static receive_fn *stock_receive;
static send_fn *stock_send;

/* What the send with this context is to send; no context: none is expected. */
static struct {
    void *context;
    int count;
    ompi_datatype_t *type;
} expected;

/* Only this path of the component asks for the request of a receive of a derived type. */
static int receive_elements(void *buffer, int count, ompi_datatype_t *type, int from, int tag,
                            ompi_communicator_t *comm, ompi_request_t **request,
                            ompi_request_complete_fn_t done, void *context)
{
    ompi_datatype_t *element = NULL;
    uint32_t elements = 0;
    if (!request || ompi_datatype_is_predefined(type) ||
        ompi_osc_base_get_primitive_type_info(type, &element, &elements) != OMPI_SUCCESS || !element)
        return stock_receive(buffer, count, type, from, tag, comm, request, done, context);
    expected.context = context;
    expected.count = count;
    expected.type = type;
    return stock_receive(buffer, (int)elements * count, element, from, tag, comm, request, done, context);
}

/* What belongs to a send of the component. */
struct tagged {
    ompi_request_complete_fn_t done;
    void *context;
    int tag;
};

static int done_with_tag(ompi_request_t *request)
{
    struct tagged *tagged = request->req_complete_cb_data;
    ompi_request_complete_fn_t done = tagged->done;
    request->req_complete_cb_data = tagged->context;
    request->req_status.MPI_TAG = tagged->tag;
    free(tagged);
    return done(request);
}

static int send_with_tag(const void *buffer, int count, ompi_datatype_t *type, int to, int tag,
                         ompi_communicator_t *comm, ompi_request_complete_fn_t done, void *context)
{
    struct tagged *tagged = malloc(sizeof *tagged);
    if (!tagged)
        return OMPI_ERR_OUT_OF_RESOURCE;
    *tagged = (struct tagged){done, context, tag};
    return stock_send(buffer, count, type, to, tag, comm, done_with_tag, tagged);
}

static int send_what_was_meant(const void *buffer, int count, ompi_datatype_t *type, int to, int tag,
                               ompi_communicator_t *comm, ompi_request_complete_fn_t done, void *context)
{
    if (expected.context && expected.context == context) {
        expected.context = NULL;
        count = expected.count;
        type = expected.type;
    }
    bool ucx = strcmp(mca_pml_base_selected_component.pmlm_version.mca_component_name, "ucx") == 0;
    return (ucx ? send_with_tag : stock_send)(buffer, count, type, to, tag, comm, done, context);
}

void *pf_glue_osc_receive(void *function)
{
    stock_receive = (receive_fn *)function;
    return (void *)receive_elements;
}

void *pf_glue_osc_send(void *function)
{
    stock_send = (send_fn *)function;
    return (void *)send_what_was_meant;
}
