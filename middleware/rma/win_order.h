/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "middleware/p2p/request.h"
#include "middleware/rma/win.h"

/*
 * What MPI promises for locks and atomic calls, and SMPI does not keep by itself (MPI 3.1 sections 11.5.3 and
 * 11.7): an exclusive lock while shared ones exist; that the next holder of a lock sees what the last one has
 * written; that no call comes between the look and the swap of a compare-and-swap. The middleware makes a
 * rank wait where SMPI would give a wrong result, and nowhere else: all other programs take the simulated
 * time that they take under stock SMPI. Windows of other implementations have nothing of this.
 */
enum pf_win_access_kind { PF_WIN_READS, PF_WIN_WRITES, PF_WIN_ATOMIC };

/* A call that reads or writes [first, last) of a target's memory. */
struct pf_win_access {
    struct pf_win *win;
    int target;
    enum pf_win_access_kind kind;
    char *first, *last;
};

/* Before and after the native call. `win` of the access is NULL where there is nothing to keep in order. */
void pf_win_access_begin(struct pf_win_access *access, struct pf_win *win, int target, MPI_Aint disp,
                         int count, MPI_Datatype datatype, enum pf_win_access_kind kind);
void pf_win_access_end(struct pf_win_access *access);

/* The end of a compare-and-swap: whether it has swapped can be seen from what it has returned. */
void pf_win_access_swapped(struct pf_win_access *access, const void *origin, const void *compare,
                           const void *result);

/* The members' locks of each other. */
void pf_win_order_lock(struct pf_win *win, int type, int target);
void pf_win_order_unlock(struct pf_win *win, int target);
/* The native unlock has returned: what the epoch has written is there. */
void pf_win_order_unlocked(struct pf_win *win, int target);

/* SMPI gives the receiving side of an MPI_Rget away, and the calls that end it wait for the sending side
 * only. So its requests stand in a list of the window until they have completed. */
void pf_win_order_get(struct pf_win *win, struct pf_request *request, int target);
/* After the native call: waits for those from a target, or from all (-1). The application's wait then finds
 * them complete. */
void pf_win_order_await_gets(struct pf_win *win, int target);

/* Memory of this member leaves the window: it is not read any more. */
void pf_win_order_forget(struct pf_win *win, const void *base, MPI_Aint size);

void pf_win_order_free(struct pf_win_order *order);
