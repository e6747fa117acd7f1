/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PF_MIDDLEWARE_CALL_H
#define PF_MIDDLEWARE_CALL_H

#include <pthread.h>

#include "middleware/account/compute.h"
#include "middleware/agree/progress.h"
#include "middleware/agree/switch.h"
#include "middleware/comm/comm.h"
#include "middleware/core/rank.h"
#include "middleware/datatype/datatype.h"
#include "middleware/core/job_state.h"
#include "pf_fn.h"

/*
 * What every wrapper does on its way in and out, and how it translates its arguments. All of it is inline:
 * this is the cost of a call (see docs/performance.md).
 */

#define PF_LIKELY(x)   __builtin_expect(!!(x), 1)
#define PF_UNLIKELY(x) __builtin_expect(!!(x), 0)

/* The way in when pf_rank.open is not set. The call is not allowed now (before MPI_Init, after MPI_Finalize):
 * says so and ends. Or a layer above (the checks, the Fortran interface) has passed it on: returns the call
 * site in the application. */
const void *pf_call_enter_slowly(int fn, const void *site);

/* Where the application has called a layer (the Fortran interface, an observed entry) that calls now;
 * otherwise `site`. Ends that state of the Fortran interface. */
const void *pf_call_site_of_layer(struct pf_rank *r, const void *site);

/* The same for a thread that the application made: all ranks live in one thread of the system. */
void pf_call_foreign_thread(int fn) __attribute__((noreturn));

/* The rest of an error: maps the code to the hub's class and runs the error handler of `comm`. */
int pf_call_failed(struct pf_rank *r, struct pf_instance *in, MPI_Comm comm, int code);

/* An error that the hub itself found; `error_class` is the hub's. Also ends the call. */
int pf_call_error(struct pf_rank *r, MPI_Comm comm, int error_class);

/* Nobody can run this function in this version: a clear MPI error. */
int pf_call_unsupported(int fn, const void *site);

