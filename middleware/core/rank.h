/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "adapters/adapter.h"
#include "base/config.h"
#include "base/self.h"
#include "lowlevel/trace/record.h"
#include "middleware/account/accounting.h"
#include "adapters/model.h"
#include "middleware/core/cursor.h"
#include "middleware/core/object.h"

struct pf_comm;
struct pf_request;
struct pf_progress;
struct pf_unreceived;
struct pf_buffered;
struct pf_win;
struct pf_wait_set;
struct pf_check;
struct pf_observed;
struct pf_world;

/* The name of a function by its number, "MPI_Send"; never NULL. */
const char *pf_fn_name(int fn);

/* The level of thread support that a program gets which asks for `required`: at most that of the setting
 * thread_level, in the terms of the question, which are the standard ABI's in a program compiled with
 * PARFOCAL_MPI5_ABI. */
static inline int pf_thread_level(int required)
{
    enum { ABI_FUNNELED = 1024 };
    int most = *pf_config.thread_level == 'f'   ? MPI_THREAD_FUNNELED
               : *pf_config.thread_level == 's' ? MPI_THREAD_SERIALIZED
                                                : MPI_THREAD_MULTIPLE;
    if (required >= ABI_FUNNELED)
        most = ABI_FUNNELED << (most - MPI_THREAD_FUNNELED);
    return required < most ? required : most;
}

/* What a rank is doing, for diagnoses: filled in by the wrappers with plain stores. */
struct pf_call {
    int fn;    /* enum pf_fn of the current or last call */
    int model; /* enum pf_model whose native function runs; none: outside; PF_MODEL_COUNT: in several */
    int peer;  /* middleware rank (or wildcard) of a point-to-point call */
    int tag;
    const void *site;                /* return address in the application */
    const struct pf_wait_set *waits; /* the requests of a wait call while it runs, else NULL */
    MPI_Comm comm;
};

/* The state of one rank. Lives from the start of the job to its end. */
struct pf_rank {
    pf_self_t self;
    struct pf_instance *active; /* where new operations go */
    enum pf_model model;        /* the model in force; several models may share an implementation */
    struct pf_instance *models[PF_MODEL_COUNT]; /* NULL while a model is not loaded */
    /* Of each implementation, that of the model in which the rank was last, or of the first one that was
     * loaded: a call of the middleware's own goes by the network of that model. */
    struct pf_instance *instances[PF_IMPL_COUNT];
    struct pf_account *account;
    struct pf_schedule_cursor cursor;
    struct pf_call call;
    struct pf_world *job; /* the one that it is a rank of */
    struct pf_comm *world;
    struct pf_comm *alone;     /* MPI_COMM_SELF */
    struct pf_instance *base;  /* there from the start: its clock is the one that the application reads */
    bool base_started;         /* that has begun for this rank */
    struct pf_instance *ahead; /* has been called and may be ahead of the clock, else NULL */
    double owed;               /* s that it has to pay for reading clocks, see process/libc_clock.c */
    struct pf_request *free_requests;
    struct pf_progress *progress;
    struct pf_unreceived *unreceived; /* messages sent to this rank, see stranded.h */
    int state;                        /* enum pf_rank_state */
    bool open;                        /* it is running, and no layer above wants to name the call sites */
    bool alarmed;             /* it has asked for a SIGALRM (process/libc_alarm.c): `open` is not set, */
    bool open_without_alarm;  /* but would be */
    const void *entry_site;   /* of the call that such a layer has passed on, else NULL */
    const void *fortran_site; /* of the call that the Fortran interface makes next, else NULL; `open` is not
                                 set then */
    const void
        *fortran_through;   /* of Fortran's call of a function of C that makes the next call, else NULL */
    bool fortran_attribute; /* the same call sets or gets an attribute as a number */
    bool reopens;           /* `open` was set before that */
    bool portals_program;   /* it has called Portals by itself, before MPI_Init or without it */
    bool computes; /* it has called an interface next to MPI before MPI_Init or without it: what is between
                      its calls is charged */
    int thread_level;
    void *bsend_buffer; /* the user's, and which implementation holds it now */
    int bsend_size;
    int bsend_impl;
    struct pf_buffered *buffered; /* buffered sends that the middleware has copied, see bsend.c */
    struct pf_win *windows;       /* in the order in which they were made */
    int live_objects;             /* user handles not yet freed */
    struct pf_observed *observed; /* the call of the application that is being traced, else NULL */
    pf_trace_span between;        /* what the rank does since the last such call */
    struct pf_check *check;       /* what the checking layer knows about the rank; NULL without it */
};

enum pf_rank_state {
    PF_RANK_NEW,
    PF_RANK_RUNNING,
    PF_RANK_FINALIZED,
    PF_RANK_LEFT /* main() is over, and MPI_Finalize was not called */
};
