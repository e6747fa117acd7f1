/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "middleware/core/object.h"

/* Attributes live in the middleware only: the callbacks get our handles and run exactly once (MPI 3.1 section
 * 6.7). */
struct pf_attributes; /* of one object, NULL when it has none */

/* Runs the copy callbacks from `from` for the new object. Returns an MPI error class. */
int pf_attributes_copy(struct pf_attributes *from, const void *old_handle, struct pf_attributes **to);

/* Runs the delete callbacks, newest first, and frees the list. Stops at the first error, which it returns. */
int pf_attributes_delete_all(struct pf_attributes **attributes, const void *handle);

/* Keyvals belong to one kind of object. */
enum pf_attribute_kind { PF_ATTRIBUTE_COMM, PF_ATTRIBUTE_TYPE, PF_ATTRIBUTE_WIN };

/* The callbacks of a keyval; which member is meant follows from the kind. */
union pf_attribute_copy {
    MPI_Comm_copy_attr_function *comm;
    MPI_Type_copy_attr_function *type;
    MPI_Win_copy_attr_function *win;
};

union pf_attribute_delete {
    MPI_Comm_delete_attr_function *comm;
    MPI_Type_delete_attr_function *type;
    MPI_Win_delete_attr_function *win;
};

/* All of these return an MPI error class. */
int pf_keyval_create(struct pf_rank *r, enum pf_attribute_kind kind, union pf_attribute_copy copy,
                     union pf_attribute_delete drop, void *extra_state, int *keyval);
int pf_keyval_free(struct pf_rank *r, enum pf_attribute_kind kind, int *keyval);
int pf_attribute_set(struct pf_rank *r, enum pf_attribute_kind kind, struct pf_attributes **attributes,
                     const void *handle, int keyval, void *value);
int pf_attribute_get(struct pf_rank *r, enum pf_attribute_kind kind, struct pf_attributes *attributes,
                     int keyval, void **value, int *flag);
int pf_attribute_delete(struct pf_rank *r, enum pf_attribute_kind kind, struct pf_attributes **attributes,
                        const void *handle, int keyval);

/* What the calls on the attributes of communicators, datatypes and windows have in common: those on keyvals
 * as a whole, and the end of a call, with an error of this class if it is one. */
int pf_keyval_create_call(struct pf_rank *r, enum pf_attribute_kind kind, union pf_attribute_copy copy,
                          union pf_attribute_delete drop, int *keyval, void *extra_state);
int pf_keyval_free_call(struct pf_rank *r, enum pf_attribute_kind kind, int *keyval);
int pf_attribute_finish(struct pf_rank *r, MPI_Comm comm, int error);
