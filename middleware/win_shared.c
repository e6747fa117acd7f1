/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Shared windows (MPI 3.1 section 11.2.3). SMPI has its own. Open MPI's need files in shared memory and a job
 * of processes; here all ranks live in one process, so the first rank of the communicator allocates the
 * memory of all and tells the others where it is. They say their sizes and hear the address by Open MPI's own
 * collectives, as in its component for shared memory, and each pays for its part.
 */
#include <stdlib.h>

#include "middleware/call.h"
#include "middleware/info.h"
#include "middleware/win.h"

typedef int allgather_fn(const void *, int, void *, void *, int, void *, void *);
typedef int bcast_fn(void *, int, void *, int, void *);
typedef int create_fn(void *, MPI_Aint, int, void *, void *, void **);
typedef int allocate_shared_fn(MPI_Aint, int, void *, void *, void *, void **);
typedef int shared_query_fn(void *, int, MPI_Aint *, int *, void *);

#define NATIVE(in, type, name) ((type *)(in)->fn[PF_FN_##name])

/* Fills win->parts and, in the first rank, win->memory: the parts follow each other without a gap. */
static int share_memory(struct pf_instance *in, struct pf_win *win, void *comm)
{
    void *byte = in->predefined[(uintptr_t)MPI_BYTE];
    int ranks = win->comm->shared->size;
    struct pf_win_part mine = {.size = win->size, .disp_unit = win->disp_unit};
    win->parts = calloc((size_t)ranks, sizeof *win->parts);
    if (!win->parts)
        return MPI_ERR_NO_MEM;
    int code =
        NATIVE(in, allgather_fn, Allgather)(&mine, sizeof mine, byte, win->parts, sizeof mine, byte, comm);
    if (code != MPI_SUCCESS)
        return code;
    size_t total = 0;
    for (int i = 0; i < ranks; i++)
        total += (size_t)win->parts[i].size;
    char *memory = NULL;
    if (win->comm->me == 0)
        memory = win->memory = malloc(total ? total : 1);
    code = NATIVE(in, bcast_fn, Bcast)(&memory, sizeof memory, byte, 0, comm);
    if (code == MPI_SUCCESS && !memory)
        return MPI_ERR_NO_MEM;
    for (int i = 0; i < ranks; i++) {
        win->parts[i].base = memory;
        memory += win->parts[i].size;
    }
    return code;
}

int pf_PMPI_Win_allocate_shared(MPI_Aint size, int disp_unit, MPI_Info info, MPI_Comm comm, void *baseptr,
                                MPI_Win *handle)
{
    struct pf_rank *r = PF_ENTER(Win_allocate_shared);
    if (!handle || !baseptr || size < 0)
        return pf_call_error(r, comm, handle && baseptr ? MPI_ERR_SIZE : MPI_ERR_ARG);
    struct pf_win *win = pf_win_begin(r, comm, info, MPI_WIN_FLAVOR_SHARED);
    if (!win)
        return pf_call_error(r, comm, MPI_ERR_COMM);
    void *native = NULL;
    win->size = size;
    win->disp_unit = disp_unit;
    struct pf_instance *in = pf_call_native_begin(r, win->in);
    int code;
    if (in->impl == PF_IMPL_SMPI) {
        code = NATIVE(in, allocate_shared_fn, Win_allocate_shared)(size, disp_unit, pf_native(in, info),
                                                                   pf_native(in, comm), baseptr, &native);
    } else {
        code = share_memory(in, win, pf_native(in, comm));
        if (code == MPI_SUCCESS) {
            *(void **)baseptr = win->parts[win->comm->me].base;
            code = NATIVE(in, create_fn, Win_create)(*(void **)baseptr, size, disp_unit, pf_native(in, info),
                                                     pf_native(in, comm), &native);
        }
    }
    if (code == MPI_SUCCESS)
        win->base = *(void **)baseptr;
    return pf_win_created(r, comm, win, native, code, handle);
}

/* For MPI_PROC_NULL the first rank that has memory answers. */
static const struct pf_win_part *part_of(const struct pf_win *win, int rank)
{
    int ranks = win->comm->shared->size;
    if (rank >= 0 && rank < ranks)
        return &win->parts[rank];
    if (rank != MPI_PROC_NULL)
        return NULL;
    for (int i = 0; i < ranks; i++)
        if (win->parts[i].size > 0)
            return &win->parts[i];
    return &win->parts[0];
}

int pf_PMPI_Win_shared_query(MPI_Win handle, int rank, MPI_Aint *size, int *disp_unit, void *baseptr)
{
    struct pf_rank *r = PF_ENTER(Win_shared_query);
    struct pf_win *win = pf_win_of(handle);
    if (!win || !size || !disp_unit || !baseptr)
        return pf_win_failed(r, handle, win ? MPI_ERR_ARG : MPI_ERR_WIN);
    if (win->flavor != MPI_WIN_FLAVOR_SHARED)
        return pf_win_failed(r, handle, MPI_ERR_RMA_FLAVOR);
    if (!win->parts) {
        struct pf_instance *in = pf_call_native_begin(r, win->in);
        int code = NATIVE(in, shared_query_fn, Win_shared_query)(
            win->object.native[in->impl], pf_native_rank(in, rank), size, disp_unit, baseptr);
        return pf_win_leave(r, in, handle, code);
    }
    const struct pf_win_part *part = part_of(win, rank);
    if (!part)
        return pf_win_failed(r, handle, MPI_ERR_RANK);
    *size = part->size;
    *disp_unit = part->disp_unit;
    *(void **)baseptr = part->base;
    return pf_call_return(r, MPI_SUCCESS);
}
