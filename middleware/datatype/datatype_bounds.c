/* SPDX-License-Identifier: BSD-3-Clause */
/* Size and bounds of a datatype from its recipe: MPI 3.1 section 4.1. Nothing here needs a rank or an
 * implementation. */
#include "middleware/datatype/datatype.h"

/* The bounds of a type map under construction. Marked and natural bounds are kept apart until the end,
 * because a single marker makes all natural ones void. */
struct builder {
    MPI_Count size, elements;
    MPI_Aint natural_lb, natural_ub, marked_lb, marked_ub, true_lb, true_ub;
    bool lb_marked, ub_marked, any_natural_lb, any_natural_ub, any_data;
    bool in_order; /* so far, each block starts where the one before ended */
    bool plain;
    bool overflow;
    int align;
};

static void builder_begin(struct builder *b)
{
    *b = (struct builder){.in_order = true, .plain = true, .align = 1};
}

static MPI_Aint times(struct builder *b, MPI_Aint x, MPI_Aint y)
{
    MPI_Aint result;
    if (__builtin_mul_overflow(x, y, &result))
        b->overflow = true;
    return result;
}

static MPI_Aint plus(struct builder *b, MPI_Aint x, MPI_Aint y)
{
    MPI_Aint result;
    if (__builtin_add_overflow(x, y, &result))
        b->overflow = true;
    return result;
}

static void lower(MPI_Aint *bound, bool *known, MPI_Aint value)
{
    if (!*known || value < *bound)
        *bound = value;
    *known = true;
}

static void raise_to(MPI_Aint *bound, bool *known, MPI_Aint value)
{
    if (!*known || value > *bound)
        *bound = value;
    *known = true;
}

/* Widens the bounds by one item of a type at a displacement. */
static void cover(struct builder *b, const struct pf_bounds *type, MPI_Aint disp)
{
    MPI_Aint lb = plus(b, disp, type->lb), ub = plus(b, disp, type->ub);
    if (type->lb_marked)
        lower(&b->marked_lb, &b->lb_marked, lb);
    else if (type->elements)
        lower(&b->natural_lb, &b->any_natural_lb, lb);
    if (type->ub_marked)
        raise_to(&b->marked_ub, &b->ub_marked, ub);
    else if (type->elements)
        raise_to(&b->natural_ub, &b->any_natural_ub, ub);
    if (type->elements) {
        bool known = b->any_data;
        lower(&b->true_lb, &known, plus(b, disp, type->true_lb));
        raise_to(&b->true_ub, &b->any_data, plus(b, disp, type->true_ub));
    }
}

/* Adds `repeat` blocks of `length` consecutive items, the first at `disp`, `stride` bytes apart. Bounds are
 * linear in the position, so the corners decide. */
static void add(struct builder *b, const struct pf_bounds *type, MPI_Aint length, MPI_Aint disp,
                MPI_Aint repeat, MPI_Aint stride)
{
    MPI_Aint block = times(b, length, (MPI_Aint)type->size);
    if (repeat > 0)
        b->in_order = b->in_order && disp == (MPI_Aint)b->size && (repeat == 1 || stride == block) &&
                      (length == 0 || type->dense);
    if (length == 0 || repeat == 0)
        return;
    MPI_Aint last_item = times(b, length - 1, type->ub - type->lb);
    MPI_Aint last_block = times(b, repeat - 1, stride);
    cover(b, type, disp);
    cover(b, type, plus(b, disp, last_item));
    cover(b, type, plus(b, disp, last_block));
    cover(b, type, plus(b, plus(b, disp, last_block), last_item));
    MPI_Aint items = times(b, length, repeat);
    b->size = plus(b, (MPI_Aint)b->size, times(b, items, (MPI_Aint)type->size));
    b->elements = plus(b, (MPI_Aint)b->elements, times(b, items, (MPI_Aint)type->elements));
    b->plain = b->plain && type->plain;
    if (type->align > b->align)
        b->align = type->align;
}

/* The smallest increment that makes the extent a multiple of the alignment. */
static MPI_Aint padding(MPI_Aint extent, int align)
{
    MPI_Aint rest = extent > 0 ? extent % align : 0;
    return rest ? align - rest : 0;
}

