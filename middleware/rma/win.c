/* SPDX-License-Identifier: BSD-3-Clause */
/* Windows of one-sided communication: creation, the end, and what the middleware knows about them by itself.
 */
#include "middleware/rma/win.h"

#include <stdlib.h>
#include <string.h>

#include <simgrid/engine.h>
#include <utlist.h>

#include "base/memory.h"
#include "middleware/comm/group.h"
#include "middleware/comm/routing.h"
#include "middleware/object/attribute.h"
#include "middleware/core/errhandler.h"
#include "middleware/object/info.h"

int pf_native_assert(const struct pf_instance *in, int assertion)
{
    const struct pf_native_values *values = in->values;
    return (assertion & MPI_MODE_NOCHECK ? values->mode_nocheck : 0) |
           (assertion & MPI_MODE_NOSTORE ? values->mode_nostore : 0) |
           (assertion & MPI_MODE_NOPUT ? values->mode_noput : 0) |
           (assertion & MPI_MODE_NOPRECEDE ? values->mode_noprecede : 0) |
           (assertion & MPI_MODE_NOSUCCEED ? values->mode_nosucceed : 0);
}

int pf_win_failed(struct pf_rank *r, MPI_Win win, int error_class)
{
    return pf_call_return(r, pf_win_raise(r, win, error_class));
}

/*
 * A rank may wait in a loop of calls on its own memory, which take no simulated time, for what another rank
 * will write there. After so many calls at one date it spends some, as after a test that finds nothing. In
 * stock SMPI such a program never ends; one that ends must not notice, so there it takes very many calls, but
 * only the first time.
 */

static void notice_spinning(struct pf_rank *r, struct pf_instance *in, struct pf_win *win)
{
    enum { CALLS = 1000, CALLS_BEFORE_SMPI_IS_LEFT = 100000 };
    int limit = in->values->charges_tests && !win->has_spun ? CALLS_BEFORE_SMPI_IS_LEFT : CALLS;
    double now = simgrid_get_clock();
    if (now != win->last_call) {
        win->last_call = now;
        win->calls_then = 0;
    } else if (++win->calls_then >= limit) {
        win->calls_then = 0;
        win->has_spun = true;
        pf_win_idle(r, in);
    }
}

void pf_win_idle(struct pf_rank *r, struct pf_instance *in)
{
    pf_call_idle_uncharged(r, in);
}

int pf_win_leave(struct pf_rank *r, struct pf_instance *in, MPI_Win win, int code)
{
    pf_call_native_end(r, in);
    if (PF_UNLIKELY(code != MPI_SUCCESS))
        code = pf_win_raise(r, win, in->ops->error_class(in, code));
    else if (pf_win_of(win))
        notice_spinning(r, in, pf_win_of(win));
    return pf_call_return(r, code);
}

/* The common begin of the calls that create windows: the implementation decides itself on the communicator's
 * agreement. */
struct pf_win *pf_win_begin(struct pf_rank *r, MPI_Comm handle, MPI_Info info, int flavor)
{
    struct pf_comm *comm = pf_comm_of(r, handle);
    if (!comm)
        return NULL;
    struct pf_win *win = pf_calloc(1, sizeof *win);
    win->object.kind = PF_KIND_WIN;
    win->object.references = 1;
    win->comm = pf_comm_retain(comm);
    win->errhandler = MPI_ERRORS_ARE_FATAL;
    win->flavor = flavor;
    win->model = MPI_WIN_UNIFIED;
    win->disp_unit = 1;
    win->info = pf_info_of(info) ? pf_info_of(pf_info_copy(r, info)) : NULL;
    pf_call_schedule(r, comm == r->world);
    win->in = pf_comm_collective(r, comm);
    win->shared = pf_win_shared_join(comm, comm->collectives - 1);
    return win;
}

static void destroy(struct pf_win *win)
{
    pf_errhandler_release(win->errhandler);
    pf_comm_release(win->comm);
    if (win->info)
        pf_info_release((MPI_Info)(uintptr_t)win->info);
    pf_win_shared_leave(win->shared);
    if (win->accessed)
        pf_group_release(win->accessed);
    while (win->regions) {
        struct pf_win_region *gone = win->regions;
        win->regions = gone->next;
        free(gone);
    }
    free(win->open);
    free(win->memory);
    win->object.kind = PF_KIND_DEAD;
    pf_object_discard(win);
}

