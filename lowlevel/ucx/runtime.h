/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/export.h"
#include "base/self.h"

/*
 * What a runtime asks of the simulated UCX beyond its own interface (ucp.h). The callers of UCX are led to
 * the functions of this one by name. As in lowlevel/portals/runtime.h, any actor that carries a process's
 * identity acts for it, and a process that finds nothing to do for a while is parked in ucp_worker_progress
 * until its NIC has something for it.
 */

/* The libraries over UCX. What one does in a process, another that is there too does not notice: each has a
 * UCX of its own. */
enum pf_ucx_user { PF_UCX_OPENMPI, PF_UCX_MPICH, PF_UCX_USERS };

/* What stands for a function of libucp, libucs or libucm when this library calls it; NULL: nothing does. */
PF_EXPORT void *pf_ucx_function(enum pf_ucx_user user, const char *name);

/* While set, calls of this process cost no simulated time. The process exists from its first call on. */
PF_EXPORT void pf_ucx_free_mode(pf_self_t *self, enum pf_ucx_user user, bool on);

/* The program enters the communication library: polls in vain are counted again from 0, and what it begins
 * from now on goes by this network, but for what answers to a message. */
PF_EXPORT void pf_ucx_enter(pf_self_t *self, enum pf_ucx_user user, int network);
/* The network alone; returns the one before. */
PF_EXPORT int pf_ucx_network_use(pf_self_t *self, enum pf_ucx_user user, int network);
PF_EXPORT int pf_ucx_network_now(const pf_self_t *self, enum pf_ucx_user user);

/* Polls in vain are counted again from 0; and none blocks before there were so many. */
PF_EXPORT void pf_ucx_idle_reset(pf_self_t *self, enum pf_ucx_user user);
PF_EXPORT void pf_ucx_idle_at_least(pf_self_t *self, enum pf_ucx_user user, long passes);

/* `fn(arg)` is called in engine context whenever something has come for the process while none of its actors
 * is parked here. */
PF_EXPORT void pf_ucx_set_notify(pf_self_t *self, enum pf_ucx_user user, void (*fn)(void *arg), void *arg);

/* `fn` lets the process pay simulated time (s) for what UCX does on its processor: copies, registration,
 * and the configured times of a message. NULL: no rank pays. */
PF_EXPORT void pf_ucx_set_pay(enum pf_ucx_user user, void (*fn)(pf_self_t *self, double seconds));

/* While set, progress does not look at what has come, and does not wait. With `fill` also: sends go nowhere
 * and have ended, and each receive ends at once with what `fill` puts into its buffer, `length` bytes in one
 * piece. Both without simulated time. `key`, or NULL, hears where each key to another's memory is put. */
struct pf_ucx_pretence {
    void (*fill)(void *arg, void *bytes, size_t length); /* or NULL */
    void *arg;
    void (*key)(void *arg, void *place);
};
/* A key to a process's memory, as it is sent: so many bytes, and their value as an integer of 64 bits. */
enum { PF_UCX_KEY = 8 };
PF_EXPORT void pf_ucx_pretend(pf_self_t *self, enum pf_ucx_user user, const struct pf_ucx_pretence *pretence);

/* Sends by protocol, and what a receiver had to keep, of all libraries of the process. */
struct pf_ucx_counters {
    uint64_t sends_short, sends_bcopy, sends_zcopy, sends_rndv;
    uint64_t unexpected;
};
PF_EXPORT void pf_ucx_counters(const pf_self_t *self, struct pf_ucx_counters *out);
