/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The local half of an MPI implementation, by SMPI's engine. Compiled with SMPI's own mpi.h: here MPI_INT is
 * SMPI's.
 */
#include "adapters/local/local.h"

#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <simgrid/version.h>
#include <smpi/smpi.h>

#include "adapters/local/types.h"
#include "adapters/predefined.h"
#include "base/error.h"
#include "lowlevel/simgrid/private.h"
#include "pf_own.h"

/* Types of Fortran that SMPI has not got, or has with another size than the middleware's. */
#define MPI_2COMPLEX        MPI_DATATYPE_NULL
#define MPI_2DOUBLE_COMPLEX MPI_DATATYPE_NULL
#undef MPI_INTEGER1
#undef MPI_INTEGER16 /* SMPI's ends the run in a reduction; this one is refused there, and as long */
#undef MPI_COMPLEX32
#define MPI_INTEGER1  MPI_INT8_T
#define MPI_INTEGER16 MPI_2LONG
#define MPI_COMPLEX32 MPI_C_LONG_DOUBLE_COMPLEX

/* SMPI defines C++'s types for C++ only. */
#undef MPI_CXX_BOOL
#undef MPI_CXX_FLOAT_COMPLEX
#undef MPI_CXX_DOUBLE_COMPLEX
#undef MPI_CXX_LONG_DOUBLE_COMPLEX
#define MPI_CXX_BOOL                MPI_C_BOOL
#define MPI_CXX_FLOAT_COMPLEX       MPI_C_FLOAT_COMPLEX
#define MPI_CXX_DOUBLE_COMPLEX      MPI_C_DOUBLE_COMPLEX
#define MPI_CXX_LONG_DOUBLE_COMPLEX MPI_C_LONG_DOUBLE_COMPLEX

const struct pf_native_values pf_local_values = {
    PF_NATIVE_NAMED_VALUES,
    .tag_upper_bound = 0x7fffffff,
    .items_follow_blocks = true,
    .most_item = INT_MAX, /* it counts bytes in an int */
    .status_size = sizeof(MPI_Status),
    .request_null = MPI_REQUEST_NULL,
};

int pf_local_probe(char *why, size_t why_size)
{
    int major, minor, patch;
    sg_version_get(&major, &minor, &patch);
    if (major == PF_SIMGRID_MAJOR && minor == PF_SIMGRID_MINOR)
        return PF_SUCCESS;
    snprintf(why, why_size,
             "SimGrid %d.%d.%d is installed, but Parfocal was built for %d.%d (package " PF_SIMGRID_PACKAGE
             "): install that, or build Parfocal again",
             major, minor, patch, PF_SIMGRID_MAJOR, PF_SIMGRID_MINOR);
    return PF_ERR_VERSION;
}

/* Nothing of it communicates. */
#define LOCAL_FUNCTIONS(X)                                                                                   \
    X(Type_contiguous)                                                                                       \
    X(Type_vector)                                                                                           \
    X(Type_create_hvector)                                                                                   \
    X(Type_indexed)                                                                                          \
    X(Type_create_hindexed)                                                                                  \
    X(Type_create_indexed_block)                                                                             \
    X(Type_create_hindexed_block)                                                                            \
    X(Type_create_struct)                                                                                    \
    X(Type_commit)                                                                                           \
    X(Type_free)                                                                                             \
    X(Type_size)                                                                                             \
    X(Type_get_extent)                                                                                       \
    X(Op_create)                                                                                             \
    X(Op_free)                                                                                               \
    X(Reduce_local)                                                                                          \
    X(Group_incl)                                                                                            \
    X(Group_free)                                                                                            \
    X(Info_create)                                                                                           \
    X(Info_set)                                                                                              \
    X(Info_free)                                                                                             \
    X(Wtime)                                                                                                 \
    X(Wtick)

