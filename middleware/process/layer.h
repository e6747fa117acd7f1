/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "adapters/model.h"
#include "base/export.h"
#include "base/self.h"

/*
 * What an interface next to MPI asks of the process: OpenSHMEM (openshmem/), which runs on the NIC and knows
 * no accounts, and of models only their networks. The caller is a rank in all of them.
 *
 * All of it are functions. Its library is loaded with the program's copies, and a variable of that name would
 * be another one there (pf_config with the defaults).
 */

/* Wall-clock seconds after which a rank that computes may be waiting for a variable, 0: never (spin_hint). */
PF_EXPORT double pf_layer_spin_hint(void);

/* Any address inside the calling rank's copy of the program. */
PF_EXPORT const void *pf_layer_program(void);

/* The model in force for the rank when it calls the layer's first function: that of the run, or `portals`
 * by default. */
PF_EXPORT enum pf_model pf_layer_model(void);

/* The network under the NIC (pf_portals_network) by which the layer's commands go in this model. `analytic`
 * has no NIC for MPI; the layer has one over a network that prices each message by a closed form. Ends the
 * run with one line when there is none (`caller` needs it). */
PF_EXPORT const char *pf_layer_network(const char *caller, enum pf_model model);

/* The rank has called the layer's first function: what it computes from now on is charged, if it was not
 * before. */
PF_EXPORT void pf_layer_open(pf_self_t *self);

/* What a call is for a schedule. */
enum pf_layer_call {
    PF_LAYER_LOCAL,        /* no other rank notices it */
    PF_LAYER_COMMUNICATES, /* counts for `every` and @time */
    PF_LAYER_ALL           /* a collective of all ranks: also for @coll */
};

/* The rank's own computation ends here, at `site` (an address in the program, or NULL), and goes on there. It
 * is measured, recorded, replayed and charged as before an MPI call. Returns the model in force from now on:
 * the program, a phase or the schedule may have changed it. */
PF_EXPORT enum pf_model pf_layer_enter(pf_self_t *self, const void *site, enum pf_layer_call call);
PF_EXPORT void pf_layer_leave(pf_self_t *self);

/* For a look from another thread: the rank that computes now, NULL when one is in a call. *turn is another
 * number each time that a rank begins to compute. */
PF_EXPORT const pf_self_t *pf_layer_computing(uint64_t *turn);

/* `print` writes one line about a rank that is in a call of the layer, and returns whether it did; `left` is
 * called when a rank has left main(), as long as it can still do something. */
PF_EXPORT void pf_layer_register(bool (*print)(FILE *out, const pf_self_t *self),
                                 void (*left)(pf_self_t *self, int status));

/* A poll (`call`) has found nothing, and the rank pays as for a test of MPI that finds nothing. So many of
 * them, over all ranks, with no message of any rank and no call of MPI in between, end the run with a
 * diagnosis. */
PF_EXPORT void pf_layer_idle(pf_self_t *self, const char *call);

/* Where in the application's source an address is, as "file.c:12 (function)". */
PF_EXPORT const char *pf_layer_site(const void *address, char *text, size_t size);

/* Ends the whole job with this status, after its summary. */
PF_EXPORT void pf_layer_abort(pf_self_t *self, int status) __attribute__((noreturn));
