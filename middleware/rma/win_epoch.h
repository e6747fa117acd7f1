/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "middleware/rma/win.h"

/*
 * What a member may do with a window at a time (MPI 3.1 section 11.5), for all models alike: implementations
 * notice some of the errors, each others. Functions that may refuse return an MPI error class, before
 * anything has happened. Answers are those of stock Open MPI over several hosts (osc/rdma), and with two
 * locks of one target those of osc/pt2pt and osc/sm; it lets some programs pass that are wrong (a window that
 * is freed within an epoch, MPI_Rput between fences), as is done here.
 */

/* May a call read or write so many items at the target? Whatever else is wrong with the arguments the
 * implementation says. */
int pf_win_epoch_access(struct pf_win *win, int target, MPI_Aint disp, int count, MPI_Datatype datatype);

/* Does the window have the memory, of which the items reach from one byte up to before another? What is
 * attached to another member's dynamic window is not known here. */
bool pf_win_epoch_is_inside(const struct pf_win *win, int target, MPI_Aint disp, int count,
                            MPI_Datatype datatype, MPI_Aint *first, MPI_Aint *end);

/* Items of an accumulate that have no data are no items of the other side's type, or of one that the
 * operation knows: implementations look for the basic type of each. */
void pf_win_epoch_items(int *count, MPI_Datatype *datatype, MPI_Datatype other, MPI_Op op);

/* May the member flush its operations at a target, or at all (-1)? */
int pf_win_epoch_flush(const struct pf_win *win, int target);

/* May such an epoch begin, on a target if it is a lock? Not those of MPI_Win_post. */
int pf_win_epoch_may_begin(const struct pf_win *win, enum pf_win_epoch kind, int target);

/* It has begun, or ended. */
void pf_win_epoch_begin(struct pf_win *win, enum pf_win_epoch kind, int target);
void pf_win_epoch_end(struct pf_win *win, int target);

/* MPI_ERR_ASSERT where there is another bit than those allowed. */
static inline int pf_win_epoch_assert(int assertion, int allowed)
{
    return assertion & ~allowed ? MPI_ERR_ASSERT : MPI_SUCCESS;
}