/* The calling rank; the slice of wall-clock since the last call was the application's own. */
static inline struct pf_rank *pf_call_enter(int fn, const void *site)
{
    if (PF_UNLIKELY(!pthread_equal(pthread_self(), pf_job_state.thread)))
        pf_call_foreign_thread(fn);
    pf_self_t *self = pf_self();
    if (PF_UNLIKELY(!self || !self->mpi || !self->mpi->open))
        site = pf_call_enter_slowly(fn, site);
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

/* A communicating call is about to run in some model: the schedule may switch first. */
static inline void pf_call_schedule(struct pf_rank *r, bool world_collective)
{
    if (PF_UNLIKELY(r->cursor.watching))
        pf_switch_by_schedule(r, &(struct pf_call_shape){.world = world_collective, .all = world_collective});
}

/* The same for a message, and for a collective on `comm` whose caller gives so many bytes in all; these look
 * at their arguments only when somebody watches. */
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

/* Before anything of the rank can be seen outside an implementation in which it may be ahead of the clock. */
static inline void pf_call_settle(struct pf_rank *r)
{
    if (PF_UNLIKELY(r->ahead != NULL))
        r->ahead->ops->settle(r->ahead);
}

/* May the call that begins leave the rank ahead of the clock? Notes it. */
static inline bool pf_call_runs_ahead(struct pf_rank *r, struct pf_instance *in)
{
    if (PF_UNLIKELY(in->values->runs_ahead))
        r->ahead = in;
    return in->values->runs_ahead;
}

static inline struct pf_instance *pf_call_native_begin(struct pf_rank *r, struct pf_instance *in)
{
    if (!pf_call_runs_ahead(r, in))
        pf_call_settle(r);
    r->call.model = in->model;
    pf_progress_guard(r, in->impl);
    pf_compute_native_begin(r, in);
    in->ops->enter(in);
    return in;
}

static inline void pf_call_native_end(struct pf_rank *r, struct pf_instance *in)
{
    in->ops->leave(in);
    pf_compute_native_end(r, in);
    r->call.model = PF_MODEL_NONE;
}

/* Ends a native call and the call. */
static inline int pf_call_leave(struct pf_rank *r, struct pf_instance *in, MPI_Comm comm, int code)
{
    pf_call_native_end(r, in);
    if (PF_UNLIKELY(code != MPI_SUCCESS))
        code = pf_call_failed(r, in, comm, code);
    pf_account_leave(r->account);
    return code;
}

/* Something happened: the count of fruitless polls starts anew. */
extern uint64_t pf_call_polls;

static inline void pf_call_reset_polls(void)
{
    pf_call_polls = 0;
}

/* A test or probe found nothing. Who spins spends simulated time, and a job in which everybody spins is
 * reported. */
void pf_call_idle(struct pf_rank *r, struct pf_instance *in);

/* The same for a call of which the implementation has none that it could have charged. */
void pf_call_idle_uncharged(struct pf_rank *r, struct pf_instance *in);

static inline void pf_call_peer(struct pf_rank *r, int peer, int tag, MPI_Comm comm)
{
    r->call.peer = peer;
    r->call.tag = tag;
    r->call.comm = comm;
}

/* Accounts for a message that the rank sends. */
static inline void pf_call_sent(struct pf_rank *r, int count, MPI_Datatype datatype)
{
    MPI_Count size = pf_datatype_size(datatype);
    pf_account_message(r->account, count > 0 && size > 0 ? (uint64_t)count * (uint64_t)size : 0);
    pf_call_reset_polls();
}

/* So many sends and receives start: the rank pays what the user has configured for the implementation's own
 * software. After pf_call_native_begin(): the computation before the call has been charged then, and SMPI's
 * timer stands while the others run. */
static inline void pf_call_message(struct pf_instance *in, int messages)
{
    if (PF_UNLIKELY(in->message_cost > 0))
        sg_actor_sleep_for(messages * in->message_cost);
}

/* A blocking receive from `source` (or a wildcard) has completed. */
void pf_call_received(struct pf_rank *r, struct pf_instance *in, MPI_Comm comm, int source,
                      const void *native, MPI_Status *status);

/* Values: the hub's to the implementation's. */
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

/* Buffers of collectives: MPI_IN_PLACE is a value of its own in each implementation. */
static inline void *pf_native_buffer(const struct pf_instance *in, const void *buffer)
{
    return PF_UNLIKELY(buffer == MPI_IN_PLACE) ? in->values->in_place : (void *)(uintptr_t)buffer;
}

/* Buffers of point-to-point calls: MPI_BOTTOM is the hub's NULL. */
static inline void *pf_native_p2p_buffer(const struct pf_instance *in, const void *buffer)
{
    return PF_UNLIKELY(buffer == MPI_BOTTOM) ? in->values->bottom : (void *)(uintptr_t)buffer;
}

/* SMPI counts the bytes of a message, and of all blocks of a collective's buffer, in an int. For what is
 * longer the native call gets a count that it refuses: as MPI_ERR_COUNT, before anything has happened. Says
 * why. */
int pf_call_too_long(const struct pf_instance *in, MPI_Count size, double count);

/* The count of a call that moves `times` blocks of it; a receive says 0. */
static inline int pf_native_count(const struct pf_instance *in, int count, MPI_Datatype datatype, int times)
{
    const struct pf_native_values *values = in->values;
    if (PF_LIKELY(!values->most_item) || count <= 0)
        return count;
    MPI_Count size = pf_datatype_size(datatype);
    if (PF_LIKELY(size <= values->most_item && (double)size * count * times <= values->most_bytes))
        return count;
    return pf_call_too_long(in, size, (double)count * times);
}

/* The counts of `n` blocks; `types` has one datatype for each, or (`one`) for all. */
const int *pf_native_counts(const struct pf_instance *in, const int *counts, int n, const MPI_Datatype *types,
                            bool one);

/* Status of the hub from a native one. The count is kept in bytes (mpi.h, reserved fields). */
void pf_status_from_native(struct pf_instance *in, const void *native, MPI_Status *status);
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

#endif
