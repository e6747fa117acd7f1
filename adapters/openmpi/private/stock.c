/* SPDX-License-Identifier: BSD-3-Clause */
/* What private.h says of the stock Portals 4 components, by the headers of their sources. Compiled, never
 * linked. */
#include "ompi_config.h"

#include "coll_portals4.h"
#include "mtl_portals4.h"

#include "adapters/openmpi/private/private.h"

_Static_assert(PF_OMPI_MTL_SHORT == MTL_PORTALS4_SHORT_MSG && PF_OMPI_MTL_LONG == MTL_PORTALS4_LONG_MSG,
               "the marks of short and long messages");
_Static_assert((PF_OMPI_CONTEXTS - 1ULL) << 48 == MTL_PORTALS4_CONTEXT_MASK, "ids of communicators");
_Static_assert((PF_OMPI_COLL_CONTEXTS - 1ULL) << 53 == COLL_PORTALS4_CID_MASK, "ids in coll/portals4");
_Static_assert((1ULL << PF_OMPI_TAG_BITS) - 1 == MTL_PORTALS4_TAG_IGNR, "bits of a tag");
