/* SPDX-License-Identifier: BSD-3-Clause */
/* Keyvals and attributes of datatypes. */
#include "middleware/core/call.h"
#include "middleware/datatype/datatype.h"
#include "middleware/object/attribute.h"

int pf_PMPI_Type_create_keyval(MPI_Type_copy_attr_function *copy, MPI_Type_delete_attr_function *drop,
                               int *keyval, void *extra_state)
{
    return pf_keyval_create_call(PF_ENTER(Type_create_keyval), PF_ATTRIBUTE_TYPE,
                                 (union pf_attribute_copy){.type = copy},
                                 (union pf_attribute_delete){.type = drop}, keyval, extra_state);
}

int pf_PMPI_Type_free_keyval(int *keyval)
{
    return pf_keyval_free_call(PF_ENTER(Type_free_keyval), PF_ATTRIBUTE_TYPE, keyval);
}

int pf_PMPI_Type_set_attr(MPI_Datatype type, int keyval, void *value)
{
    struct pf_rank *r = PF_ENTER(Type_set_attr);
    struct pf_attributes **attributes = pf_datatype_attributes(r, type);
    int error =
        attributes ? pf_attribute_set(r, PF_ATTRIBUTE_TYPE, attributes, type, keyval, value) : MPI_ERR_TYPE;
    return pf_attribute_finish(r, MPI_COMM_WORLD, error);
}

int pf_PMPI_Type_get_attr(MPI_Datatype type, int keyval, void *value, int *flag)
{
    struct pf_rank *r = PF_ENTER(Type_get_attr);
    struct pf_attributes **attributes = pf_datatype_attributes(r, type);
    int error = MPI_ERR_TYPE;
    if (attributes && (!value || !flag))
        error = MPI_ERR_ARG;
    else if (attributes)
        error = pf_attribute_get(r, PF_ATTRIBUTE_TYPE, *attributes, keyval, (void **)value, flag);
    return pf_attribute_finish(r, MPI_COMM_WORLD, error);
}

int pf_PMPI_Type_delete_attr(MPI_Datatype type, int keyval)
{
    struct pf_rank *r = PF_ENTER(Type_delete_attr);
    struct pf_attributes **attributes = pf_datatype_attributes(r, type);
    int error =
        attributes ? pf_attribute_delete(r, PF_ATTRIBUTE_TYPE, attributes, type, keyval) : MPI_ERR_TYPE;
    return pf_attribute_finish(r, MPI_COMM_WORLD, error);
}
