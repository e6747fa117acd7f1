/* SPDX-License-Identifier: BSD-3-Clause */
/* The MPI functions on keyvals and attributes, with their names of MPI-1. */
#include "middleware/core/call.h"
#include "middleware/core/rank_objects.h"
#include "middleware/datatype/datatype.h"
#include "middleware/object/attribute.h"

__attribute__((weak)) struct pf_attributes **pf_win_attributes(struct pf_rank *r, MPI_Win win)
{
    (void)r;
    (void)win;
    return NULL;
}

__attribute__((weak)) bool pf_win_predefined_attribute(struct pf_rank *r, MPI_Win win, int keyval,
                                                       void **value)
{
    (void)r;
    (void)win;
    (void)keyval;
    (void)value;
    return false;
}

static int finish(struct pf_rank *r, MPI_Comm comm, int error)
{
    return error ? pf_call_error(r, comm, error) : pf_call_return(r, MPI_SUCCESS);
}

/* The value of a predefined attribute of communicators, NULL for another keyval. The address stays the
 * same. */
static int *predefined(struct pf_rank *r, int keyval)
{
    struct pf_rank_objects *objects = pf_rank_objects(r);
    switch (keyval) {
    case MPI_TAG_UB:
        return &objects->tag_ub;
    case MPI_HOST:
        return &objects->host;
    case MPI_IO:
        return &objects->io;
    case MPI_WTIME_IS_GLOBAL:
        return &objects->wtime_is_global;
    case MPI_UNIVERSE_SIZE:
        return &objects->universe_size;
    case MPI_APPNUM:
        return &objects->appnum;
    case MPI_LASTUSEDCODE:
        return &objects->last_used_code;
    default:
        return NULL;
    }
}

static int create_keyval(struct pf_rank *r, enum pf_attribute_kind kind, union pf_attribute_copy copy,
                         union pf_attribute_delete drop, int *keyval, void *extra_state)
{
    int error = keyval ? pf_keyval_create(r, kind, copy, drop, extra_state, keyval) : MPI_ERR_ARG;
    return finish(r, MPI_COMM_WORLD, error);
}

static int free_keyval(struct pf_rank *r, enum pf_attribute_kind kind, int *keyval)
{
    return finish(r, MPI_COMM_WORLD, keyval ? pf_keyval_free(r, kind, keyval) : MPI_ERR_ARG);
}

/* Communicators */

static int comm_set(struct pf_rank *r, MPI_Comm handle, int keyval, void *value)
{
    struct pf_comm *comm = pf_comm_of(r, handle);
    int error = MPI_ERR_COMM;
    if (comm)
        error = pf_attribute_set(r, PF_ATTRIBUTE_COMM, &comm->attributes, handle, keyval, value);
    return finish(r, handle, error);
}

static int comm_get(struct pf_rank *r, MPI_Comm handle, int keyval, void *value, int *flag)
{
    struct pf_comm *comm = pf_comm_of(r, handle);
    if (!comm)
        return finish(r, handle, MPI_ERR_COMM);
    if (!value || !flag)
        return finish(r, handle, MPI_ERR_ARG);
    int *known = predefined(r, keyval);
    if (known) {
        *(void **)value = known;
        *flag = 1;
        return finish(r, handle, MPI_SUCCESS);
    }
    return finish(r, handle,
                  pf_attribute_get(r, PF_ATTRIBUTE_COMM, comm->attributes, keyval, (void **)value, flag));
}

static int comm_delete(struct pf_rank *r, MPI_Comm handle, int keyval)
{
    struct pf_comm *comm = pf_comm_of(r, handle);
    int error = MPI_ERR_COMM;
    if (comm)
        error = pf_attribute_delete(r, PF_ATTRIBUTE_COMM, &comm->attributes, handle, keyval);
    return finish(r, handle, error);
}

int pf_PMPI_Comm_create_keyval(MPI_Comm_copy_attr_function *copy, MPI_Comm_delete_attr_function *drop,
                               int *keyval, void *extra_state)
{
    return create_keyval(PF_ENTER(Comm_create_keyval), PF_ATTRIBUTE_COMM,
                         (union pf_attribute_copy){.comm = copy}, (union pf_attribute_delete){.comm = drop},
                         keyval, extra_state);
}

int pf_PMPI_Keyval_create(MPI_Copy_function *copy, MPI_Delete_function *drop, int *keyval, void *extra_state)
{
    return create_keyval(PF_ENTER(Keyval_create), PF_ATTRIBUTE_COMM, (union pf_attribute_copy){.comm = copy},
                         (union pf_attribute_delete){.comm = drop}, keyval, extra_state);
}

int pf_PMPI_Comm_free_keyval(int *keyval)
{
    return free_keyval(PF_ENTER(Comm_free_keyval), PF_ATTRIBUTE_COMM, keyval);
}

int pf_PMPI_Keyval_free(int *keyval)
{
    return free_keyval(PF_ENTER(Keyval_free), PF_ATTRIBUTE_COMM, keyval);
}

int pf_PMPI_Comm_set_attr(MPI_Comm comm, int keyval, void *value)
{
    return comm_set(PF_ENTER(Comm_set_attr), comm, keyval, value);
}

