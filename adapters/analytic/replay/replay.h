/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "adapters/analytic/engine/engine.h"
#include "adapters/analytic/replay/program.h"

/* What a rank does when it goes on. */
enum an_stage { AN_BEGIN, AN_AWAITED, AN_SENT, AN_OUTLAST, AN_WAITED_ALL, AN_ENTER, AN_OVER, AN_FAILED };

/* A request. Of a send whose end is known, and moves no more, there is none until something waits for it:
 * most messages of most traces. */
struct an_slot {
    struct an_request *request; /* NULL: nothing; &an_slot_sent: such a send */
    double done_at;             /* of such a send */
};

extern struct an_request an_slot_sent;

/* A rank without a stack. */
struct an_player {
    struct an_rank *rank;
    struct an_rank_program *program;
    struct an_slot *slots;
    MPI_Request *waited; /* of an operation that waits for several: `few`, or memory of its own */
    MPI_Request few[2];
    int waited_count, waited_room;
    struct an_request *request; /* that it waits for */
    double date;                /* when its blocking send has ended */
    enum an_stage stage;
    bool computes;
    bool stopped, woken;    /* until its wake event; by it */
    uint32_t at;            /* the operation */
    struct an_player *next; /* of those that go on */
};

/* Does what comes next, and returns true if the rank stops then: for its wake event, or to compute for
 * `*flops` if that is not 0. */
bool an_player_step(struct an_player *player, double *flops);
