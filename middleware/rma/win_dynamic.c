/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory that comes to a window and goes (MPI 3.1 section 11.2.4). The middleware keeps a list, for the
 * window's shadows. */
#include <stdlib.h>

#include "middleware/comm/routing.h"
#include "middleware/rma/win_order.h"

int pf_PMPI_Win_attach(MPI_Win handle, void *base, MPI_Aint size)
{
    struct pf_rank *r = PF_ENTER(Win_attach);
    struct pf_win *win = pf_win_of(handle);
    if (!win)
        return pf_win_failed(r, handle, MPI_ERR_WIN);
    if (win->flavor != MPI_WIN_FLAVOR_DYNAMIC)
        return pf_win_failed(r, handle, MPI_ERR_RMA_FLAVOR);
    if (size < 0 || (size > 0 && !base))
        return pf_win_failed(r, handle, MPI_ERR_RMA_ATTACH);
    struct pf_win_region *region = malloc(sizeof *region);
    if (!region)
        return pf_win_failed(r, handle, MPI_ERR_NO_MEM);
    *region = (struct pf_win_region){base, size, win->regions};
    win->regions = region;
    struct pf_instance *in = pf_call_native_begin(r, win->in);
    int code = MPI_SUCCESS;
    for (int i = 0; i < PF_IMPL_COUNT && code == MPI_SUCCESS; i++)
        if (win->object.native[i])
            code = r->instances[i]->fn->Win_attach(win->object.native[i], base, size);
    return pf_win_leave(r, in, handle, code);
}

int pf_PMPI_Win_detach(MPI_Win handle, const void *base)
{
    struct pf_rank *r = PF_ENTER(Win_detach);
    struct pf_win *win = pf_win_of(handle);
    if (!win)
        return pf_win_failed(r, handle, MPI_ERR_WIN);
    if (win->flavor != MPI_WIN_FLAVOR_DYNAMIC)
        return pf_win_failed(r, handle, MPI_ERR_RMA_FLAVOR);
    struct pf_win_region **link = &win->regions;
    while (*link && (*link)->base != base)
        link = &(*link)->next;
    if (!*link)
        return pf_win_failed(r, handle, MPI_ERR_ARG);
    struct pf_win_region *gone = *link;
    *link = gone->next;
    pf_win_order_forget(win, base, gone->size);
    free(gone);
    struct pf_instance *in = pf_call_native_begin(r, win->in);
    int code = MPI_SUCCESS;
    for (int i = 0; i < PF_IMPL_COUNT && code == MPI_SUCCESS; i++)
        if (win->object.native[i])
            code = r->instances[i]->fn->Win_detach(win->object.native[i], base);
    return pf_win_leave(r, in, handle, code);
}
