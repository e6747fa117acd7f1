/* SPDX-License-Identifier: BSD-3-Clause */
/* Keyvals and attributes of windows. */
#include "middleware/comm/routing.h"
#include "middleware/object/attribute.h"
#include "middleware/rma/win.h"

/* Where the attributes of a window are, NULL when the handle is none. */
static struct pf_attributes **attributes_of(MPI_Win handle)
{
    struct pf_win *win = pf_win_of(handle);
    return win ? &win->attributes : NULL;
}

/* The value of a predefined attribute; the base of a window may well be NULL. */
static bool predefined(struct pf_win *win, int keyval, void **value)
{
    switch (keyval) {
    case MPI_WIN_BASE:
        *value = win->base;
        return true;
    case MPI_WIN_SIZE:
        *value = &win->size;
        return true;
    case MPI_WIN_DISP_UNIT:
        *value = &win->disp_unit;
        return true;
    case MPI_WIN_CREATE_FLAVOR:
        *value = &win->flavor;
        return true;
    case MPI_WIN_MODEL:
        *value = &win->model;
        return true;
    default:
        return false;
    }
}

int pf_PMPI_Win_create_keyval(MPI_Win_copy_attr_function *copy, MPI_Win_delete_attr_function *drop,
                              int *keyval, void *extra_state)
{
    return pf_keyval_create_call(PF_ENTER(Win_create_keyval), PF_ATTRIBUTE_WIN,
                                 (union pf_attribute_copy){.win = copy},
                                 (union pf_attribute_delete){.win = drop}, keyval, extra_state);
}

int pf_PMPI_Win_free_keyval(int *keyval)
{
    return pf_keyval_free_call(PF_ENTER(Win_free_keyval), PF_ATTRIBUTE_WIN, keyval);
}

int pf_PMPI_Win_set_attr(MPI_Win win, int keyval, void *value)
{
    struct pf_rank *r = PF_ENTER(Win_set_attr);
    struct pf_attributes **attributes = attributes_of(win);
    int error =
        attributes ? pf_attribute_set(r, PF_ATTRIBUTE_WIN, attributes, win, keyval, value) : MPI_ERR_WIN;
    return pf_attribute_finish(r, MPI_COMM_WORLD, error);
}

int pf_PMPI_Win_get_attr(MPI_Win win, int keyval, void *value, int *flag)
{
    struct pf_rank *r = PF_ENTER(Win_get_attr);
    struct pf_attributes **attributes = attributes_of(win);
    if (!attributes || !value || !flag)
        return pf_attribute_finish(r, MPI_COMM_WORLD, attributes ? MPI_ERR_ARG : MPI_ERR_WIN);
    if (keyval >= MPI_WIN_BASE && keyval <= MPI_WIN_MODEL) {
        *flag = predefined(pf_win_of(win), keyval, value);
        return pf_attribute_finish(r, MPI_COMM_WORLD, MPI_SUCCESS);
    }
    int error = pf_attribute_get(r, PF_ATTRIBUTE_WIN, *attributes, keyval, (void **)value, flag);
    return pf_attribute_finish(r, MPI_COMM_WORLD, error);
}

int pf_PMPI_Win_delete_attr(MPI_Win win, int keyval)
{
    struct pf_rank *r = PF_ENTER(Win_delete_attr);
    struct pf_attributes **attributes = attributes_of(win);
    int error = attributes ? pf_attribute_delete(r, PF_ATTRIBUTE_WIN, attributes, win, keyval) : MPI_ERR_WIN;
    return pf_attribute_finish(r, MPI_COMM_WORLD, error);
}
