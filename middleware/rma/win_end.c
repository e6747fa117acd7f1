/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Finalize and windows that are still there. */
#include <utlist.h>

#include "base/log.h"
#include "middleware/comm/routing.h"
#include "middleware/rma/win.h"

/* A member that has come to MPI_Finalize still answers the others, as long as they may reach it by a window
 * that no member has freed (MPI 3.1 section 8.7). The handles stay, and so does the memory. An open epoch of
 * MPI_Win_lock_all, which stock Open MPI lets pass, ends as well. */
void pf_win_end_all(struct pf_rank *r)
{
    struct pf_win *win, *next;
    DL_FOREACH_SAFE(r->windows, win, next)
    {
        struct pf_instance *in = win->in;
        int code = MPI_SUCCESS;
        if (win->epoch == PF_WIN_LOCKED_ALL) {
            code = pf_win_unlock_all(r, win);
            pf_call_native_end(r, in);
        }
        if (code == MPI_SUCCESS)
            code = pf_win_native_free(r, win);
        pf_call_native_end(r, in);
        if (code != MPI_SUCCESS)
            pf_warn("rank %d: MPI_Finalize cannot end a window that was not freed: error class %d",
                    r->self.rank, in->ops->error_class(in, code));
    }
}
