/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PF_ADAPTERS_LOCAL_BLOCKS_H
#define PF_ADAPTERS_LOCAL_BLOCKS_H

#include <stdbool.h>

/*
 * The layout of a derived datatype of SMPI as rows of equal blocks, found once for each type. SMPI walks
 * through the tree of the type for each item, with a function call for each block: a face of a cube has as
 * many blocks as points. Each returns false where a layout is too long for that, or SMPI's items do not
 * follow each other by the extent: then nothing was moved.
 */
#ifdef __cplusplus
extern "C" {
#endif

bool pf_blocks_pack(void *type, int count, const void *from, void *packed);
bool pf_blocks_unpack(void *type, int count, const void *packed, void *to);

#ifdef __cplusplus
}
#endif

#endif
