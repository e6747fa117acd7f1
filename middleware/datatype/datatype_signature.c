/* SPDX-License-Identifier: BSD-3-Clause */
/* Bytes and basic elements along the type signature: what MPI_Get_elements needs for partly filled items. */
#include "middleware/core/call.h"
#include "middleware/core/rank_objects.h"
#include "middleware/datatype/datatype.h"

int pf_datatype_runs(const struct pf_datatype *type)
{
    return type->combiner == MPI_COMBINER_STRUCT ? type->integers[0] : 1;
}

static MPI_Count items_of(const struct pf_datatype *type)
{
    const int *integers = type->integers;
    MPI_Count sum = 0;
    switch (type->combiner) {
    case MPI_COMBINER_CONTIGUOUS:
        return integers[0];
    case MPI_COMBINER_VECTOR:
    case MPI_COMBINER_HVECTOR:
    case MPI_COMBINER_INDEXED_BLOCK:
    case MPI_COMBINER_HINDEXED_BLOCK:
        return (MPI_Count)integers[0] * integers[1];
    case MPI_COMBINER_INDEXED:
    case MPI_COMBINER_HINDEXED:
        for (int i = 0; i < integers[0]; i++)
            sum += integers[1 + i];
        return sum;
    default:
        return 1;
    }
}

struct pf_datatype_run pf_datatype_run_at(const struct pf_datatype *type, int i)
{
    if (type->combiner == MPI_COMBINER_STRUCT)
        return (struct pf_datatype_run){type->types[i], type->integers[1 + i]};
    return (struct pf_datatype_run){type->expansion ? type->expansion : type->types[0], items_of(type)};
}

static MPI_Count elements_of(MPI_Datatype handle)
{
    struct pf_bounds bounds;
    pf_datatype_bounds(handle, &bounds);
    return bounds.elements;
}

/* Sizes of predefined types in the implementations, 0 while unknown. The same for all ranks. */
static int native_sizes[PF_IMPL_COUNT][PF_PREDEFINED_LIMIT];

static MPI_Count named_bytes(struct pf_rank *r, MPI_Datatype handle, int impl)
{
    struct pf_instance *in = r ? r->instances[impl] : NULL;
    uintptr_t value = (uintptr_t)handle;
    if (!in || !pf_datatype_named(handle))
        return pf_datatype_sizes[value];
    int *size = &native_sizes[impl][value];
    if (*size == 0) {
        int before = pf_middleware_native_begin(r, in);
        if (in->fn->Type_size(in->predefined[value], size) != 0 || *size <= 0)
            *size = pf_datatype_sizes[value];
        pf_middleware_native_end(r, in, before);
    }
    return *size;
}

MPI_Count pf_datatype_bytes(struct pf_rank *r, MPI_Datatype handle, int impl)
{
    struct pf_bounds bounds;
    pf_datatype_bounds(handle, &bounds);
    if (impl < 0 || bounds.plain)
        return bounds.size;
    if (pf_is_predefined(handle))
        return named_bytes(r, handle, impl);
    const struct pf_datatype *type = pf_datatype_of(handle);
    MPI_Count bytes = 0;
    for (int i = 0; i < pf_datatype_runs(type); i++) {
        struct pf_datatype_run run = pf_datatype_run_at(type, i);
        bytes += run.items * pf_datatype_bytes(r, run.type, impl);
    }
    return bytes;
}

/* The elements in the first *bytes bytes of one item, which are not all of it; subtracts their bytes. */
static MPI_Count partial_elements(struct pf_rank *r, MPI_Datatype handle, int impl, MPI_Count *bytes)
{
    const struct pf_named_type *named = pf_datatype_named(handle);
    if (named) {
        if (!named->parts[1] || *bytes < named->parts[0])
            return 0;
        *bytes -= named->parts[0];
        return 1;
    }
    const struct pf_datatype *type = pf_datatype_of(handle);
    MPI_Count elements = 0;
    for (int i = 0; type && i < pf_datatype_runs(type); i++) {
        struct pf_datatype_run run = pf_datatype_run_at(type, i);
        MPI_Count item = pf_datatype_bytes(r, run.type, impl);
        if (item == 0)
            continue;
        MPI_Count whole = *bytes / item < run.items ? *bytes / item : run.items;
        elements += whole * elements_of(run.type);
        *bytes -= whole * item;
        if (whole < run.items)
            return elements + partial_elements(r, run.type, impl, bytes);
    }
    return elements;
}

MPI_Count pf_datatype_elements(struct pf_rank *r, MPI_Datatype handle, int impl, MPI_Count bytes)
{
    MPI_Count item = pf_datatype_bytes(r, handle, impl);
    if (item == 0)
        return 0;
    MPI_Count elements = bytes / item * elements_of(handle);
    bytes %= item;
    elements += partial_elements(r, handle, impl, &bytes);
    return bytes == 0 ? elements : -1;
}

static MPI_Count partial_bytes(MPI_Datatype handle, MPI_Count elements)
{
    const struct pf_named_type *named = pf_datatype_named(handle);
    if (named)
        return elements > 0 ? named->parts[0] : 0;
    const struct pf_datatype *type = pf_datatype_of(handle);
    MPI_Count bytes = 0;
    for (int i = 0; type && elements > 0 && i < pf_datatype_runs(type); i++) {
        struct pf_datatype_run run = pf_datatype_run_at(type, i);
        MPI_Count each = elements_of(run.type);
        if (each == 0)
            continue;
        MPI_Count whole = elements / each < run.items ? elements / each : run.items;
        bytes += whole * pf_datatype_size(run.type);
        elements -= whole * each;
        if (whole < run.items)
            return bytes + partial_bytes(run.type, elements);
    }
    return bytes;
}

MPI_Count pf_datatype_element_bytes(MPI_Datatype handle, MPI_Count elements)
{
    MPI_Count each = elements_of(handle);
    if (each == 0)
        return 0;
    return elements / each * pf_datatype_size(handle) + partial_bytes(handle, elements % each);
}

MPI_Count pf_datatype_longs(MPI_Datatype handle)
{
    if (handle == MPI_LONG || handle == MPI_UNSIGNED_LONG || handle == MPI_LONG_INT)
        return 1;
    const struct pf_datatype *type = pf_datatype_of(handle);
    MPI_Count longs = 0;
    for (int i = 0; type && i < pf_datatype_runs(type); i++) {
        struct pf_datatype_run run = pf_datatype_run_at(type, i);
        longs += run.items > 0 ? run.items * pf_datatype_longs(run.type) : 0;
    }
    return longs;
}
