/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "adapters/adapter.h"

/*
 * Windows of SMPI without communication, for which it offers no interface (pf_local_probe checks the
 * version). Handles are SMPI's. Nothing here takes simulated time or counts as the application's computation.
 */
#ifdef __cplusplus
extern "C" {
#endif

/* A window over recipe->comm, made locally. `recipe->board` has two entries for each member. */
void *pf_smpi_win_new(const struct pf_win_recipe *recipe);

/* A fence epoch of the window begins, as after MPI_Win_fence. */
void pf_smpi_win_open(void *win);

/* A call of MPI_Win_fence has ended: may operations follow? The epoch ends when one of another kind begins,
 * of which SMPI's window would else believe that it is none. */
void pf_smpi_win_fenced(const void *win, bool open);
void pf_smpi_win_close(void *win);

/* The end of a window, without its barriers. */
void pf_smpi_win_free(void *win);

/* What MPI_Win_allocate_shared communicates before it makes the window, in the same simulated time. When it
 * returns, all members have called. */
int pf_smpi_win_share(void *comm);

#ifdef __cplusplus
}
#endif
