/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <pthread.h>

#include "middleware/core/rank.h"

/* The ranks of the process. `ranks` is NULL before the first MPI call of the first rank. */
struct pf_job_state {
    int size;
    struct pf_rank *ranks;
    pf_self_t **selves; /* &ranks[i].self, as adapters want them */
    int missing;        /* a rank that had ended when the states were made, -1: none */
    int left_status;    /* the first status other than 0 with which a rank left without MPI_Finalize */
    pthread_t thread;   /* in which all ranks live; none when a call must stop the run, or when it is over, */
    bool over; /* and only exit handlers and destructors of the application run: there are no actors */
    void (*stop)(void); /* what the next call of MPI does instead, NULL: nothing */
    bool may_switch;    /* more than one model may be in force during this run, */
    bool strict;        /* and then both sides of a message must be in the same one: -agree strict */
    struct pf_schedule *schedule;
    enum pf_model start_model;
};

extern struct pf_job_state pf_job_state;

/* pf_self() for what may be called at any time, also when the simulation is over: then NULL. */
static inline pf_self_t *pf_job_self(void)
{
    return pf_job_state.over ? NULL : pf_self();
}

/* The end of MPI_Abort and of a fatal error: writes the summary, ends the process with `status` (1 when it is
 * 0). */
void pf_job_abort(int rank, int status) __attribute__((noreturn));

/* The end of a run of which nothing more is wanted: the same, with any status. From a rank. */
void pf_job_leave(int status) __attribute__((noreturn));
