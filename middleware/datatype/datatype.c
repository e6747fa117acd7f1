/* SPDX-License-Identifier: BSD-3-Clause */
/* The life of derived datatypes: made from a recipe, shared by reference, freed with their shadows. */
#include <string.h>

#include "base/memory.h"
#include "middleware/core/call.h"
#include "middleware/datatype/datatype.h"
#include "middleware/object/attribute.h"

/* The arrays of the recipe live behind the structure, widest elements first. */
static struct pf_datatype *new_type(struct pf_rank *r, const struct pf_recipe *recipe)
{
    size_t addresses = (size_t)recipe->address_count * sizeof(MPI_Aint);
    size_t types = (size_t)recipe->type_count * sizeof(MPI_Datatype);
    size_t integers = (size_t)recipe->integer_count * sizeof(int);
    struct pf_datatype *type = pf_calloc(1, sizeof *type + addresses + types + integers);
    type->object.kind = PF_KIND_DATATYPE;
    type->object.references = 1;
    type->object.home = r->active->impl;
    type->owner = r;
    type->combiner = recipe->combiner;
    type->integer_count = recipe->integer_count;
    type->address_count = recipe->address_count;
    type->type_count = recipe->type_count;
    type->addresses = (MPI_Aint *)(type + 1);
    type->types = (MPI_Datatype *)((char *)type->addresses + addresses);
    type->integers = (int *)((char *)type->types + types);
    if (addresses)
        memcpy(type->addresses, recipe->addresses, addresses);
    if (types)
        memcpy(type->types, recipe->types, types);
    if (integers)
        memcpy(type->integers, recipe->integers, integers);
    return type;
}

static void free_type(struct pf_datatype *type)
{
    for (int i = 0; i < type->type_count; i++)
        pf_datatype_release(type->types[i]);
    pf_datatype_release(type->expansion);
    type->object.kind = PF_KIND_DEAD;
    pf_object_discard(type);
}

int pf_datatype_make_standing_for(struct pf_rank *r, const struct pf_recipe *recipe, MPI_Datatype expansion,
                                  MPI_Datatype *out)
{
    struct pf_datatype *type = new_type(r, recipe);
    type->expansion = expansion;
    for (int i = 0; i < type->type_count; i++)
        pf_datatype_retain(type->types[i]);
    int error = pf_datatype_measure(type);
    if (error) {
        free_type(type);
        return error;
    }
    r->live_objects++;
    *out = (MPI_Datatype)(uintptr_t)type;
    return MPI_SUCCESS;
}

int pf_datatype_make(struct pf_rank *r, const struct pf_recipe *recipe, MPI_Datatype *out)
{
    MPI_Datatype expansion = NULL;
    if (recipe->combiner == MPI_COMBINER_SUBARRAY || recipe->combiner == MPI_COMBINER_DARRAY) {
        int error = pf_datatype_expand(r, recipe, &expansion);
        if (error)
            return error;
    }
    return pf_datatype_make_standing_for(r, recipe, expansion, out);
}

void pf_datatype_retain(MPI_Datatype handle)
{
    struct pf_datatype *type = pf_datatype_of(handle);
    if (type)
        type->object.references++;
}

void pf_datatype_release(MPI_Datatype handle)
{
    struct pf_datatype *type = pf_datatype_of(handle);
    if (!type || --type->object.references > 0)
        return;
    type->owner->live_objects--;
    pf_datatype_free_shadows(type);
    free_type(type);
}

static bool is_f90(const struct pf_datatype *type)
{
    return type->combiner == MPI_COMBINER_F90_REAL || type->combiner == MPI_COMBINER_F90_COMPLEX ||
           type->combiner == MPI_COMBINER_F90_INTEGER;
}

int pf_PMPI_Type_commit(MPI_Datatype *handle)
{
    struct pf_rank *r = PF_ENTER(Type_commit);
    if (!handle || !pf_datatype_valid(*handle))
        return pf_call_error(r, MPI_COMM_WORLD, MPI_ERR_TYPE);
    struct pf_datatype *type = pf_datatype_of(*handle);
    if (type && !type->committed) {
        type->committed = true;
        pf_datatype_commit_shadows(type);
    }
    return pf_call_return(r, MPI_SUCCESS);
}

int pf_PMPI_Type_free(MPI_Datatype *handle)
{
    struct pf_rank *r = PF_ENTER(Type_free);
    struct pf_datatype *type = handle ? pf_datatype_of(*handle) : NULL;
    if (!type || is_f90(type))
        return pf_call_error(r, MPI_COMM_WORLD, MPI_ERR_TYPE);
    int error = pf_attributes_delete_all(&type->attributes, *handle);
    if (error)
        return pf_call_error(r, MPI_COMM_WORLD, error);
    pf_datatype_release(*handle);
    *handle = MPI_DATATYPE_NULL;
    return pf_call_return(r, MPI_SUCCESS);
}

int pf_PMPI_Type_dup(MPI_Datatype old, MPI_Datatype *newtype)
{
    struct pf_rank *r = PF_ENTER(Type_dup);
    if (!pf_datatype_valid(old))
        return pf_call_error(r, MPI_COMM_WORLD, MPI_ERR_TYPE);
    if (!newtype)
        return pf_call_error(r, MPI_COMM_WORLD, MPI_ERR_ARG);
    MPI_Datatype made;
    struct pf_recipe recipe = {.combiner = MPI_COMBINER_DUP, .type_count = 1, .types = &old};
    int error = pf_datatype_make(r, &recipe, &made);
    if (error)
        return pf_call_error(r, MPI_COMM_WORLD, error);
    struct pf_datatype *type = pf_datatype_of(made);
    type->committed = pf_is_predefined(old) || pf_datatype_of(old)->committed;
    struct pf_attributes **from = pf_datatype_attributes(r, old);
    error = pf_attributes_copy(from ? *from : NULL, old, &type->attributes);
    if (error) {
        pf_datatype_release(made);
        *newtype = MPI_DATATYPE_NULL; /* as MPI_Comm_dup does */
        return pf_call_error(r, MPI_COMM_WORLD, error);
    }
    *newtype = made;
    return pf_call_return(r, MPI_SUCCESS);
}
