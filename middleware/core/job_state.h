/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <pthread.h>

#include <simgrid/semaphore.h>

#include "middleware/core/rank.h"
#include "middleware/core/workload.h"

/*
 * A world: ranks that follow each other and share an MPI_COMM_WORLD, a schedule and a model to start in. A
 * run of one program has one, a workload one for each of its jobs; what is numbered in the whole process
 * (ranks of groups and shadows, NICs, traces) counts through all of them.
 */
struct pf_world {
    const char *name; /* of the job, NULL: it is no workload */
    int first, size;  /* its ranks */
    struct pf_schedule *schedule;
    enum pf_model start_model;
    bool switched;                 /* a rank has left that model */
    struct pf_comm_shared *shared; /* of its MPI_COMM_WORLD; NULL before its first rank begins */
    /* Of a job of a workload: */
    bool has_begun, has_failed; /* failed: its ranks have been stopped, and the others go on */
    double begin, end;          /* s, the dates of that and of the last rank that has left main() */
    int left, status;           /* how many have, and the first status other than 0 */
    char *reason;               /* why it has failed, NULL: it has not, or by that status alone; */
    int failed_rank;            /* and which of its ranks */
    int waiting;                /* ranks of other jobs that begin when all have left, */
    sg_sem_t waited;            /* and on what; NULL before the first one waits */
};

/* The ranks of the process. `ranks` is NULL before the first MPI call of the first rank. */
struct pf_job_state {
    int size;
    struct pf_rank *ranks;
    pf_self_t **selves; /* &ranks[i].self, as adapters want them */
    int missing;        /* a rank that had ended when the states were made, -1: none */
    int left_status;    /* of the first rank that left without MPI_Finalize, 1 if it was 0; 0: none has */
    pthread_t thread;   /* in which all ranks live; none when a call must stop the run, or when it is over, */
    bool over; /* and only exit handlers and destructors of the application run: there are no actors */
    void (*stop)(void);      /* what the next call of MPI does instead, NULL: nothing */
    bool alone;              /* one model is in force during all of this run */
    bool may_switch;         /* more than one model may be in force during this run, */
    bool strict;             /* and then both sides of a message must be in the same one: -agree strict */
    struct pf_world *worlds; /* in the order of their ranks; none before the settings are read */
    int world_count;
};

extern struct pf_job_state pf_job_state;

/* A rank switches to `model`, or binds a communicator to it. */
static inline void pf_job_switched(struct pf_rank *r, int model)
{
    r->job->switched |= model != (int)r->job->start_model;
}

/* pf_self() for what may be called at any time, also when the simulation is over: then NULL. */
static inline pf_self_t *pf_job_self(void)
{
    return pf_job_state.over ? NULL : pf_self();
}

/* All ranks of a job have left or stopped: those that wait for that begin. */
void pf_world_release(struct pf_world *world);

/* The calling actor goes no further: it is of a job that has been stopped, and was on its way then. */
void pf_world_stay(void) __attribute__((noreturn));

/* The end of a run of which nothing more is wanted: the same, with any status. From a rank. */
void pf_job_leave(int status) __attribute__((noreturn));
