/* SPDX-License-Identifier: BSD-3-Clause */
/* What private.h says of the stock Portals 4 components, by the headers of their sources. Compiled, never
 * linked. */
#include "ompi_config.h"

#include <stddef.h>

#include "ompi/mca/osc/base/base.h"
#include "ompi/mca/osc/osc.h"

#include "coll_portals4.h"
#include "mtl_portals4.h"
#include "mtl_portals4_request.h"
#include "osc_portals4.h"
#include "osc_portals4_request.h"

#include "adapters/openmpi/private/private.h"

_Static_assert(PF_OMPI_MTL_SHORT == MTL_PORTALS4_SHORT_MSG && PF_OMPI_MTL_LONG == MTL_PORTALS4_LONG_MSG,
               "the marks of short and long messages");
_Static_assert((PF_OMPI_CONTEXTS - 1ULL) << 42 == MTL_PORTALS4_CONTEXT_MASK &&
                   (MTL_PORTALS4_PROTOCOL_MASK | MTL_PORTALS4_SOURCE_MASK | MTL_PORTALS4_TAG_MASK) ==
                       ~MTL_PORTALS4_CONTEXT_MASK,
               "ids of communicators");
_Static_assert((PF_OMPI_CONTEXTS - 1ULL) << 46 == COLL_PORTALS4_CID_MASK, "ids in coll/portals4");
_Static_assert((1ULL << PF_OMPI_TAG_BITS) - 1 == MTL_PORTALS4_TAG_IGNR, "bits of a tag");
_Static_assert(PF_OMPI_MTL_ISEND == portals4_req_isend && PF_OMPI_MTL_RECV == portals4_req_recv &&
                   PF_OMPI_MTL_KIND == offsetof(ompi_mtl_portals4_base_request_t, type) &&
                   PF_OMPI_MTL_ENTRY == offsetof(ompi_mtl_portals4_isend_request_t, me_h) &&
                   PF_OMPI_MTL_GETS == offsetof(ompi_mtl_portals4_isend_request_t, pending_get),
               "requests of messages");
_Static_assert(PF_OMPI_MTL_PENDING ==
                   offsetof(mca_mtl_portals4_module_t, flowctl.pending_sends.opal_list_length),
               "sends that were put off");
_Static_assert(PF_OMPI_OSC_CONTROL == OSC_PORTALS4_MB_CONTROL && PF_OMPI_OSC_EXCLUSIVE == LOCK_EXCLUSIVE &&
                   PF_OMPI_OSC_LOCK == offsetof(ompi_osc_portals4_node_state_t, lock),
               "locks of windows");
_Static_assert(offsetof(ompi_osc_portals4_request_t, ops_expected) == sizeof(ompi_request_t),
               "requests of windows");
