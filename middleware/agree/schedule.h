/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/export.h"
#include "adapters/model.h"
#include "middleware/core/cursor.h"

/*
 * Which phase runs in which model. Items are separated by commas or newlines, `#` starts a comment:
 *   PHASE=MODEL        the phase runs in MODEL; `pcontrol:LEVEL` names the phase of MPI_Pcontrol(LEVEL)
 *   @start=MODEL       in force when main() starts
 *   @coll:N=MODEL      before the N-th (from 1) collective of the rank on MPI_COMM_WORLD
 *   @time:T=MODEL      at the first communicating call at or after T simulated seconds
 *   every:K=M1|M2|...  the first K communicating calls of the rank in M1, the next K in M2, and so on, round
 * and round. The latest event wins, whether a phase or one of these. When several fall on one call: time,
 * then coll, then every.
 */
struct pf_schedule;

/* Reads a schedule. On failure returns false and writes one line with position and reason to `error`. The
 * empty text is a valid schedule without items. */
PF_EXPORT bool pf_schedule_parse(const char *text, struct pf_schedule **out, char *error, size_t error_size);

/* As above; `text` may also be the name of a file that holds the schedule. */
PF_EXPORT bool pf_schedule_load(const char *text, struct pf_schedule **out, char *error, size_t error_size);

PF_EXPORT void pf_schedule_free(struct pf_schedule *schedule);

/* The model of @start, or PF_MODEL_NONE. */
PF_EXPORT enum pf_model pf_schedule_start(const struct pf_schedule *schedule);

/* The model of a phase, or PF_MODEL_NONE when the schedule does not name it. */
PF_EXPORT enum pf_model pf_schedule_phase_model(const struct pf_schedule *schedule, const char *phase);

/* The same when a rank enters the phase: the item has happened. */
PF_EXPORT enum pf_model pf_schedule_enter(struct pf_schedule *schedule, const char *phase);

/* One bit (1 << model) per model that the schedule names anywhere. */
PF_EXPORT unsigned pf_schedule_models(const struct pf_schedule *schedule);

PF_EXPORT void pf_schedule_cursor_init(struct pf_schedule_cursor *cursor, struct pf_schedule *schedule);

/* What the program offered for a schedule: for the warnings about items that never happened. */
struct pf_schedule_offer {
    const char *const *phases; /* that it entered */
    size_t phase_count;
    double simulated;            /* end of the run */
    const char *start_overruled; /* what came before @start, NULL: nothing */
    uint64_t collectives, calls; /* maxima over ranks, by pf_schedule_offer_add() */
};

/* Adds one rank's counts. */
PF_EXPORT void pf_schedule_offer_add(struct pf_schedule_offer *offer,
                                     const struct pf_schedule_cursor *cursor);

/* One line for each item that no rank has come to, with what the program did offer. */
PF_EXPORT void pf_schedule_report_missed(const struct pf_schedule *schedule,
                                         const struct pf_schedule_offer *offer, FILE *out);

/* The slow path of pf_schedule_step: something is due. */
PF_EXPORT enum pf_model pf_schedule_advance(struct pf_schedule_cursor *cursor, double now);

/*
 * To be called before each communicating call of a rank, `now` being the simulated time. Returns the model to
 * switch to before the call, PF_MODEL_NONE for no change. A wrapper looks at `watching` first, so that a run
 * without such events pays one compare and no reading of the clock.
 */
static inline enum pf_model pf_schedule_step(struct pf_schedule_cursor *cursor, bool world_collective,
                                             double now)
{
    bool due = --cursor->calls_left == 0;
    if (world_collective)
        due |= --cursor->next_coll == 0;
    due |= now >= cursor->next_time;
    return __builtin_expect(due, 0) ? pf_schedule_advance(cursor, now) : PF_MODEL_NONE;
}
