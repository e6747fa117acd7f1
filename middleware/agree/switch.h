/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "adapters/model.h"

struct pf_rank;
struct pf_instance;

/* Loads what `model` needs, for all ranks, if it is not there yet; ends the process with a clear line when
 * that fails. At no simulated time; no rank waits. Call it from a rank's actor. */
void pf_model_load(enum pf_model model);

/* In a workload, what a new instance calls MPI_COMM_WORLD has the ranks of all jobs: that of the rank's job
 * is made when it is used (pf_object_predefined()). */
void pf_model_withhold_world(struct pf_instance *in);

/* Makes `model`, which is loaded, that of the rank's new operations, and nothing else: how a rank starts. */
void pf_model_enforce(struct pf_rank *r, enum pf_model model);

/* Puts `model` in force for this rank, with accounts and ledger. Costs no simulated time. */
void pf_switch_to(struct pf_rank *r, enum pf_model model);

/* The model that stands in for those that cannot run something: the one over Open MPI that was loaded first,
 * portals before that. */
enum pf_model pf_switch_stand_in(void);

/* The implementation of a call that SMPI cannot run and that matches no messages: Open MPI, which is loaded
 * if need be. Counted as a fallback call when a model of another implementation is in force. */
struct pf_instance *pf_switch_promote(struct pf_rank *r);

/* What a communicating call is, as far as it says so: what is not known is 0. */
struct pf_call_shape {
    bool world;    /* a collective on MPI_COMM_WORLD */
    bool all;      /* a collective of all ranks, on that or on another communicator */
    int peer;      /* ranks from the caller to the other side, or the root; negative: a wildcard or none */
    int members;   /* of the communicator */
    int64_t bytes; /* that the caller has given to send, or waits for */
};

/* Asks the schedule before a communicating call, and switches when it says so. */
void pf_switch_by_schedule(struct pf_rank *r, const struct pf_call_shape *shape);
