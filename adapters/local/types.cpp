/* SPDX-License-Identifier: BSD-3-Clause */
/* Datatypes and operations of SMPI that its C interface does not describe. */
#include "adapters/local/types.h"

#include <algorithm>
#include <climits>
#include <cstdint>
#include <cstring>

#include <smpi/smpi.h>

#include "lowlevel/simgrid/private.h"

namespace
{

using pf_simgrid::type_committed, pf_simgrid::type_derived;

MPI_Datatype type_of(const void *handle)
{
    return static_cast<MPI_Datatype>(const_cast<void *>(handle));
}

MPI_Op op_of(const void *handle)
{
    return static_cast<MPI_Op>(const_cast<void *>(handle));
}

/* The walk through the blocks of an item. SMPI calls an operation for each block and gives it no context;
 * no other actor runs before the walk has ended. */
struct span {
    ptrdiff_t first, last;
} * walk;

void visit_block(void *, void *place, int *length, MPI_Datatype *type)
{
    ptrdiff_t at = reinterpret_cast<ptrdiff_t>(place);
    ptrdiff_t bytes = static_cast<ptrdiff_t>((*type)->size) * *length;
    if (bytes == 0)
        return;
    walk->first = std::min(walk->first, at);
    walk->last = std::max(walk->last, at + bytes);
}

/* SMPI computes bytes and items in an int, so that it gets no more than that at once: so many items, the
 * packed bytes before them, and where the first of them is. No item is as long. */
template <typename Work> void in_pieces(const void *type, int count, Work work)
{
    size_t size = type_of(type)->size, most = size > 0 ? INT_MAX / size : INT_MAX;
    ptrdiff_t extent = type_of(type)->ub - type_of(type)->lb;
    int n = static_cast<int>(std::min(most, static_cast<size_t>(std::max(count, 1))));
    int done = 0;
    do {
        int now = std::min(n, count - done);
        work(now, static_cast<size_t>(done) * size, done * extent);
        done += now;
    } while (done < count);
}

template <typename Byte> Byte *at(Byte *base, ptrdiff_t offset)
{
    return reinterpret_cast<Byte *>(reinterpret_cast<intptr_t>(base) + offset);
}

void (*visitor)(ptrdiff_t, int, void *); /* of pf_local_type_walk(), in the same way */

void tell_visitor(void *, void *place, int *length, MPI_Datatype *type)
{
    visitor(reinterpret_cast<ptrdiff_t>(place), *length, *type);
}

/* Many bits at once: SMPI's functions work on items, which may be single bytes. */
template <typename Combine> void combine_words(size_t bytes, const void *in, void *inout, Combine combine)
{
    auto from = static_cast<const unsigned char *>(in);
    auto to = static_cast<unsigned char *>(inout);
    uint64_t a, b;
    size_t done = 0;
    for (; done + sizeof a <= bytes; done += sizeof a) {
        memcpy(&a, from + done, sizeof a);
        memcpy(&b, to + done, sizeof b);
        b = combine(a, b);
        memcpy(to + done, &b, sizeof b);
    }
    for (; done < bytes; done++)
        to[done] = static_cast<unsigned char>(combine(from[done], to[done]));
}

void combine_bits(const void *op, size_t bytes, const void *in, void *inout)
{
    if (op == MPI_BOR)
        combine_words(bytes, in, inout, [](uint64_t a, uint64_t b) { return a | b; });
    else if (op == MPI_BAND)
        combine_words(bytes, in, inout, [](uint64_t a, uint64_t b) { return a & b; });
    else
        combine_words(bytes, in, inout, [](uint64_t a, uint64_t b) { return a ^ b; });
}

} // namespace

extern "C" bool pf_local_can_reduce(const void *op_handle, const void *type_handle)
{
    const simgrid::smpi::Op *op = op_of(op_handle);
    const simgrid::smpi::Datatype *type = type_of(type_handle);
    if (op == MPI_OP_NULL || op == MPI_REPLACE || op == MPI_NO_OP || type == MPI_DATATYPE_NULL)
        return false;
    return (type->flags & type_committed) && !type->deleted && !op->deleted &&
           (op->allowed_types == 0 || (op->allowed_types & type->flags));
}

extern "C" bool pf_local_can_accumulate(const void *op, const void *type)
{
    if (op == MPI_REPLACE || op == MPI_NO_OP)
        return true;
    return op != MPI_OP_NULL && op_of(op)->predefined && pf_local_can_reduce(op, type);
}

extern "C" bool pf_local_type_is_derived(const void *type)
{
    return type_of(type)->flags & type_derived;
}

