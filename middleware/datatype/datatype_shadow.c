/* SPDX-License-Identifier: BSD-3-Clause */
/* Native shadows of derived datatypes: the recipe is replayed, locally, at first use. */
#include <stdlib.h>

#include "base/memory.h"
#include "middleware/core/call.h"
#include "middleware/core/rank_objects.h"
#include "middleware/datatype/datatype.h"

static bool is_f90(const struct pf_datatype *type)
{
    return type->combiner == MPI_COMBINER_F90_REAL || type->combiner == MPI_COMBINER_F90_COMPLEX ||
           type->combiner == MPI_COMBINER_F90_INTEGER;
}

/* Open MPI 4.1.4 takes a distance of -1 byte for "as far as the extent", so such vectors are built from
 * places. */
static int build_backwards(struct pf_instance *in, int count, int length, pf_native_datatype_t old,
                           pf_native_datatype_t *body)
{
    MPI_Aint *places = pf_malloc((size_t)count * sizeof *places);
    for (int i = 0; i < count; i++)
        places[i] = -(MPI_Aint)i;
    int code = in->fn->Type_create_hindexed_block(count, length, places, old, body);
    free(places);
    return code;
}

static bool goes_back_one_byte(const struct pf_datatype *type)
{
    struct pf_bounds old;
    if (type->combiner == MPI_COMBINER_HVECTOR)
        return type->addresses[0] == -1;
    pf_datatype_bounds(type->types[0], &old);
    return type->integers[2] * (old.ub - old.lb) == -1;
}

static int build_blocks(struct pf_instance *in, const struct pf_datatype *type, pf_native_datatype_t old,
                        pf_native_datatype_t *body)
{
    const int *i = type->integers;
    if ((type->combiner == MPI_COMBINER_VECTOR || type->combiner == MPI_COMBINER_HVECTOR) &&
        goes_back_one_byte(type))
        return build_backwards(in, i[0], i[1], old, body);
    switch (type->combiner) {
    case MPI_COMBINER_CONTIGUOUS:
        return in->fn->Type_contiguous(i[0], old, body);
    case MPI_COMBINER_VECTOR:
        return in->fn->Type_vector(i[0], i[1], i[2], old, body);
    case MPI_COMBINER_HVECTOR:
        return in->fn->Type_create_hvector(i[0], i[1], type->addresses[0], old, body);
    case MPI_COMBINER_INDEXED:
        return in->fn->Type_indexed(i[0], i + 1, i + 1 + i[0], old, body);
    case MPI_COMBINER_HINDEXED:
        return in->fn->Type_create_hindexed(i[0], i + 1, type->addresses, old, body);
    case MPI_COMBINER_INDEXED_BLOCK:
        return in->fn->Type_create_indexed_block(i[0], i[1], i + 2, old, body);
    case MPI_COMBINER_HINDEXED_BLOCK:
        return in->fn->Type_create_hindexed_block(i[0], i[1], type->addresses, old, body);
    default: /* the same data as another type */
        return in->fn->Type_contiguous(1, old, body);
    }
}

/* Fields without data (markers among them) only matter for the bounds, which are set afterwards. */
static int build_struct(struct pf_instance *in, const struct pf_datatype *type, pf_native_datatype_t *body)
{
    size_t count = (size_t)type->type_count;
    pf_native_datatype_t *types = pf_malloc(count * sizeof *types);
    MPI_Aint *places = pf_malloc(count * sizeof *places);
    int *lengths = pf_malloc(count * sizeof *lengths);
    int n = 0;
    for (size_t i = 0; i < count; i++) {
        struct pf_bounds field;
        pf_datatype_bounds(type->types[i], &field);
        if (field.elements == 0 || type->integers[1 + i] == 0)
            continue;
        types[n] = pf_native(in, type->types[i]);
        places[n] = type->addresses[i];
        lengths[n++] = type->integers[1 + i];
    }
    int code = in->fn->Type_create_struct(n, lengths, places, types, body);
    free(types);
    free(places);
    free(lengths);
    return code;
}

static int build_body(struct pf_instance *in, const struct pf_datatype *type, pf_native_datatype_t *body)
{
    if (type->bounds.elements == 0)
        return in->fn->Type_contiguous(0, pf_native(in, MPI_BYTE), body);
    if (type->combiner == MPI_COMBINER_STRUCT)
        return build_struct(in, type, body);
    return build_blocks(in, type, pf_native(in, type->expansion ? type->expansion : type->types[0]), body);
}

static bool has_bounds(struct pf_instance *in, const struct pf_datatype *type, pf_native_datatype_t body)
{
    MPI_Aint lb = 0, extent = 0;
    return in->fn->Type_get_extent(body, &lb, &extent) == 0 && lb == type->lb && extent == type->extent;
}

/* Gives the body the middleware's bounds; the body is used up. */
static int set_bounds(struct pf_instance *in, const struct pf_datatype *type, pf_native_datatype_t body,
                      pf_native_datatype_t *shadow)
{
    if (in->values->items_follow_blocks ? type->bounds.dense : has_bounds(in, type, body)) {
        *shadow = body;
        return 0;
    }
    int code = in->fn->Type_create_resized(body, type->lb, type->extent, shadow);
    in->fn->Type_free(&body);
    return code;
}

static int build(struct pf_instance *in, const struct pf_datatype *type, pf_native_datatype_t *shadow)
{
    pf_native_datatype_t body = NULL;
    int code = build_body(in, type, &body);
    if (code == 0)
        code = set_bounds(in, type, body, shadow);
    if (code == 0 && type->committed)
        code = in->fn->Type_commit(shadow);
    return code;
}

static void *datatype_shadow(struct pf_instance *in, struct pf_object *object)
{
    struct pf_datatype *type = (struct pf_datatype *)object;
    pf_native_datatype_t shadow = type->object.native[in->impl];
    if (shadow)
        return shadow;
    if (is_f90(type)) {
        shadow = in->predefined[(uintptr_t)type->expansion];
        type->object.native[in->impl] = shadow;
        return shadow;
    }
    struct pf_rank *r = type->owner;
    int before = pf_middleware_native_begin(r, in);
    int code = build(in, type, &shadow);
    pf_middleware_native_end(r, in, before);
    if (code != 0)
        return in->values->datatype_null;
    type->object.native[in->impl] = shadow;
    pf_datatype_native_add(r, in->impl, shadow, (MPI_Datatype)(uintptr_t)type);
    return shadow;
}

const struct pf_object_ops pf_datatype_ops = {.size = sizeof pf_datatype_ops, .shadow = datatype_shadow};

/* Calls a native function on each shadow that exists. */
static void on_shadows(struct pf_datatype *type, bool commit)
{
    struct pf_rank *r = type->owner;
    for (int impl = 0; impl < PF_IMPL_COUNT; impl++) {
        struct pf_instance *in = r->instances[impl];
        if (!in || !type->object.native[impl])
            continue;
        int before = pf_middleware_native_begin(r, in);
        (commit ? in->fn->Type_commit
                : in->fn->Type_free)(&(pf_native_datatype_t){type->object.native[impl]});
        pf_middleware_native_end(r, in, before);
    }
}

void pf_datatype_commit_shadows(struct pf_datatype *type)
{
    if (!is_f90(type))
        on_shadows(type, true);
}

void pf_datatype_free_shadows(struct pf_datatype *type)
{
    if (is_f90(type))
        return;
    for (int impl = 0; impl < PF_IMPL_COUNT; impl++)
        if (type->object.native[impl])
            pf_datatype_native_remove(type->owner, impl, type->object.native[impl]);
    on_shadows(type, false);
}