/* Ends the creation: the handle, or nothing after an error. */
int pf_win_created(struct pf_rank *r, MPI_Comm comm, struct pf_win *win, pf_native_win_t native, int code,
                   MPI_Win *handle)
{
    struct pf_instance *in = win->in;
    if (code == MPI_SUCCESS) {
        win->object.native[in->impl] = native;
        in->ops->win_made(in, native);
        r->live_objects++;
        DL_APPEND(r->windows, win);
        *handle = (MPI_Win)(uintptr_t)win;
    } else {
        destroy(win);
    }
    return pf_call_leave(r, in, comm, code);
}

static int create(struct pf_rank *r, struct pf_win *win, MPI_Info info, MPI_Comm comm, MPI_Win *handle)
{
    pf_native_win_t native = NULL;
    pf_win_publish(win);
    struct pf_instance *in = pf_call_native_begin(r, win->in);
    int code = in->fn->Win_create(win->base, win->size, win->disp_unit, pf_native(in, info),
                                  pf_native(in, comm), &native);
    return pf_win_created(r, comm, win, native, code, handle);
}

int pf_PMPI_Win_create(void *base, MPI_Aint size, int disp_unit, MPI_Info info, MPI_Comm comm,
                       MPI_Win *handle)
{
    struct pf_rank *r = PF_ENTER(Win_create);
    struct pf_win *win = handle ? pf_win_begin(r, comm, info, MPI_WIN_FLAVOR_CREATE) : NULL;
    if (!win)
        return pf_call_error(r, comm, handle ? MPI_ERR_COMM : MPI_ERR_ARG);
    win->base = base;
    win->size = size;
    win->disp_unit = disp_unit;
    return create(r, win, info, comm, handle);
}

/* The memory is the middleware's, so that it is one memory for all implementations. */
int pf_PMPI_Win_allocate(MPI_Aint size, int disp_unit, MPI_Info info, MPI_Comm comm, void *baseptr,
                         MPI_Win *handle)
{
    struct pf_rank *r = PF_ENTER(Win_allocate);
    if (!handle || !baseptr || size < 0)
        return pf_call_error(r, comm, handle && baseptr ? MPI_ERR_SIZE : MPI_ERR_ARG);
    void *memory = malloc(size ? (size_t)size : 1);
    struct pf_win *win = memory ? pf_win_begin(r, comm, info, MPI_WIN_FLAVOR_ALLOCATE) : NULL;
    if (!win) {
        int error = memory ? MPI_ERR_COMM : MPI_ERR_NO_MEM;
        free(memory);
        return pf_call_error(r, comm, error);
    }
    win->base = win->memory = memory;
    win->size = size;
    win->disp_unit = disp_unit;
    *(void **)baseptr = win->base;
    return create(r, win, info, comm, handle);
}

int pf_PMPI_Win_create_dynamic(MPI_Info info, MPI_Comm comm, MPI_Win *handle)
{
    struct pf_rank *r = PF_ENTER(Win_create_dynamic);
    struct pf_win *win = handle ? pf_win_begin(r, comm, info, MPI_WIN_FLAVOR_DYNAMIC) : NULL;
    if (!win)
        return pf_call_error(r, comm, handle ? MPI_ERR_COMM : MPI_ERR_ARG);
    pf_native_win_t native = NULL;
    pf_win_publish(win);
    struct pf_instance *in = pf_call_native_begin(r, win->in);
    int code = in->fn->Win_create_dynamic(pf_native(in, info), pf_native(in, comm), &native);
    return pf_win_created(r, comm, win, native, code, handle);
}

int pf_win_native_free(struct pf_rank *r, struct pf_win *win)
{
    struct pf_instance *in = pf_call_native_begin(r, win->in);
    pf_native_win_t native = win->object.native[in->impl];
    in->ops->win_gone(in, native);
    int code = in->fn->Win_free(&native);
    if (code == MPI_SUCCESS) {
        DL_DELETE(r->windows, win);
        win->object.native[in->impl] = NULL;
        pf_win_shadows_free(r, win);
    }
    return code;
}

