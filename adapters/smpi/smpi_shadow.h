/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/*
 * What SMPI can do but offers no C interface for: with its C++ symbols and the layout of its request object
 * (lowlevel/simgrid).
 */
#ifdef __cplusplus
extern "C" {
#endif

/* A communicator over `group` (an MPI_Group of SMPI, taken over), made locally. Members pass the same id. Ids
 * of SMPI's own count up from 0; the middleware's are moved out of their way. */
void *pf_smpi_comm_new(void *group, int id, bool node_local);

/* The messages of a nonblocking collective, in the order in which SMPI has started them; NULL after the last
 * one.
 */
void *pf_smpi_request_part(const void *request, size_t i);

/* MPI_Ibarrier. Rank 0 of SMPI's own answers each rank when it calls, hence before it has heard of all: here
 * the last rank to call sends each other one a message of no bytes. The caller's memory is O(1) per rank of
 * barriers that not all have called. Returns SMPI's code. */
int pf_smpi_ibarrier(void *comm, void **request);

/* Would PMPI_Wait on this request (an MPI_Request of SMPI) return at once? Looks only; no simulated time. */
bool pf_smpi_request_done(const void *request);

/* The data of a receive whose message has arrived and has not been unpacked. */
struct pf_smpi_received {
    void *type;         /* an MPI_Datatype of SMPI */
    const char *packed; /* SMPI's copy */
    char *to;           /* the receiver's buffer */
    size_t bytes;       /* of the message */
};

/* Is this a receive (an MPI_Request of SMPI) that SMPI is about to finish, with a message that is shorter
 * than its buffer, and no accumulate? Then `out` says what has arrived. */
bool pf_smpi_request_received_less(const void *request, struct pf_smpi_received *out);

/* Is this a receive whose message is longer than its buffer? And: a nonblocking collective of such receives;
 * SMPI notes the error in its status when it is complete. */
bool pf_smpi_request_truncated(const void *request);
void pf_smpi_request_truncate(void *request);

/* Does SimGrid still use this send or receive, and nothing but its handle keep it? Detached sends keep
 * themselves. */
bool pf_smpi_request_waits(const void *request);

/* Has the caller, number `me` of the communicator, sent itself no message yet that a receive of `tag` (an
 * MPI_ANY_TAG of SMPI) would have to take first? Looks only. */
bool pf_smpi_self_is_idle(void *comm, int me, int tag);

/* The number of the actor that this request sends to; -1 for a receive. */
long pf_smpi_request_sends_to(const void *request);

/* Does this request send to MPI_PROC_NULL, or receive from there? */
bool pf_smpi_request_to_null(const void *request);

/* Has this active send or receive met its other side? PMPI_Cancel would then take the message off the
 * network, which fails both sides. */
bool pf_smpi_request_matched(const void *request);

/* After PMPI_Cancel. A wait for a cancelled communication ends by an exception in SimGrid: SMPI's waits for
 * several then leave the others alone, and the actor is left with a dangling pointer that the next wait for
 * any follows. So the communication counts as done, without data; the request itself knows that it was
 * cancelled. No simulated time, and the same calls of SimGrid in waits and tests. A persistent request
 * would be taken for one that has not ended; the middleware makes a new one at each start, so it ends as
 * others do.
 */
void pf_smpi_request_cancelled(void *request);

/* Of a nonblocking reduction of no items of a derived datatype: SMPI frees the buffers of its parts only when
 * the request has one of its own, so it gets one, which SMPI frees as well. */
void pf_smpi_request_free_parts(void *request);

#ifdef __cplusplus
}
#endif
