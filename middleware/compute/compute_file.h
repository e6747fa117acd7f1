/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stddef.h>
#include <stdint.h>

/*
 * A file of computations. Text:
 *
 *     parfocal-computation 1
 *     ranks 2
 *     speed 1000000000
 *     rank 0 intervals 5
 *     1200 0*3 41700
 *     rank 1 intervals 0
 *
 * Numbers are nanoseconds on a processor of that many flop/s, in the order of the rank's calls; 0*3 stands
 * for three intervals of 0. With PARFOCAL_COMPUTATION_WAYS, 41700@2f is an interval on the way 2f (ways.h).
 */
struct pf_intervals {
    uint64_t *ns;
    uint32_t *way; /* NULL: not known */
    size_t count, capacity;
};

struct pf_recorded {
    int ranks;
    double speed; /* flop/s */
    struct pf_intervals *rank;
};

/* Appends one; ends the run when a rank has more than pf_config.computation_max. */
void pf_intervals_add(struct pf_intervals *intervals, uint64_t ns, uint32_t way);

/* Both end the run with one line when it is not possible. */
void pf_recorded_read(struct pf_recorded *recorded, const char *name, int ranks);
void pf_recorded_write(const struct pf_recorded *recorded, const char *name);
