/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PF_LOWLEVEL_PORTALS_RUNTIME_H
#define PF_LOWLEVEL_PORTALS_RUNTIME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/export.h"
#include "base/self.h"
#include "lowlevel/portals/include/portals4.h"

/*
 * What a runtime (an MPI layer, a test program) asks of the simulated Portals beyond portals4.h. A process is
 * named by its pf_self_t; any actor that carries the same pointer in its data slot acts for that process.
 */
#ifdef __cplusplus
extern "C" {
#endif

/*
 * Physical identifiers: nid is the number of the host (its place in the platform in the order of names), pid
 * is the rank + 1 unless PtlNIInit asked for another. Returns false when the rank has not called PtlInit
 * yet.
 */
PF_EXPORT bool pf_portals_physical_id(int rank, uint32_t *nid, uint32_t *pid);

/*
 * Programs without MPI: a calling actor that carries no identity yet gets it from `identify` when it calls
 * PtlInit or pf_portals_init (lowlevel/job). It puts the identity into the actor's data slot and returns it;
 * NULL when the actor is no process of the job. Without such a function, an actor without identity gets
 * PTL_FAIL from PtlInit.
 */
PF_EXPORT void pf_portals_set_identify(pf_self_t *(*identify)(void));
/* The caller's identity, asked for if need be; NULL outside the simulation. */
PF_EXPORT pf_self_t *pf_portals_self(void);
/* The process's main() is over: closes what PtlFini has not. Returns whether there was anything to close. */
PF_EXPORT bool pf_portals_leave(pf_self_t *self);
/* Does the process wait in pf_portals_barrier (or pf_portals_map)? */
PF_EXPORT bool pf_portals_in_barrier(const pf_self_t *self);

/* While set, calls of this process cost no simulated time and their events are there at once: for
 * initialisation at any date. */
PF_EXPORT void pf_portals_free_mode(pf_self_t *self, bool on);

/* Restarts the count of idle polls (call it when the program enters the communication library). */
PF_EXPORT void pf_portals_idle_reset(pf_self_t *self);

/* The number of a network by its name ("flow", "ideal"), -1 for an unknown one. The configured one, which is
 * that of programs that never name any, is 0. */
PF_EXPORT int pf_portals_network(const char *name);
/* The same as pf_portals_idle_reset, after PtlInit; and what the process begins from now on goes by this
 * network, but for what answers to an event: that goes by the network of the message that has caused it. */
PF_EXPORT void pf_portals_enter(pf_self_t *self, int network);
/* For work that belongs to an earlier call: the network of what the process begins from now on, with no event
 * that it might be an answer to. Returns the one before, which the caller sets again. */
PF_EXPORT int pf_portals_network_use(pf_self_t *self, int network);
PF_EXPORT int pf_portals_network_now(const pf_self_t *self);

/*
 * For a runtime that polls often. The first counts changes of the process's NIC (never NULL after PtlInit,
 * and it stays where it is): while it stands still, event queues that were found empty are empty. The second
 * takes the place of a poll that would find nothing, with all that follows from it: it blocks when there were
 * many in a row.
 */
PF_EXPORT const uint64_t *pf_portals_changes(const pf_self_t *self);
PF_EXPORT void pf_portals_idle_pass(pf_self_t *self);

/*
 * What the process waits for may need so many passes of its runtime through everything that makes progress,
 * without any change of the NIC: polls block no earlier, whatever PARFOCAL_IDLE_PASSES says. And while polls
 * do not count, none of them blocks: for those beyond the one of each pass.
 */
PF_EXPORT void pf_portals_idle_at_least(pf_self_t *self, long passes);
PF_EXPORT void pf_portals_count_polls(pf_self_t *self, bool on);

/*
 * The runtime promises: every put of this process that posts SEND also asks for an ACK event, and SEND alone
 * completes nothing. Then SEND, which never comes after its ACK, does not wake the process.
 */
PF_EXPORT void pf_portals_send_needs_ack(pf_self_t *self, bool on);

/*
 * A runtime that waits for several events at once is woken by the last of them. While it sleeps in a poll, an
 * event of which `keeps` says that it changes nothing yet stays in its queue; `kept` of them lie there
 * already. It is asked in engine context and must not change anything. NULL: every event wakes.
 */
typedef bool pf_portals_keeps_t(const void *arg, const ptl_event_t *event, int kept);
PF_EXPORT void pf_portals_keep_events(pf_self_t *self, pf_portals_keeps_t *keeps, const void *arg);

/* Is there an event in one of the process's queues of which `is` says so? For diagnoses. */
PF_EXPORT bool pf_portals_any_event(const pf_self_t *self,
                                    bool (*is)(const void *arg, const ptl_event_t *event), const void *arg);

/*
 * Where the process's runtime reads whenever it is woken: distances from `base`, the same for many processes.
 * With hundreds of ranks none of it is in the caches any more; it is fetched together when the process is
 * woken, where the runtime would miss one after the other.
 */
PF_EXPORT void pf_portals_reads_when_woken(pf_self_t *self, const char *base, const uint32_t *places,
                                           int count);

/* Blocks the calling actor until the state of the process's NIC changes. */
PF_EXPORT void pf_portals_park(pf_self_t *self);

/*
 * For a process that waits for data in its memory, which neither an event nor a counter announces, and looks
 * whenever pf_portals_park has returned: data can be read when the message comes, and are there when they
 * have crossed PCIe. After the first call, the second blocks until what these bytes contain now is there.
 */
PF_EXPORT void pf_portals_watch_memory(pf_self_t *self);
PF_EXPORT void pf_portals_memory_await(const pf_self_t *self, const void *address, size_t length);

/* Another process has stored something in its memory, without a NIC: wakes the parked process to look. */
PF_EXPORT void pf_portals_memory_stored(pf_self_t *self);

/* `fn(arg)` is called in engine context whenever the state of the process's NIC changes while none of its
 * actors is parked here. NULL removes it. */
PF_EXPORT void pf_portals_set_notify(pf_self_t *self, void (*fn)(void *arg), void *arg);

struct pf_portals_counters {
    uint64_t messages; /* puts, gets and atomics started */
    uint64_t bytes_put;
    uint64_t bytes_got;
    uint64_t unexpected; /* messages that came before their list entry */
    uint64_t dropped;    /* messages for this process that were refused */
    uint64_t no_header;  /* of these, for want of an unexpected header, */
    uint64_t no_buffer;  /* and for want of any entry, where flow control waits for one */
    uint64_t parks;      /* how often an actor blocked instead of polling */
    uint64_t vanished;   /* of its operations: lost by the network, without end-to-end reliability */
};

PF_EXPORT void pf_portals_counters(const pf_self_t *self, struct pf_portals_counters *out);

/* The call in which an actor of this process is blocked, NULL when none is. */
PF_EXPORT const char *pf_portals_blocked_in(const pf_self_t *self);

#ifdef __cplusplus
}
#endif

#endif
