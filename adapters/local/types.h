/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/*
 * Datatypes and operations of SMPI beyond its C interface (pf_local_probe checks the version). Handles
 * are SMPI's MPI_Datatype and MPI_Op. Nothing here takes simulated time or touches the clock that measures
 * the application.
 */
#ifdef __cplusplus
extern "C" {
#endif

/* Would SMPI accept the two in a reduction? The type is committed, none is freed, and the operation is
 * defined for it. */
bool pf_local_can_reduce(const void *op, const void *type);

/* The same for accumulating in a window: the operation is predefined, or MPI_REPLACE or MPI_NO_OP. */
bool pf_local_can_accumulate(const void *op, const void *type);

/* False for the predefined types and for what SMPI treats like them: items without gaps, one after the other.
 */
bool pf_local_type_is_derived(const void *type);

size_t pf_local_type_size(const void *type);

/* Bytes before and behind the place of an item that an item occupies, extent and data: [first, last). */
void pf_local_type_span(void *type, ptrdiff_t *first, ptrdiff_t *last);

ptrdiff_t pf_local_type_extent(const void *type);

/* An item is at most INT_MAX bytes of data; `packed` is without gaps. Gaps of the destination are not
 * written. */
void pf_local_type_pack(void *type, int count, const void *from, void *packed);
void pf_local_type_unpack(void *type, int count, const void *packed, void *to);
void pf_local_type_copy(void *type, int count, const void *from, void *to);

/* So many bytes of packed items; the last one may not be whole. */
void pf_local_type_unpack_bytes(void *type, const void *packed, size_t bytes, void *to);

/* Calls `visit` for each block of the data, in their order: so many items of a predefined type at an offset
 * from the address of the first item. */
void pf_local_type_walk(void *type, int count, void (*visit)(ptrdiff_t offset, int items, void *basic));

/* Like pf_local_type_pack, but callable outside a rank's context. */
void pf_local_type_serialize(void *type, int count, const void *from, void *packed);

/* Both as SMPI does it: a function call for each block, through the tree of the type. */
void pf_local_type_serialize_by_tree(void *type, int count, const void *from, void *packed);
void pf_local_type_unpack_by_tree(void *type, int count, const void *packed, void *to);

/* May messages use it? It is committed and not freed. */
bool pf_local_type_is_ready(const void *type);

/* It outlives its freeing by the user. */
void pf_local_type_keep(void *type);
void pf_local_type_drop(void *type);

bool pf_local_op_is_commutative(const void *op);
bool pf_local_op_is_predefined(const void *op);

/* It combines bits, each with those in the same place: whatever the order, the result is the same. */
bool pf_local_op_is_of_bits(const void *op, const void *type);

/* inout = in op inout */
void pf_local_op_apply(const void *op, void *type, int count, const void *in, void *inout);

/* The same for a predefined operation and datatype, callable outside a rank's context. */
void pf_local_op_combine(const void *op, void *type, int count, const void *in, void *inout);

/* Both outlive their freeing by the user. */
void pf_local_keep(void *op, void *type);
void pf_local_drop(void *op, void *type);

#ifdef __cplusplus
}
#endif
