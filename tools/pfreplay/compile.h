/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "adapters/analytic/replay/program.h"
#include "tools/pfreplay/source.h"

/*
 * A trace as the arrays of a replay without ranks. These know messages and collectives of MPI_COMM_WORLD, and
 * computation; a trace with anything else, or with a fault, has no such program. Then the result is false
 * and `why` one line about the first such action; the source begins once more.
 */
bool replay_compile(struct replay_source *source, struct an_program *program, char *why, size_t why_size);

/* For a format that fills in the arrays by itself: room for so many ranks, and operations. A slot is below
 * AN_OP_MOST_SLOTS. */
void replay_program_begin(struct replay_source *source, int ranks);
void replay_put_compute(struct replay_source *source, struct an_rank_program *rank, double flops);
void replay_put_message(struct an_rank_program *rank, enum an_op_kind kind, int peer, int tag, uint32_t bytes,
                        int slot);
/* `waitall` of one request. */
void replay_put_wait(struct an_rank_program *rank, int slot);
