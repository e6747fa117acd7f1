/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <simgrid/actor.h>

#include "adapters/adapter.h"
#include "base/self.h"
#include "loader/elf_file.h"
#include "pf_fn.h"

/*
 * One stock MPICH per simulated rank, all in this process, over the simulated UCX. Where it believes that it
 * has a process of its own, its imports lead elsewhere (hooks.c); a launcher's side of PMI is in pmi.c.
 */
struct pf_mpich_rank {
    pf_self_t *self;
    void *library; /* as loader/copy.h knows it */
    char variables[2][24];
    char reply[2048]; /* of PMI, not read yet */
    size_t reply_length, reply_read;
    int never; /* a request that does not complete: to look at it makes progress */
    void *natives[PF_FN_COUNT];
    sg_actor_t helper; /* the actor that is inside in place of the rank, which pays nothing; NULL: none */
    bool ready;
    bool publishes; /* has got its address, which the launcher has not yet */
    double owed;    /* simulated time (s) of its own work that was too short to be paid */
};

/* The job's, as adapters know it; `why` one line. See struct pf_adapter_ops. */
int pf_mpich_probe(char *why, size_t n);
int pf_mpich_open(const struct pf_job *job, char *why, size_t n);

/* Of a job that is given, before its ranks have copies of MPICH. */
void pf_mpich_ranks_make(const struct pf_job *job);
const struct pf_job *pf_mpich_job(void);
struct pf_mpich_rank *pf_mpich_rank(int rank);

/* Of the calling actor. */
static inline struct pf_mpich_rank *pf_mpich_caller(void)
{
    const pf_self_t *self = pf_self();
    return self ? pf_mpich_rank(self->rank) : NULL;
}

/* Waits until all ranks are here; while they are made. */
void pf_mpich_fence(void);

/* Makes progress by an actor that works on behalf of the rank. */
void pf_mpich_progress(struct pf_mpich_rank *rank);

/* Whether a wait for this request would return at once. */
bool pf_mpich_request_done(struct pf_mpich_rank *rank, int request);

/* Finds what shadow.c needs in the library of a rank that has been initialised; once, for all ranks. False,
 * and why, if it is not there. */
bool pf_mpich_shadow_prepare(const struct pf_mpich_rank *rank, const struct pf_elf *elf, char *why, size_t n);

/* Communicators over ranks of the world, made locally. Return MPICH's error. */
int pf_mpich_comm_shadow(struct pf_mpich_rank *rank, const int *world_ranks, int n, int id, int *comm);
int pf_mpich_intercomm_shadow(struct pf_mpich_rank *rank, const struct pf_intercomm_recipe *recipe,
                              int *comm);
/* Windows, of struct pf_adapter_ops; return MPICH's error. */
int pf_mpich_win_shadow(struct pf_mpich_rank *rank, const struct pf_win_recipe *recipe, int *win);
int pf_mpich_win_open(struct pf_mpich_rank *rank, int win);
int pf_mpich_win_free(struct pf_mpich_rank *rank, int win);
/* Whether MPICH still has the communicator of this id. */
bool pf_mpich_comm_kept(const struct pf_mpich_rank *rank, int id);
enum { PF_MPICH_SHADOWS = 1024 }; /* ids, from 0 */
