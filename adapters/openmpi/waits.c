/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads requests of Open MPI where the NIC's events lead to them. Compiled with its headers. */
#include "ompi_config.h"

#include <string.h>

#include "ompi/mca/coll/base/coll_tags.h"
#include "ompi/mca/mtl/mtl.h"
#include "ompi/request/request.h"

#include "adapters/openmpi/glue/glue.h"
#include "adapters/openmpi/private/private.h"
#include "adapters/openmpi/waits.h"

/* Some events belong to no request: the component looks at them no further. */
static bool is_kind(const mca_mtl_request_t *request, int kind)
{
    int its;
    if (!request)
        return false;
    memcpy(&its, (const char *)request + PF_OMPI_MTL_KIND, sizeof its);
    return its == kind;
}

/* A short message that has come whole to a receive which was there before: no get follows, no answer. */
static bool completes_receive(const ptl_event_t *event)
{
    return event->type == PTL_EVENT_PUT && event->ptl_list == PTL_PRIORITY_LIST &&
           event->mlength == event->rlength && event->match_bits & PF_OMPI_MTL_SHORT &&
           is_kind(event->user_ptr, PF_OMPI_MTL_RECV);
}

/* An entry of the message's own would have to be withdrawn; a send that had no room could begin now. */
static bool completes_send(const struct pf_glue_waits *waits, const ptl_event_t *event)
{
    ptl_handle_me_t entry;
    int32_t gets;
    if (event->type != PTL_EVENT_ACK || *waits->pending_sends > 0 ||
        !is_kind(event->user_ptr, PF_OMPI_MTL_ISEND))
        return false;
    memcpy(&entry, (const char *)event->user_ptr + PF_OMPI_MTL_ENTRY, sizeof entry);
    memcpy(&gets, (const char *)event->user_ptr + PF_OMPI_MTL_GETS, sizeof gets);
    return PtlHandleIsEqual(entry, PTL_INVALID_HANDLE) && gets == 0;
}

/* The later rounds of nonblocking collectives begin from progress functions, also inside a send. */
static bool is_of_blocking_call(const ptl_event_t *event)
{
    enum { BITS = PF_OMPI_TAG_BITS + 1 };
    int tag = (int)(event->match_bits & ((1u << BITS) - 1));
    if (tag >> PF_OMPI_TAG_BITS)
        tag -= 1 << BITS;
    return tag > MCA_COLL_BASE_TAG_NONBLOCKING_BASE;
}

bool pf_ompi_event_completes(const void *request, const ptl_event_t *event)
{
    bool sent = event->type == PTL_EVENT_ACK && is_kind(event->user_ptr, PF_OMPI_MTL_ISEND);
    return (sent || completes_receive(event)) &&
           (const void *)((const mca_mtl_request_t *)event->user_ptr)->ompi_req == request;
}

bool pf_ompi_keeps_event(const void *arg, const ptl_event_t *event, int kept)
{
    const struct pf_glue_waits *waits = arg;
    if (event->ni_fail_type != PTL_NI_OK)
        return false;
    bool receive = completes_receive(event);
    if (!receive && !completes_send(waits, event))
        return false;
    const ompi_request_t *request = ((const mca_mtl_request_t *)event->user_ptr)->ompi_req;
    if (request->req_complete_cb)
        return false;
    if (receive && waits->sending && is_of_blocking_call(event))
        return true;
    if (request->req_complete == REQUEST_PENDING || request->req_complete == REQUEST_COMPLETED)
        return false; /* no rank waits for it, but one may test it */
    const ompi_wait_sync_t *wait = (const void *)request->req_complete;
    return wait->count - kept > 1;
}