/*
 * SMPI 3.32 finds the next item of a type not by the extent but where the last block of the one before ends,
 * plus the extent of an upper bound marker. A structure that ends with an empty block at the extent makes it
 * right for every type; only types without any gap need none.
 */
static int type_create_resized(MPI_Datatype old, MPI_Aint lb, MPI_Aint extent, MPI_Datatype *made)
{
    MPI_Datatype types[] = {MPI_LB, old, MPI_UB, MPI_BYTE};
    int lengths[] = {0, 1, 0, 0}; /* an accumulate applies its operation to whatever has a length */
    MPI_Aint places[] = {lb, 0, lb + extent, extent};
    return PMPI_Type_create_struct(4, lengths, places, types, made);
}

/*
 * SMPI packs the gaps of its pairs too. Without gaps, a pair is its value and its index: the bytes of the
 * value, and where the index begins. 0 for other types.
 */
static size_t value_bytes(MPI_Datatype type, size_t *index)
{
    *index = pf_local_type_extent(type) > 0 ? (size_t)pf_local_type_extent(type) / 2 : 0; /* of all pairs */
    return type == MPI_SHORT_INT         ? sizeof(short)
           : type == MPI_LONG_INT        ? sizeof(long)
           : type == MPI_DOUBLE_INT      ? sizeof(double)
           : type == MPI_LONG_DOUBLE_INT ? sizeof(long double)
                                         : 0;
}

/* SMPI goes through the tree of the type, and to unpack calls an operation for each block. Whatever is wrong
 * with the arguments it says. */
static bool packs_rows(int count, void *type, const void *comm, const void *packed, int size,
                       const int *position)
{
    return count > 0 && comm && packed && position && *position >= 0 && pf_local_type_is_ready(type) &&
           pf_local_type_is_derived(type) &&
           (int64_t)count * (int64_t)pf_local_type_size(type) <= (int64_t)size - *position;
}

static int pack_rows(const void *from, int count, void *type, void *packed, int size, int *position,
                     void *comm)
{
    if (!from || from == MPI_BOTTOM || !packs_rows(count, type, comm, packed, size, position))
        return PMPI_Pack(from, count, type, packed, size, position, comm);
    pf_local_type_serialize(type, count, from, (char *)packed + *position);
    *position += count * (int)pf_local_type_size(type);
    return MPI_SUCCESS;
}

static int unpack_rows(const void *packed, int size, int *position, void *to, int count, void *type,
                       void *comm)
{
    if (!to || to == MPI_BOTTOM || !packs_rows(count, type, comm, packed, size, position))
        return PMPI_Unpack(packed, size, position, to, count, type, comm);
    pf_local_type_unpack(type, count, (const char *)packed + *position, to);
    *position += count * (int)pf_local_type_size(type);
    return MPI_SUCCESS;
}

int pf_local_pack(const void *from, int count, void *type, void *packed, int size, int *position, void *comm)
{
    size_t index, value = type ? value_bytes(type, &index) : 0;
    if (value == 0 || count <= 0)
        return pack_rows(from, count, type, packed, size, position, comm);
    if ((size_t)count * (value + sizeof(int)) > (size_t)size - (size_t)*position)
        return MPI_ERR_ARG;
    for (const char *item = from; count > 0; count--, item += pf_local_type_extent(type)) {
        memcpy((char *)packed + *position, item, value);
        memcpy((char *)packed + *position + value, item + index, sizeof(int));
        *position += (int)(value + sizeof(int));
    }
    return MPI_SUCCESS;
}

int pf_local_unpack(const void *packed, int size, int *position, void *to, int count, void *type, void *comm)
{
    size_t index, value = type ? value_bytes(type, &index) : 0;
    if (value == 0 || count <= 0)
        return unpack_rows(packed, size, position, to, count, type, comm);
    if ((size_t)count * (value + sizeof(int)) > (size_t)size - (size_t)*position)
        return MPI_ERR_ARG;
    for (char *item = to; count > 0; count--, item += pf_local_type_extent(type)) {
        memcpy(item, (const char *)packed + *position, value);
        memcpy(item + index, (const char *)packed + *position + value, sizeof(int));
        *position += (int)(value + sizeof(int));
    }
    return MPI_SUCCESS;
}