int pf_PMPI_Win_free(MPI_Win *handle)
{
    struct pf_rank *r = PF_ENTER(Win_free);
    struct pf_win *win = handle ? pf_win_of(*handle) : NULL;
    if (!win)
        return pf_call_error(r, MPI_COMM_WORLD, MPI_ERR_WIN);
    int error = pf_attributes_delete_all(&win->attributes, *handle);
    if (error != MPI_SUCCESS)
        return pf_win_failed(r, *handle, error);
    struct pf_instance *in = win->in;
    int code = pf_win_native_free(r, win);
    if (code == MPI_SUCCESS) {
        destroy(win);
        r->live_objects--;
        *handle = MPI_WIN_NULL;
    }
    return pf_win_leave(r, in, *handle, code);
}

int pf_PMPI_Win_get_group(MPI_Win handle, MPI_Group *group)
{
    struct pf_rank *r = PF_ENTER(Win_get_group);
    struct pf_win *win = pf_win_of(handle);
    if (!win)
        return pf_win_failed(r, handle, MPI_ERR_WIN);
    if (!group)
        return pf_win_failed(r, handle, MPI_ERR_ARG);
    *group = pf_group_new(r, win->comm->shared->world_ranks, win->comm->shared->size);
    return pf_call_return(r, MPI_SUCCESS);
}

/* Memory is one for all ranks here (MPI_WIN_UNIFIED): nothing to do (MPI 3.1 section 11.5.4). A loop of them
 * waits for a store of another rank. */
int pf_PMPI_Win_sync(MPI_Win handle)
{
    struct pf_rank *r = PF_ENTER(Win_sync);
    struct pf_win *win = pf_win_of(handle);
    if (!win)
        return pf_win_failed(r, handle, MPI_ERR_WIN);
    notice_spinning(r, win->in, win);
    return pf_call_return(r, MPI_SUCCESS);
}

int pf_PMPI_Win_set_name(MPI_Win handle, const char *name)
{
    struct pf_rank *r = PF_ENTER(Win_set_name);
    struct pf_win *win = pf_win_of(handle);
    if (!win || !name)
        return pf_win_failed(r, handle, win ? MPI_ERR_ARG : MPI_ERR_WIN);
    size_t length = strnlen(name, sizeof win->name - 1);
    memcpy(win->name, name, length);
    win->name[length] = 0;
    return pf_call_return(r, MPI_SUCCESS);
}

int pf_PMPI_Win_get_name(MPI_Win handle, char *name, int *length)
{
    struct pf_rank *r = PF_ENTER(Win_get_name);
    struct pf_win *win = pf_win_of(handle);
    if ((!win && handle != MPI_WIN_NULL) || !name || !length)
        return pf_win_failed(r, handle, name && length ? MPI_ERR_WIN : MPI_ERR_ARG);
    strcpy(name, win ? win->name : "MPI_WIN_NULL");
    *length = (int)strlen(name);
    return pf_call_return(r, MPI_SUCCESS);
}

/* Hints are hints: they are kept for MPI_Win_get_info, and none is followed (MPI 3.1 section 11.2.7). */
int pf_PMPI_Win_set_info(MPI_Win handle, MPI_Info info)
{
    struct pf_rank *r = PF_ENTER(Win_set_info);
    struct pf_win *win = pf_win_of(handle);
    if (!win || !pf_info_of(info))
        return pf_win_failed(r, handle, win ? MPI_ERR_INFO : MPI_ERR_WIN);
    if (win->info)
        pf_info_release((MPI_Info)(uintptr_t)win->info);
    win->info = pf_info_of(pf_info_copy(r, info));
    return pf_call_return(r, MPI_SUCCESS);
}

int pf_PMPI_Win_get_info(MPI_Win handle, MPI_Info *info)
{
    struct pf_rank *r = PF_ENTER(Win_get_info);
    struct pf_win *win = pf_win_of(handle);
    if (!win || !info)
        return pf_win_failed(r, handle, win ? MPI_ERR_ARG : MPI_ERR_WIN);
    if (!win->info)
        return pf_call_return(r, pf_PMPI_Info_create(info));
    *info = pf_info_copy(r, (MPI_Info)(uintptr_t)win->info);
    return pf_call_return(r, MPI_SUCCESS);
}