extern "C" size_t pf_local_type_size(const void *type)
{
    return type_of(type)->size;
}

extern "C" ptrdiff_t pf_local_type_extent(const void *type)
{
    return type_of(type)->ub - type_of(type)->lb;
}

extern "C" void pf_local_type_span(void *handle, ptrdiff_t *first, ptrdiff_t *last)
{
    MPI_Datatype type = type_of(handle);
    span found = {type->lb, std::max(type->lb, type->ub)};
    if (type->flags & type_derived) {
        MPI_Op visit;
        PMPI_Op_create(visit_block, 1, &visit);
        walk = &found;
        type->unserialize(nullptr, nullptr, 1,
                          visit); /* only computes addresses: each block goes to the operation */
        walk = nullptr;
        PMPI_Op_free(&visit);
    }
    *first = found.first;
    *last = found.last;
}

extern "C" void pf_local_type_walk(void *type, int count, void (*visit)(ptrdiff_t, int, void *))
{
    MPI_Op walker;
    PMPI_Op_create(tell_visitor, 1, &walker);
    in_pieces(type, count, [&](int n, size_t, ptrdiff_t offset) {
        visitor = visit;
        type_of(type)->unserialize(nullptr, reinterpret_cast<void *>(offset), n, walker);
    });
    PMPI_Op_free(&walker);
}

extern "C" void pf_local_type_pack(void *type, int count, const void *from, void *packed)
{
    in_pieces(type, count, [&](int n, size_t done, ptrdiff_t offset) {
        int bytes = static_cast<int>(pf_local_type_size(type)) * n;
        simgrid::smpi::Datatype::copy(at(from, offset), n, type_of(type), at(packed, done), bytes, MPI_BYTE);
    });
}

extern "C" void pf_local_type_unpack_by_tree(void *type, int count, const void *packed, void *to)
{
    in_pieces(type, count, [&](int n, size_t done, ptrdiff_t offset) {
        int bytes = static_cast<int>(pf_local_type_size(type)) * n;
        simgrid::smpi::Datatype::copy(at(packed, done), bytes, MPI_BYTE, at(to, offset), n, type_of(type));
    });
}

extern "C" void pf_local_type_copy(void *type, int count, const void *from, void *to)
{
    in_pieces(type, count, [&](int n, size_t, ptrdiff_t offset) {
        simgrid::smpi::Datatype::copy(at(from, offset), n, type_of(type), at(to, offset), n, type_of(type));
    });
}

extern "C" void pf_local_type_serialize_by_tree(void *type, int count, const void *from, void *packed)
{
    in_pieces(type, count, [&](int n, size_t done, ptrdiff_t offset) {
        type_of(type)->serialize(at(from, offset), at(packed, done), n);
    });
}

extern "C" bool pf_local_type_is_ready(const void *handle)
{
    const simgrid::smpi::Datatype *type = type_of(handle);
    return type && type != MPI_DATATYPE_NULL && (type->flags & type_committed) && !type->deleted;
}

extern "C" void pf_local_type_keep(void *type)
{
    type_of(type)->ref();
}

extern "C" void pf_local_type_drop(void *type)
{
    simgrid::smpi::Datatype::unref(type_of(type));
}

extern "C" bool pf_local_op_is_commutative(const void *op)
{
    return op_of(op)->commutative;
}

extern "C" bool pf_local_op_is_predefined(const void *op)
{
    return op_of(op)->predefined;
}

extern "C" bool pf_local_op_is_of_bits(const void *op, const void *type)
{
    return (op == MPI_BOR || op == MPI_BAND || op == MPI_BXOR) && !(type_of(type)->flags & type_derived);
}

extern "C" void pf_local_op_apply(const void *op, void *type, int count, const void *in, void *inout)
{
    size_t bytes = type_of(type)->size * static_cast<size_t>(std::max(count, 0));
    if (pf_local_op_is_of_bits(op, type)) {
        combine_bits(op, bytes, in, inout);
        return;
    }
    op_of(op)->apply(in, inout, &count, type_of(type));
}

extern "C" void pf_local_op_combine(const void *op, void *type, int count, const void *in, void *inout)
{
    MPI_Datatype datatype = type_of(type);
    op_of(op)->function(const_cast<void *>(in), inout, &count, &datatype);
}

extern "C" void pf_local_keep(void *op, void *type)
{
    op_of(op)->ref();
    type_of(type)->ref();
}

extern "C" void pf_local_drop(void *op, void *type)
{
    MPI_Op gone = op_of(op);
    simgrid::smpi::Op::unref(&gone);
    simgrid::smpi::Datatype::unref(type_of(type));
}