int pf_PMPI_Attr_put(MPI_Comm comm, int keyval, void *value)
{
    return comm_set(PF_ENTER(Attr_put), comm, keyval, value);
}

int pf_PMPI_Comm_get_attr(MPI_Comm comm, int keyval, void *value, int *flag)
{
    return comm_get(PF_ENTER(Comm_get_attr), comm, keyval, value, flag);
}

int pf_PMPI_Attr_get(MPI_Comm comm, int keyval, void *value, int *flag)
{
    return comm_get(PF_ENTER(Attr_get), comm, keyval, value, flag);
}

int pf_PMPI_Comm_delete_attr(MPI_Comm comm, int keyval)
{
    return comm_delete(PF_ENTER(Comm_delete_attr), comm, keyval);
}

int pf_PMPI_Attr_delete(MPI_Comm comm, int keyval)
{
    return comm_delete(PF_ENTER(Attr_delete), comm, keyval);
}

/* Datatypes */

int pf_PMPI_Type_create_keyval(MPI_Type_copy_attr_function *copy, MPI_Type_delete_attr_function *drop,
                               int *keyval, void *extra_state)
{
    return create_keyval(PF_ENTER(Type_create_keyval), PF_ATTRIBUTE_TYPE,
                         (union pf_attribute_copy){.type = copy}, (union pf_attribute_delete){.type = drop},
                         keyval, extra_state);
}

int pf_PMPI_Type_free_keyval(int *keyval)
{
    return free_keyval(PF_ENTER(Type_free_keyval), PF_ATTRIBUTE_TYPE, keyval);
}

int pf_PMPI_Type_set_attr(MPI_Datatype type, int keyval, void *value)
{
    struct pf_rank *r = PF_ENTER(Type_set_attr);
    struct pf_attributes **attributes = pf_datatype_attributes(r, type);
    int error = MPI_ERR_TYPE;
    if (attributes)
        error = pf_attribute_set(r, PF_ATTRIBUTE_TYPE, attributes, type, keyval, value);
    return finish(r, MPI_COMM_WORLD, error);
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
    return finish(r, MPI_COMM_WORLD, error);
}

int pf_PMPI_Type_delete_attr(MPI_Datatype type, int keyval)
{
    struct pf_rank *r = PF_ENTER(Type_delete_attr);
    struct pf_attributes **attributes = pf_datatype_attributes(r, type);
    int error = MPI_ERR_TYPE;
    if (attributes)
        error = pf_attribute_delete(r, PF_ATTRIBUTE_TYPE, attributes, type, keyval);
    return finish(r, MPI_COMM_WORLD, error);
}

/* Windows */

int pf_PMPI_Win_create_keyval(MPI_Win_copy_attr_function *copy, MPI_Win_delete_attr_function *drop,
                              int *keyval, void *extra_state)
{
    return create_keyval(PF_ENTER(Win_create_keyval), PF_ATTRIBUTE_WIN,
                         (union pf_attribute_copy){.win = copy}, (union pf_attribute_delete){.win = drop},
                         keyval, extra_state);
}

int pf_PMPI_Win_free_keyval(int *keyval)
{
    return free_keyval(PF_ENTER(Win_free_keyval), PF_ATTRIBUTE_WIN, keyval);
}

int pf_PMPI_Win_set_attr(MPI_Win win, int keyval, void *value)
{
    struct pf_rank *r = PF_ENTER(Win_set_attr);
    struct pf_attributes **attributes = pf_win_attributes(r, win);
    int error = MPI_ERR_WIN;
    if (attributes)
        error = pf_attribute_set(r, PF_ATTRIBUTE_WIN, attributes, win, keyval, value);
    return finish(r, MPI_COMM_WORLD, error);
}

int pf_PMPI_Win_get_attr(MPI_Win win, int keyval, void *value, int *flag)
{
    struct pf_rank *r = PF_ENTER(Win_get_attr);
    struct pf_attributes **attributes = pf_win_attributes(r, win);
    if (!attributes)
        return finish(r, MPI_COMM_WORLD, MPI_ERR_WIN);
    if (!value || !flag)
        return finish(r, MPI_COMM_WORLD, MPI_ERR_ARG);
    if (keyval >= MPI_WIN_BASE && keyval <= MPI_WIN_MODEL) {
        *flag = pf_win_predefined_attribute(r, win, keyval, value);
        return finish(r, MPI_COMM_WORLD, MPI_SUCCESS);
    }
    int error = pf_attribute_get(r, PF_ATTRIBUTE_WIN, *attributes, keyval, (void **)value, flag);
    return finish(r, MPI_COMM_WORLD, error);
}

int pf_PMPI_Win_delete_attr(MPI_Win win, int keyval)
{
    struct pf_rank *r = PF_ENTER(Win_delete_attr);
    struct pf_attributes **attributes = pf_win_attributes(r, win);
    int error = MPI_ERR_WIN;
    if (attributes)
        error = pf_attribute_delete(r, PF_ATTRIBUTE_WIN, attributes, win, keyval);
    return finish(r, MPI_COMM_WORLD, error);
}
