/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <pthread.h>

#include "middleware/core/job_state.h"
#include "middleware/core/rank.h"
#include "pf_fn.h"

/*
 * What every wrapper does on its way in and out, and how it translates its arguments. All of it is inline:
 * this is the cost of a call (see docs/performance.md). agree/route.h leads the call into an implementation.
 */

#define PF_LIKELY(x)   __builtin_expect(!!(x), 1)
#define PF_UNLIKELY(x) __builtin_expect(!!(x), 0)

/* The way in when pf_rank.open is not set. The call is not allowed now (before MPI_Init, after MPI_Finalize):
 * says so and ends. Or a layer above (the checks, the Fortran interface) has passed it on. */
struct pf_rank *pf_call_enter_slowly(const pf_self_t *self, int fn, const void *site);

/* Where the application has called a layer (the Fortran interface, an observed entry) that calls now;
 * otherwise `site`. Ends that state of the Fortran interface. */
const void *pf_call_site_of_layer(struct pf_rank *r, const void *site);

/* The same for a thread that the application made: all ranks live in one thread of the system. NULL, here and
 * above in a child process, for what can be answered by pf_call_rank_elsewhere(). */
struct pf_rank *pf_call_foreign_thread(int fn);

/* The rank whose thread or child process the caller is, to be looked at only; NULL: of none that is between
 * MPI_Init and MPI_Finalize. */
struct pf_rank *pf_call_rank_elsewhere(void);

/* The rest of an error: maps the code to the middleware's class and runs the error handler of `comm`. */
int pf_call_failed(struct pf_rank *r, struct pf_instance *in, MPI_Comm comm, int code);

/* An error that the middleware itself found; `error_class` is the middleware's. Also ends the call. */
int pf_call_error(struct pf_rank *r, MPI_Comm comm, int error_class);

/* The function is not implemented in this version: a clear MPI error. */
int pf_call_unsupported(int fn, const void *site);

/* The calling rank, or NULL (above); the slice of wall-clock since the last call was the application's own.
 */
static inline struct pf_rank *pf_call_enter(int fn, const void *site)
{
    if (PF_UNLIKELY(!pthread_equal(pthread_self(), pf_job_state.thread)))
        return pf_call_foreign_thread(fn);
    pf_self_t *self = pf_self();
    if (PF_UNLIKELY(!self || !self->mpi || !self->mpi->open))
        return pf_call_enter_slowly(self, fn, site);
    struct pf_rank *r = self->mpi;
    pf_account_enter(r->account);
    r->call.fn = fn;
    r->call.site = site;
    return r;
}

#define PF_ENTER(name) pf_call_enter(PF_FN_##name, __builtin_return_address(0))

/* Back to the application without a native call having been made. */
static inline int pf_call_return(struct pf_rank *r, int error_class)
{
    pf_account_leave(r->account);
    return error_class;
}

/* What a native call has returned, or should have. Until the next one. */
static inline int pf_native_code(const struct pf_instance *in, int code)
{
    return code ? code : in->unreported;
}

/* Something happened: the count of fruitless polls restarts. */
extern uint64_t pf_call_polls;

static inline void pf_call_reset_polls(void)
{
    pf_call_polls = 0;
}

/* A test or probe found nothing. Spinning costs simulated time, and a job in which all ranks spin is
 * reported. */
void pf_call_idle(struct pf_rank *r, struct pf_instance *in);

/* A blocking probe has looked PF_PROBE_LOOKS times in vain, and looks again: the same, and a job whose ranks
 * all wait is reported. */
void pf_call_probe_again(struct pf_rank *r, struct pf_instance *in);

/* The same for a call of which the implementation has none that it could have charged. */
void pf_call_idle_uncharged(struct pf_rank *r, struct pf_instance *in);

static inline void pf_call_peer(struct pf_rank *r, int peer, int tag, MPI_Comm comm)
{
    r->call.peer = peer;
    r->call.tag = tag;
    r->call.comm = comm;
}

/* Values: the middleware's to the implementation's. */
static inline int pf_native_rank(const struct pf_instance *in, int rank)
{
    if (PF_LIKELY(rank >= 0))
        return rank;
    switch (rank) {
    case MPI_ANY_SOURCE:
        return in->values->any_source;
    case MPI_PROC_NULL:
        return in->values->proc_null;
    case MPI_ROOT:
        return in->values->root;
    default:
        return -77777; /* valid nowhere: the implementation reports MPI_ERR_RANK */
    }
}

static inline int pf_native_tag(const struct pf_instance *in, int tag)
{
    if (PF_LIKELY(tag >= 0))
        return tag;
    return tag == MPI_ANY_TAG ? in->values->any_tag : -77777;
}

/* A send has no wildcard, which an implementation would take for a tag. */
static inline int pf_native_send_tag(int tag)
{
    return PF_LIKELY(tag >= 0) ? tag : -77777;
}

/* Buffers of collectives: MPI_IN_PLACE is a value of its own in each implementation. */
static inline void *pf_native_buffer(const struct pf_instance *in, const void *buffer)
{
    return PF_UNLIKELY(buffer == MPI_IN_PLACE) ? in->values->in_place : (void *)(uintptr_t)buffer;
}

/* Buffers of point-to-point calls: MPI_BOTTOM is the middleware's NULL. */
static inline void *pf_native_p2p_buffer(const struct pf_instance *in, const void *buffer)
{
    return PF_UNLIKELY(buffer == MPI_BOTTOM) ? in->values->bottom : (void *)(uintptr_t)buffer;
}

/* Status of the middleware from a native one. The count is kept in bytes (mpi.h, reserved fields). */
void pf_status_from_native(struct pf_instance *in, const void *native, MPI_Status *status);
/* The same for a message that a probe has found: implementations leave out that it was not cancelled. */
void pf_status_from_probe(struct pf_instance *in, const void *native, MPI_Status *status);
void pf_status_set_empty(MPI_Status *status);
bool pf_status_cancelled(const MPI_Status *status);

/* Native datatypes for a call that takes arrays of them; on the heap, freed by the caller. */
pf_native_datatype_t *pf_native_array(struct pf_instance *in, const MPI_Datatype *types, int n);

/* The place of status `i` behind the first: implementations' own have sizes of their own. */
static inline union pf_native_status *pf_native_status_at(const struct pf_instance *in,
                                                          union pf_native_status *first, int i)
{
    return (union pf_native_status *)((char *)first + (size_t)i * in->values->status_size);
}
