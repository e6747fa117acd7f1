/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Finalize and windows that are still there. */
#include <utlist.h>

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
        if (win->epoch == PF_WIN_LOCKED_ALL) {
            pf_win_unlock_all(r, win);
            pf_call_native_end(r, in);
        }
        pf_win_native_free(r, win);
        pf_call_native_end(r, in);
    }
}
