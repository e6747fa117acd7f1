/* SPDX-License-Identifier: BSD-3-Clause */
/* Error handlers of windows. */
#include "middleware/comm/routing.h"
#include "middleware/object/errhandler_calls.h"
#include "middleware/rma/win.h"

/* Where the error handler of a window is kept, NULL when the handle is none. */
static MPI_Errhandler *slot_of(MPI_Win handle)
{
    struct pf_win *win = pf_win_of(handle);
    return win ? &win->errhandler : NULL;
}

int pf_win_raise(struct pf_rank *r, MPI_Win win, int code)
{
    MPI_Errhandler *slot = slot_of(win);
    return slot ? pf_errhandler_run(r, *slot, &win, code) : pf_errhandler_raise(r, MPI_COMM_WORLD, code);
}

int pf_PMPI_Win_create_errhandler(MPI_Win_errhandler_function *function, MPI_Errhandler *errhandler)
{
    return pf_errhandler_create(PF_ENTER(Win_create_errhandler), PF_ERRHANDLER_WIN, (void (*)(void))function,
                                errhandler);
}

int pf_PMPI_Win_set_errhandler(MPI_Win win, MPI_Errhandler errhandler)
{
    struct pf_rank *r = PF_ENTER(Win_set_errhandler);
    MPI_Errhandler *slot = slot_of(win);
    return pf_errhandler_finish(r, MPI_COMM_WORLD,
                                slot ? pf_errhandler_set(slot, errhandler, PF_ERRHANDLER_WIN) : MPI_ERR_WIN);
}

int pf_PMPI_Win_get_errhandler(MPI_Win win, MPI_Errhandler *errhandler)
{
    struct pf_rank *r = PF_ENTER(Win_get_errhandler);
    MPI_Errhandler *slot = slot_of(win);
    return pf_errhandler_finish(r, MPI_COMM_WORLD, slot ? pf_errhandler_get(slot, errhandler) : MPI_ERR_WIN);
}

int pf_PMPI_Win_call_errhandler(MPI_Win win, int errorcode)
{
    struct pf_rank *r = PF_ENTER(Win_call_errhandler);
    if (!slot_of(win))
        return pf_call_error(r, MPI_COMM_WORLD, MPI_ERR_WIN);
    (void)pf_win_raise(r, win, errorcode);
    return pf_call_return(r, MPI_SUCCESS);
}