static int builder_end(const struct builder *b, struct pf_bounds *out)
{
    MPI_Aint lb = b->lb_marked ? b->marked_lb : b->natural_lb;
    MPI_Aint ub = b->ub_marked ? b->marked_ub : b->any_natural_ub ? b->natural_ub : lb;
    if (!b->ub_marked)
        ub += padding(ub - lb, b->align);
    *out = (struct pf_bounds){.size = b->size,
                              .elements = b->elements,
                              .lb = lb,
                              .ub = ub,
                              .true_lb = b->true_lb,
                              .true_ub = b->true_ub,
                              .align = b->align,
                              .lb_marked = b->lb_marked,
                              .ub_marked = b->ub_marked,
                              .dense = b->in_order && lb == 0 && ub == (MPI_Aint)b->size,
                              .plain = b->plain};
    return b->overflow ? MPI_ERR_ARG : MPI_SUCCESS;
}

static void add_blocks(struct builder *b, const struct pf_datatype *type, const struct pf_bounds *old)
{
    const int *integers = type->integers;
    int count = integers[0];
    MPI_Aint extent = old->ub - old->lb;
    for (int i = 0; i < count; i++) {
        switch (type->combiner) {
        case MPI_COMBINER_INDEXED:
            add(b, old, integers[1 + i], times(b, integers[1 + count + i], extent), 1, 0);
            break;
        case MPI_COMBINER_HINDEXED:
            add(b, old, integers[1 + i], type->addresses[i], 1, 0);
            break;
        case MPI_COMBINER_INDEXED_BLOCK:
            add(b, old, integers[1], times(b, integers[2 + i], extent), 1, 0);
            break;
        default: /* MPI_COMBINER_HINDEXED_BLOCK */
            add(b, old, integers[1], type->addresses[i], 1, 0);
            break;
        }
    }
}

static void add_fields(struct builder *b, const struct pf_datatype *type)
{
    for (int i = 0; i < type->integers[0]; i++) {
        struct pf_bounds field;
        pf_datatype_bounds(type->types[i], &field);
        add(b, &field, type->integers[1 + i], type->addresses[i], 1, 0);
    }
}

static void resize(const struct pf_datatype *type, struct pf_bounds *bounds)
{
    bounds->dense = bounds->dense && type->addresses[0] == 0 && type->addresses[1] == (MPI_Aint)bounds->size;
    bounds->lb = type->addresses[0];
    bounds->ub = type->addresses[0] + type->addresses[1];
    bounds->lb_marked = bounds->ub_marked = true;
}

/* Types that are another one under a new combiner. Returns false for the others. */
static bool same_as_another(struct pf_datatype *type)
{
    switch (type->combiner) {
    case MPI_COMBINER_DUP:
        pf_datatype_bounds(type->types[0], &type->bounds);
        return true;
    case MPI_COMBINER_RESIZED:
        pf_datatype_bounds(type->types[0], &type->bounds);
        resize(type, &type->bounds);
        return true;
    case MPI_COMBINER_SUBARRAY:
    case MPI_COMBINER_DARRAY:
    case MPI_COMBINER_F90_REAL:
    case MPI_COMBINER_F90_COMPLEX:
    case MPI_COMBINER_F90_INTEGER:
        pf_datatype_bounds(type->expansion, &type->bounds);
        return true;
    default:
        return false;
    }
}

static int measure_blocks(struct pf_datatype *type)
{
    struct builder b;
    struct pf_bounds old = {0};
    const int *integers = type->integers;
    builder_begin(&b);
    if (type->combiner != MPI_COMBINER_STRUCT)
        pf_datatype_bounds(type->types[0], &old);
    switch (type->combiner) {
    case MPI_COMBINER_CONTIGUOUS:
        add(&b, &old, integers[0], 0, 1, 0);
        break;
    case MPI_COMBINER_VECTOR:
        add(&b, &old, integers[1], 0, integers[0], times(&b, integers[2], old.ub - old.lb));
        break;
    case MPI_COMBINER_HVECTOR:
        add(&b, &old, integers[1], 0, integers[0], type->addresses[0]);
        break;
    case MPI_COMBINER_STRUCT:
        add_fields(&b, type);
        break;
    default:
        add_blocks(&b, type, &old);
        break;
    }
    return builder_end(&b, &type->bounds);
}

bool pf_datatype_begins_at_zero(MPI_Datatype handle)
{
    struct pf_bounds bounds;
    if (pf_datatype_size(handle) <= 0)
        return false;
    pf_datatype_bounds(handle, &bounds);
    return bounds.true_lb == 0;
}

int pf_datatype_measure(struct pf_datatype *type)
{
    int error = same_as_another(type) ? MPI_SUCCESS : measure_blocks(type);
    const struct pf_bounds *bounds = &type->bounds;
    type->size = bounds->size;
    type->lb = bounds->lb;
    type->extent = bounds->ub - bounds->lb;
    type->true_lb = bounds->true_lb;
    type->true_extent = bounds->true_ub - bounds->true_lb;
    return error;
}