/* SMPI asks for room for the gaps too, in an int. */
int pf_local_pack_size(int count, void *type, void *comm, int *size)
{
    size_t index, value = type ? value_bytes(type, &index) : 0;
    int code = PMPI_Pack_size(count > 0 ? 1 : count, type, comm, size);
    double bytes = code == MPI_SUCCESS
                       ? (double)count * (double)(value > 0 ? value + sizeof(int) : pf_local_type_size(type))
                       : 0;
    if (code != MPI_SUCCESS || bytes > INT_MAX)
        return code != MPI_SUCCESS ? code : MPI_ERR_COUNT;
    *size = (int)bytes;
    return MPI_SUCCESS;
}

static int pack(const void *from, int count, MPI_Datatype type, void *packed, int size, int *position,
                MPI_Comm comm)
{
    return pf_local_pack(from, count, type, packed, size, position, comm);
}

static int unpack(const void *packed, int size, int *position, void *to, int count, MPI_Datatype type,
                  MPI_Comm comm)
{
    return pf_local_unpack(packed, size, position, to, count, type, comm);
}

static int pack_size(int count, MPI_Datatype type, MPI_Comm comm, int *size)
{
    return pf_local_pack_size(count, type, comm, size);
}

void pf_local_install(struct pf_own_fn *fn)
{
#define X(stem) fn->stem = PMPI_##stem;
    LOCAL_FUNCTIONS(X)
#undef X
    fn->Pack = pack;
    fn->Unpack = unpack;
    fn->Pack_size = pack_size;
    fn->Type_create_resized = type_create_resized;
}

void pf_local_predefined(void **table)
{
    for (int i = 0; i < PF_PREDEFINED_LIMIT; i++)
        table[i] = NULL; /* every null handle of SMPI is NULL; a value that names nothing is not valid there
                            either */
#define X(name, value) table[value] = (void *)name;
    PF_PREDEFINED_LIST(X)
#undef X
    table[PF_PREDEFINED_GROUP_EMPTY] = MPI_GROUP_EMPTY;
}

void pf_local_status_get(const void *native, struct pf_native_status_view *out)
{
    const MPI_Status *status = native;
    out->source = status->MPI_SOURCE;
    out->tag = status->MPI_TAG;
    out->error = status->MPI_ERROR;
    out->cancelled = status->cancelled;
    out->bytes = status->count;
}

/* The engine's codes are its classes. */
int pf_local_error_class(struct pf_instance *in, int code)
{
    PF_RETURN_ERROR_CLASS(code);
}

/* Data that end inside an item, which SMPI would not unpack: where the rest of them goes. */
static struct {
    const char *packed;
    char *item;
    size_t bytes;
} part;

static void unpack_block(ptrdiff_t offset, int items, void *basic)
{
    size_t bytes = pf_local_type_size(basic) * (size_t)items;
    if (bytes > part.bytes)
        bytes = part.bytes;
    memcpy(part.item + offset, part.packed, bytes);
    part.packed += bytes;
    part.bytes -= bytes;
}

void pf_local_type_unpack_bytes(void *type, const void *packed, size_t bytes, void *to)
{
    if (bytes == 0)
        return;
    if (!pf_local_type_is_derived(type)) {
        memcpy(to, packed, bytes);
        return;
    }
    size_t size = pf_local_type_size(type), items = bytes / size;
    pf_local_type_unpack(type, (int)items, packed, to);
    part.packed = (const char *)packed + items * size;
    part.item = (char *)to + (ptrdiff_t)items * pf_local_type_extent(type);
    part.bytes = bytes - items * size;
    if (part.bytes > 0)
        pf_local_type_walk(type, 1, unpack_block);
}
