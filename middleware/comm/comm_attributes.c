/* SPDX-License-Identifier: BSD-3-Clause */
/* The MPI functions on keyvals and attributes of communicators, with their names of MPI-1. */
#include "middleware/comm/comm.h"
#include "middleware/core/call.h"
#include "middleware/core/rank_objects.h"
#include "middleware/object/attribute.h"

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

static int comm_set(struct pf_rank *r, MPI_Comm handle, int keyval, void *value)
{
    struct pf_comm *comm = pf_comm_of(r, handle);
    int error = comm ? pf_attribute_set(r, PF_ATTRIBUTE_COMM, &comm->attributes, handle, keyval, value)
                     : MPI_ERR_COMM;
    return pf_attribute_finish(r, handle, error);
}

static int comm_get(struct pf_rank *r, MPI_Comm handle, int keyval, void *value, int *flag)
{
    struct pf_comm *comm = pf_comm_of(r, handle);
    if (!comm || !value || !flag)
        return pf_attribute_finish(r, handle, comm ? MPI_ERR_ARG : MPI_ERR_COMM);
    int *known = predefined(r, keyval);
    if (known) {
        *(void **)value = known;
        *flag = 1;
        return pf_attribute_finish(r, handle, MPI_SUCCESS);
    }
    return pf_attribute_finish(
        r, handle, pf_attribute_get(r, PF_ATTRIBUTE_COMM, comm->attributes, keyval, (void **)value, flag));
}

static int comm_delete(struct pf_rank *r, MPI_Comm handle, int keyval)
{
    struct pf_comm *comm = pf_comm_of(r, handle);
    int error =
        comm ? pf_attribute_delete(r, PF_ATTRIBUTE_COMM, &comm->attributes, handle, keyval) : MPI_ERR_COMM;
    return pf_attribute_finish(r, handle, error);
}

int pf_PMPI_Comm_create_keyval(MPI_Comm_copy_attr_function *copy, MPI_Comm_delete_attr_function *drop,
                               int *keyval, void *extra_state)
{
    return pf_keyval_create_call(PF_ENTER(Comm_create_keyval), PF_ATTRIBUTE_COMM,
                                 (union pf_attribute_copy){.comm = copy},
                                 (union pf_attribute_delete){.comm = drop}, keyval, extra_state);
}

int pf_PMPI_Keyval_create(MPI_Copy_function *copy, MPI_Delete_function *drop, int *keyval, void *extra_state)
{
    return pf_keyval_create_call(PF_ENTER(Keyval_create), PF_ATTRIBUTE_COMM,
                                 (union pf_attribute_copy){.comm = copy},
                                 (union pf_attribute_delete){.comm = drop}, keyval, extra_state);
}

int pf_PMPI_Comm_free_keyval(int *keyval)
{
    return pf_keyval_free_call(PF_ENTER(Comm_free_keyval), PF_ATTRIBUTE_COMM, keyval);
}

int pf_PMPI_Keyval_free(int *keyval)
{
    return pf_keyval_free_call(PF_ENTER(Keyval_free), PF_ATTRIBUTE_COMM, keyval);
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
