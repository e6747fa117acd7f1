/* SPDX-License-Identifier: BSD-3-Clause */
/* What the MPI functions on attributes of communicators, datatypes and windows have in common. */
#include "middleware/core/call.h"
#include "middleware/object/attribute.h"

int pf_attribute_finish(struct pf_rank *r, MPI_Comm comm, int error)
{
    return error ? pf_call_error(r, comm, error) : pf_call_return(r, MPI_SUCCESS);
}

int pf_keyval_create_call(struct pf_rank *r, enum pf_attribute_kind kind, union pf_attribute_copy copy,
                          union pf_attribute_delete drop, int *keyval, void *extra_state)
{
    int error = keyval ? pf_keyval_create(r, kind, copy, drop, extra_state, keyval) : MPI_ERR_ARG;
    return pf_attribute_finish(r, MPI_COMM_WORLD, error);
}

int pf_keyval_free_call(struct pf_rank *r, enum pf_attribute_kind kind, int *keyval)
{
    return pf_attribute_finish(r, MPI_COMM_WORLD, keyval ? pf_keyval_free(r, kind, keyval) : MPI_ERR_ARG);
}
