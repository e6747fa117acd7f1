/* SPDX-License-Identifier: BSD-3-Clause */
/* Names of datatypes, and what a rank may attach to the predefined ones. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "middleware/core/call.h"
#include "middleware/core/rank_objects.h"
#include "middleware/datatype/datatype.h"

/* Names given to predefined types and their attributes. Rare, so made only when needed. */
struct pf_named_state {
    struct pf_attributes *attributes[PF_PREDEFINED_LIMIT];
    char *names[PF_PREDEFINED_LIMIT];
};

static struct pf_named_state *named_state(struct pf_rank *r)
{
    struct pf_rank_objects *objects = pf_rank_objects(r);
    if (!objects->named)
        objects->named = pf_calloc(1, sizeof *objects->named);
    return objects->named;
}

struct pf_attributes **pf_datatype_attributes(struct pf_rank *r, MPI_Datatype handle)
{
    if (!pf_datatype_valid(handle))
        return NULL;
    if (pf_is_predefined(handle))
        return &named_state(r)->attributes[(uintptr_t)handle];
    return &pf_datatype_of(handle)->attributes;
}

static const char *default_name(MPI_Datatype handle)
{
    const struct pf_named_type *named = pf_datatype_named(handle);
    if (named)
        return named->name;
    return handle == MPI_LB ? "MPI_LB" : handle == MPI_UB ? "MPI_UB" : "MPI_DATATYPE_NULL";
}

static const char *name_of(struct pf_rank *r, MPI_Datatype handle)
{
    struct pf_datatype *type = pf_datatype_of(handle);
    if (type)
        return type->name;
    const struct pf_named_state *state = pf_rank_objects(r)->named;
    if (state && state->names[(uintptr_t)handle])
        return state->names[(uintptr_t)handle];
    return default_name(handle);
}

static void copy_name(char *to, const char *from)
{
    size_t length = strnlen(from, MPI_MAX_OBJECT_NAME - 1);
    memcpy(to, from, length);
    to[length] = '\0';
}

int pf_PMPI_Type_set_name(MPI_Datatype handle, const char *name)
{
    struct pf_rank *r = PF_ENTER(Type_set_name);
    if (!pf_datatype_valid(handle))
        return pf_call_error(r, MPI_COMM_WORLD, MPI_ERR_TYPE);
    if (!name)
        return pf_call_error(r, MPI_COMM_WORLD, MPI_ERR_ARG);
    struct pf_datatype *type = pf_datatype_of(handle);
    if (type) {
        copy_name(type->name, name);
        return pf_call_return(r, MPI_SUCCESS);
    }
    char **slot = &named_state(r)->names[(uintptr_t)handle];
    if (!*slot)
        *slot = malloc(MPI_MAX_OBJECT_NAME);
    if (!*slot)
        return pf_call_error(r, MPI_COMM_WORLD, MPI_ERR_NO_MEM);
    copy_name(*slot, name);
    return pf_call_return(r, MPI_SUCCESS);
}

int pf_PMPI_Type_get_name(MPI_Datatype handle, char *name, int *resultlen)
{
    struct pf_rank *r = PF_ENTER(Type_get_name);
    if (handle != MPI_DATATYPE_NULL && !pf_datatype_valid(handle))
        return pf_call_error(r, MPI_COMM_WORLD, MPI_ERR_TYPE);
    if (!name || !resultlen)
        return pf_call_error(r, MPI_COMM_WORLD, MPI_ERR_ARG);
    copy_name(name, name_of(r, handle));
    *resultlen = (int)strlen(name);
    return pf_call_return(r, MPI_SUCCESS);
}
