/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Included before each file of the stock Portals 4 components, whose layouts of match bits leave 12 (mtl) and
 * 11 bits (coll) for the id of a communicator or window: 18 here, so that as many can be alive as programs
 * under mpirun have. The bits come from those for ranks (18 of 24 left) and for the number of an offloaded
 * collective (33 of 40), and all have the place that the macros of the components give them.
 */
#pragma once

#include "ompi_config.h"

#define PF_OMPI_CONTEXTS (1 << 18)

#if __has_include("mtl_portals4.h")
#include "mtl_portals4.h"

#undef MTL_PORTALS4_CONTEXT_MASK
#undef MTL_PORTALS4_SOURCE_MASK
#undef MTL_PORTALS4_SET_SEND_BITS
#undef MTL_PORTALS4_SET_RECV_BITS
#define MTL_PORTALS4_CONTEXT_MASK 0x0FFFFC0000000000ULL
#define MTL_PORTALS4_SOURCE_MASK  0x000003FFFF000000ULL

#define MTL_PORTALS4_SET_SEND_BITS(match_bits, contextid, source, tag, protocol)                             \
    ((match_bits) = (ptl_match_bits_t)(contextid) << 42 | (ptl_match_bits_t)(source) << 24 |                 \
                    (MTL_PORTALS4_TAG_MASK & (ptl_match_bits_t)(tag)) | (protocol))

#define MTL_PORTALS4_SET_RECV_BITS(match_bits, ignore_bits, contextid, source, tag)                          \
    ((ignore_bits) = MTL_PORTALS4_PROTOCOL_IGNR |                                                            \
                     ((source) == MPI_ANY_SOURCE ? MTL_PORTALS4_SOURCE_IGNR : 0) |                           \
                     ((tag) == MPI_ANY_TAG ? MTL_PORTALS4_TAG_IGNR : 0),                                     \
     (match_bits) = (ptl_match_bits_t)(contextid) << 42 |                                                    \
                    ((source) == MPI_ANY_SOURCE ? 0 : (ptl_match_bits_t)(source) << 24) |                    \
                    ((tag) == MPI_ANY_TAG ? 0 : MTL_PORTALS4_TAG_MASK & (ptl_match_bits_t)(tag)))
#endif

#if __has_include("coll_portals4.h")
#include "coll_portals4.h"

#undef COLL_PORTALS4_CID_MASK
#undef COLL_PORTALS4_ACK_MASK
#undef COLL_PORTALS4_RTR_MASK
#undef COLL_PORTALS4_TYPE_MASK
#undef COLL_PORTALS4_INTERNAL_MASK
#undef COLL_PORTALS4_OP_COUNT_MASK
#undef COLL_PORTALS4_SET_BITS
#define COLL_PORTALS4_CID_MASK      0xFFFFC00000000000ULL
#define COLL_PORTALS4_ACK_MASK      0x0000200000000000ULL
#define COLL_PORTALS4_RTR_MASK      0x0000100000000000ULL
#define COLL_PORTALS4_TYPE_MASK     0x00000FC000000000ULL
#define COLL_PORTALS4_INTERNAL_MASK 0x0000003E00000000ULL
#define COLL_PORTALS4_OP_COUNT_MASK 0x00000001FFFFFFFFULL

#define COLL_PORTALS4_SET_BITS(match_bits, contextid, ack, rtr, type, internal, op_count)                    \
    ((match_bits) = (ptl_match_bits_t)(contextid) << 46 | ((ptl_match_bits_t)(ack)&1) << 45 |                \
                    ((ptl_match_bits_t)(rtr)&1) << 44 | ((ptl_match_bits_t)(type)&0x3F) << 38 |              \
                    ((ptl_match_bits_t)(internal)&0x1F) << 33 |                                              \
                    ((ptl_match_bits_t)(op_count)&COLL_PORTALS4_OP_COUNT_MASK))
#endif
