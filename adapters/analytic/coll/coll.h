/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "adapters/analytic/coll/algorithms/call.h"
#include "adapters/analytic/cost/cost.h"
#include "base/export.h"

/*
 * When each rank leaves a collective operation in model `analytic`. An algorithm is a schedule: per rank a
 * sequence of rounds, and in a round the messages that it sends and receives before the next one.
 * Point-to-point messages are priced by cost.h. The algorithms and the rules that choose them are those of
 * Open MPI 4.1 (coll/tuned, coll/libnbc); PARFOCAL_ANALYTIC_COLL chooses others. Nothing here moves data or
 * blocks.
 *
 * Use: the first rank that enters the call opens it; each rank arrives with its date; after each arrival the
 * completions that have become known are taken with pf_coll_next(): none, some (the root of a broadcast may
 * leave before its leaves come), or all of them. When all ranks have been taken, close it.
 *
 * A rank that leaves early may overwrite its buffers: the caller must first copy the data that later ranks
 * need. A rank leaves only when the ranks whose data it needs have arrived.
 *
 * Ranks are ranks of the communicator; dates are seconds of simulated time, never decreasing over calls of
 * pf_coll_arrive(). Memory comes from a free list: in steady state nothing is allocated.
 */

/* The price list, the choice of algorithms, and statistics: one per job. */
struct pf_colls;

/* `choice` is PARFOCAL_ANALYTIC_COLL: comma-separated KIND:ALGORITHM[:SEGMENT], "" for the rules alone. On
 * failure returns NULL with one line in `why` that lists the names that exist. Keeps `cost`. */
struct pf_colls *pf_colls_new(struct pf_cost *cost, const char *choice, char *why, size_t why_size);
void pf_colls_free(struct pf_colls *colls);

/* From now on a function gets from when to when a rank of the job waits in a blocking call for the end of one
 * of its sends, and looks at nothing else; as soon as that is known. Another one says until when its
 * processor handles messages outside of collectives. */
typedef void pf_colls_sends_fn(int rank, double from, double until);
typedef double pf_colls_handles_fn(int rank);
void pf_colls_watch(struct pf_colls *colls, pf_colls_sends_fn *sends, pf_colls_handles_fn *handles);

/* Opens a call: chooses its algorithm by the arguments of the first rank that arrives. */
struct pf_coll;
struct pf_coll *pf_coll_open(struct pf_colls *colls, const struct pf_coll_call *call);

/* Rank `rank` has entered at `date`. Once per rank. */
void pf_coll_arrive(struct pf_coll *coll, int rank, double date);

/* A blocking call with long messages, of which ranks may leave early, is evaluated step by step: what ranks
 * send that have left shares NICs and links with its last messages. When the next step begins; INFINITY: all
 * ranks that can go on have left. At that date it is to be resumed, unless a rank arrives before. */
bool pf_coll_is_stepwise(const struct pf_coll *coll);
double pf_coll_resumes(const struct pf_coll *coll);
void pf_coll_resume(struct pf_coll *coll, double date);

/* Takes one completion that has become known: the rank leaves at `date`, which is never before the date of
 * the latest arrival. Returns false when there is none at present. Order: as they became known, the same in
 * every run. A nonblocking operation is complete then, whatever the rank does meanwhile. */
bool pf_coll_next(struct pf_coll *coll, int *rank, double *date);

/* The message whose end is all that a rank waited for in its last round; node 0: none. */
const struct pf_cost_inflow *pf_coll_inflow(const struct pf_coll *coll, int rank);

/* Of its messages the one that is safe last; safe = 0: it has sent none. */
const struct pf_coll_sent *pf_coll_sent(const struct pf_coll *coll, int rank);

/* Rounds of messages that follow each other. */
uint64_t pf_coll_rounds(const struct pf_coll *coll);

/* Gives the call back; its ranks have all been taken. */
void pf_coll_close(struct pf_coll *coll);

/* Per kind, algorithm and power of two of the bytes: calls, rounds, messages and bytes, readable
 * (pfrun -explain). */
void pf_colls_explain(const struct pf_colls *colls, FILE *out);

/* All kinds with their algorithms and the rule that picks one (pfinfo --collectives). */
PF_EXPORT void pf_colls_list(FILE *out);
