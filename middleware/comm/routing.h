/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "lowlevel/network/traffic.h"
#include "middleware/agree/route.h"
#include "middleware/comm/comm.h"
#include "middleware/datatype/limits.h"

/* The way of a call on a communicator: what the schedule and the accounts learn of it. */

/* The same for a message, and for a collective on `comm` whose caller gives so many bytes in all; these look
 * at their arguments only when a schedule needs them. */
void pf_comm_schedule_message(struct pf_rank *r, int peer, int count, MPI_Datatype datatype, MPI_Comm comm);
void pf_comm_schedule_collective(struct pf_rank *r, const struct pf_comm *comm, int root, int64_t bytes);

static inline void pf_call_schedule_message(struct pf_rank *r, int peer, int count, MPI_Datatype datatype,
                                            MPI_Comm comm)
{
    if (PF_UNLIKELY(r->cursor.watching))
        pf_comm_schedule_message(r, peer, count, datatype, comm);
}

/* Bytes of `n` blocks of a collective; `counts` has one number for each. */
int64_t pf_comm_bytes(const int *counts, int n, MPI_Datatype datatype);

/* Counts a message that the rank sends in this implementation, where no NIC does
 * (lowlevel/network/traffic.h).
 */
void pf_comm_traffic(struct pf_rank *r, const struct pf_instance *in, int peer, int count,
                     MPI_Datatype datatype, MPI_Comm comm);

static inline void pf_call_traffic(struct pf_rank *r, const struct pf_instance *in, int peer, int count,
                                   MPI_Datatype datatype, MPI_Comm comm)
{
    if (PF_UNLIKELY(pf_traffic != NULL))
        pf_comm_traffic(r, in, peer, count, datatype, comm);
}

/* Accounts for a message that the rank sends. */
static inline void pf_call_sent(struct pf_rank *r, int count, MPI_Datatype datatype)
{
    MPI_Count size = pf_datatype_size(datatype);
    pf_account_message(r->account, count > 0 && size > 0 ? (uint64_t)count * (uint64_t)size : 0);
    pf_call_reset_polls();
}
