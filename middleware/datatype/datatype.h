/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "middleware/core/object.h"

struct pf_attributes;

/* What MPI 3.1 section 4.1 defines for a type map, without the type map. */
struct pf_bounds {
    MPI_Count size;     /* bytes of data */
    MPI_Count elements; /* basic elements */
    MPI_Aint lb, ub, true_lb, true_ub;
    int align;
    bool lb_marked, ub_marked; /* by MPI_LB, MPI_UB or MPI_Type_create_resized: stays so in derived types */
    bool dense;                /* the data are 0..size in the order of the type map, and so is the extent */
    bool plain;                /* of predefined types whose size is the same in all implementations */
};

/*
 * A derived datatype: the recipe is what MPI_Type_get_contents returns. Size and bounds are the middleware's
 * own, by the standard's definitions (MPI 3.1 section 4.1), because implementations differ in the padding of
 * structures; a shadow whose bounds differ is resized.
 */
struct pf_datatype {
    struct pf_object object;
    struct pf_rank *owner;
    int combiner; /* middleware's MPI_COMBINER_* */
    int integer_count, address_count, type_count;
    int *integers;
    MPI_Aint *addresses;
    MPI_Datatype *types; /* each derived one holds a reference */
    MPI_Count size;      /* bytes of data */
    MPI_Aint lb, extent, true_lb, true_extent;
    bool committed;
    struct pf_attributes *attributes;
    char name[MPI_MAX_OBJECT_NAME];
    struct pf_bounds bounds;
    MPI_Datatype expansion; /* of subarrays and darrays: the same type made of vectors and structures; of the
                               types for a Fortran kind: the predefined type that it stands for */
    struct pf_datatype *next; /* in the rank's list of types for Fortran kinds */
};

/* A predefined datatype of C or Fortran. */
struct pf_named_type {
    const char *name;
    unsigned char size, extent, true_extent, align;
    unsigned char parts[2]; /* sizes of its basic elements; the second is 0 unless the type is a pair */
    bool fortran;
};

/* NULL for MPI_DATATYPE_NULL, MPI_LB, MPI_UB and whatever else is not a predefined datatype with data. */
const struct pf_named_type *pf_datatype_named(MPI_Datatype handle);

/* Bytes of data of one element; -1 when the handle is not valid. On the path of every send (accounting). */
extern const unsigned char pf_datatype_sizes[PF_PREDEFINED_LIMIT];

static inline MPI_Count pf_datatype_size(MPI_Datatype handle)
{
    if (pf_is_predefined(handle))
        return pf_datatype_sizes[(uintptr_t)handle];
    const struct pf_datatype *type = (const struct pf_datatype *)pf_object_of(handle, PF_KIND_DATATYPE);
    return type ? type->size : -1;
}

static inline struct pf_datatype *pf_datatype_of(MPI_Datatype handle)
{
    return (struct pf_datatype *)pf_object_of(handle, PF_KIND_DATATYPE);
}

/* Any valid datatype, the markers MPI_LB and MPI_UB included. */
bool pf_datatype_valid(MPI_Datatype handle);

/* Bounds of any valid datatype. */
void pf_datatype_bounds(MPI_Datatype handle, struct pf_bounds *out);

/* Are there data where nothing can be? MPI_BOTTOM, which is NULL, is right for a datatype whose data lie
 * elsewhere. */
bool pf_datatype_begins_at_zero(MPI_Datatype handle);

static inline bool pf_datatype_lacks_buffer(const void *buffer, int count, MPI_Datatype datatype)
{
    return !buffer && count > 0 && pf_datatype_begins_at_zero(datatype);
}

/* Fills in size and bounds from the recipe. Returns MPI_SUCCESS, or MPI_ERR_ARG when a bound overflows. */
int pf_datatype_measure(struct pf_datatype *type);

/* A recipe as MPI_Type_get_contents would return it. */
struct pf_recipe {
    int combiner;
    int integer_count, address_count, type_count;
    const int *integers;
    const MPI_Aint *addresses;
    const MPI_Datatype *types;
};

/* Makes a type with one reference; the arrays are copied. Returns an MPI error class. */
int pf_datatype_make(struct pf_rank *r, const struct pf_recipe *recipe, MPI_Datatype *out);

/* The same for a type whose data are those of `expansion`; takes over the reference on it. */
int pf_datatype_make_standing_for(struct pf_rank *r, const struct pf_recipe *recipe, MPI_Datatype expansion,
                                  MPI_Datatype *out);

/* The same type as a subarray's or darray's recipe, made of vectors, structures and a resize. */
int pf_datatype_expand(struct pf_rank *r, const struct pf_recipe *recipe, MPI_Datatype *out);

/* The type for a Fortran kind: one object per rank and kind, never freed. Returns an MPI error class. */
int pf_datatype_f90(struct pf_rank *r, int combiner, int precision, int range, MPI_Datatype *out);

/* Reference counting for everything that keeps a handle; predefined handles are ignored. */
void pf_datatype_retain(MPI_Datatype handle);
void pf_datatype_release(MPI_Datatype handle);

/* The native shadow: replayed from the recipe, and committed when the middleware's is. */
extern const struct pf_object_ops pf_datatype_ops;

/* Makes the shadows that exist follow the middleware's commit; frees them. */
void pf_datatype_commit_shadows(struct pf_datatype *type);
void pf_datatype_free_shadows(struct pf_datatype *type);

/* The middleware's handle for a native datatype that an implementation passes to a user function.
 * MPI_DATATYPE_NULL when the handle is unknown: keep a reference on a type as long as an operation with a
 * user function uses it. */
MPI_Datatype pf_datatype_from_native(struct pf_instance *in, void *native);

/* Attributes of any valid type, predefined ones too. */
struct pf_attributes **pf_datatype_attributes(struct pf_rank *r, MPI_Datatype handle);

/* A signature is a sequence of runs: so many items of another type. Only structures have more than one. */
struct pf_datatype_run {
    MPI_Datatype type;
    MPI_Count items;
};

int pf_datatype_runs(const struct pf_datatype *type);
struct pf_datatype_run pf_datatype_run_at(const struct pf_datatype *type, int i);

/*
 * Bytes and basic elements. `impl` says whose byte counts they are: implementations give pairs such as
 * MPI_DOUBLE_INT different sizes (SMPI counts the padding). -1 means the middleware's.
 */
MPI_Count pf_datatype_bytes(struct pf_rank *r, MPI_Datatype handle, int impl);
/* Elements in `bytes` bytes of consecutive items of a type; -1 when the bytes end inside an element. */
MPI_Count pf_datatype_elements(struct pf_rank *r, MPI_Datatype handle, int impl, MPI_Count bytes);
/* MPI_LONG and MPI_UNSIGNED_LONG in an item, also those of pairs. */
MPI_Count pf_datatype_longs(MPI_Datatype handle);
/* Bytes of the first `elements` basic elements of consecutive items, by the middleware's sizes. */
MPI_Count pf_datatype_element_bytes(MPI_Datatype handle, MPI_Count elements);

/* Keeps the table behind pf_datatype_from_native: a shadow exists, or is about to be freed. */
void pf_datatype_native_add(struct pf_rank *r, int impl, void *native, MPI_Datatype handle);
void pf_datatype_native_remove(struct pf_rank *r, int impl, void *native);
