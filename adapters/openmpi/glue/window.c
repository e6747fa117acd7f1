/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Windows made locally. Stock one-sided components communicate in three places of the creation: they
 * duplicate the communicator, they agree on displacement units, and they end with a barrier. A window that
 * the middleware wants as a shadow gets a communicator that the middleware has made without communication, in
 * the place of the duplicate; the collectives of that communicator are answered here as long as the component
 * runs, from what the middleware knows. The barriers of its first fence and of its end are left out in the
 * same way.
 */
#include "ompi_config.h"

#include <stdlib.h>
#include <string.h>

#include <uthash.h>

#include "mpi.h"
#include "ompi/communicator/communicator.h"
#include "ompi/mca/coll/coll.h"
#include "ompi/win/win.h"

#include "adapters/adapter.h"
#include "adapters/openmpi/glue/internal.h"

/* A window of this rank and the communicator that its component uses. */
struct window {
    ompi_win_t *win;
    ompi_communicator_t *comm;
    int shadow; /* in osc/ucx, by the middleware's id; -1: not there */
    UT_hash_handle hh;
};

static struct window *windows;
static ompi_communicator_t *offered; /* what the next duplicate is to be; NULL: a real one */
static ompi_communicator_t *latest;  /* what the last duplicate was */
static const int *units;             /* displacement units of the members of the window that is being made */

bool pf_glue_window_is_shadow(void)
{
    return units != NULL;
}

int pf_glue_window_comm(void *original, void **result)
{
    int status = OMPI_SUCCESS;
    if (offered)
        *result = offered;
    else
        status = ompi_comm_dup(original, (ompi_communicator_t **)result);
    offered = NULL;
    latest = status == OMPI_SUCCESS ? *result : NULL;
    return status;
}

void pf_glue_window_made(void *native)
{
    PMPI_Win_set_errhandler(native, MPI_ERRORS_RETURN);
    struct window *window = malloc(sizeof *window);
    if (!window)
        return; /* it can still be used, but not without its barriers */
    *window = (struct window){.win = native, .comm = latest, .shadow = -1};
    HASH_ADD_PTR(windows, win, window);
}

static struct window *find(const void *native)
{
    struct window *window;
    HASH_FIND_PTR(windows, &native, window);
    return window;
}

static ompi_communicator_t *comm_of(const void *native)
{
    const struct window *window = find(native);
    return window ? window->comm : NULL;
}

void pf_glue_window_gone(const void *native)
{
    struct window *gone = find(native);
    if (!gone)
        return;
    HASH_DEL(windows, gone);
    free(gone);
}

static int local_barrier(ompi_communicator_t *comm, mca_coll_base_module_t *module)
{
    return OMPI_SUCCESS;
}

/* Of rank 0's displacement unit. */
static int local_bcast(void *buffer, int count, struct ompi_datatype_t *type, int root,
                       ompi_communicator_t *comm, mca_coll_base_module_t *module)
{
    *(int *)buffer = units[root];
    return OMPI_SUCCESS;
}

/* Of the question whether all have rank 0's. */
static int local_allreduce(const void *from, void *to, int count, struct ompi_datatype_t *type,
                           struct ompi_op_t *op, ompi_communicator_t *comm, mca_coll_base_module_t *module)
{
    int same = 1;
    for (int i = 0; i < ompi_comm_size(comm); i++)
        same &= units[i] == units[0];
    *(int *)to = same;
    return OMPI_SUCCESS;
}

static int local_allgather(const void *from, int from_count, struct ompi_datatype_t *from_type, void *to,
                           int to_count, struct ompi_datatype_t *to_type, ompi_communicator_t *comm,
                           mca_coll_base_module_t *module)
{
    memcpy(to, units, (size_t)ompi_comm_size(comm) * sizeof *units);
    return OMPI_SUCCESS;
}

/* Returns what was there before, for speak(). */
static mca_coll_base_comm_coll_t hush(ompi_communicator_t *comm)
{
    mca_coll_base_comm_coll_t before = *comm->c_coll;
    comm->c_coll->coll_barrier = local_barrier;
    comm->c_coll->coll_bcast = local_bcast;
    comm->c_coll->coll_allreduce = local_allreduce;
    comm->c_coll->coll_allgather = local_allgather;
    return before;
}

static void speak(ompi_communicator_t *comm, const mca_coll_base_comm_coll_t *before)
{
    comm->c_coll->coll_barrier = before->coll_barrier;
    comm->c_coll->coll_bcast = before->coll_bcast;
    comm->c_coll->coll_allreduce = before->coll_allreduce;
    comm->c_coll->coll_allgather = before->coll_allgather;
    comm->c_coll->coll_allgatherv = before->coll_allgatherv;
}

int pf_glue_window_shadow(const struct pf_win_recipe *recipe, void *native_comm, void **result)
{
    ompi_communicator_t *comm = native_comm;
    ompi_win_t *win = NULL;
    mca_coll_base_comm_coll_t before = hush(comm);
    bool by_ucx = pf_glue_window_ucx_has_all();
    if (by_ucx && !pf_glue_window_ucx_begin(recipe, comm))
        return MPI_ERR_NO_MEM;
    offered = comm;
    units = recipe->disp_units;
    int status = recipe->dynamic ? PMPI_Win_create_dynamic(recipe->info, comm, &win)
                                 : PMPI_Win_create(recipe->base, (MPI_Aint)recipe->size, recipe->disp_unit,
                                                   recipe->info, comm, &win);
    units = NULL;
    speak(comm, &before);
    if (status != MPI_SUCCESS)
        return status;
    pf_glue_window_made(win);
    struct window *window = find(win);
    if (by_ucx && window)
        window->shadow = recipe->id;
    *result = win;
    return MPI_SUCCESS;
}

int pf_glue_window_open(void *native)
{
    ompi_communicator_t *comm = comm_of(native);
    if (!comm)
        return MPI_ERR_WIN;
    mca_coll_base_comm_coll_t before = hush(comm);
    int status = PMPI_Win_fence(MPI_MODE_NOPRECEDE, native);
    speak(comm, &before);
    return status;
}

/* The communicator goes with the window. */
int pf_glue_window_free(void *native)
{
    ompi_win_t *win = native;
    const struct window *window = find(native);
    if (!window || !window->comm)
        return MPI_ERR_WIN;
    int shadow = window->shadow;
    hush(window->comm);
    pf_glue_window_gone(native);
    int status = PMPI_Win_free(&win);
    pf_glue_window_ucx_gone(shadow);
    return status;
}
