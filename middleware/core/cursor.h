/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct pf_schedule;

/* One rank's place in the schedule (agree/schedule.h). */
struct pf_schedule_cursor {
    bool watching;       /* false: no event can ever come, nothing else needs a look */
    double next_time;    /* simulated seconds, INFINITY: none */
    uint64_t next_coll;  /* collectives of the rank until the next @coll event, counting down */
    uint64_t calls_left; /* communicating calls until `every` rotates, counting down */
    /* of agree/schedule.c */
    struct pf_schedule *schedule;
    unsigned time_index, coll_index, every_index;
};
