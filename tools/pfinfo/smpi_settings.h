/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdio.h>

/*
 * From one-way times to settings of SimGrid's model of SMPI. In that model a message of s bytes takes
 *
 *   os(s) + lat-factor * latency + (s + 16) / (bw-factor * bandwidth) + or(s)
 *
 * where os (ois in a nonblocking send) holds up the sender, `or` the receiver, a low bw-factor all others
 * on the same links, and only a latency none, but it grows with the hops. os, ois and `or` are paid for
 * messages alone whose sender does not wait.
 */
enum { CURVE_POINTS = 2000 };

struct curve {
    int count;
    long bytes[CURVE_POINTS];
    double seconds[CURVE_POINTS]; /* by increasing size, after curve_sort() */
};

void curve_add(struct curve *curve, long bytes, double seconds);
void curve_sort(struct curve *curve); /* also drops what is there twice */

struct smpi_base {
    struct curve near;  /* one-way times of the finer model, between neighbours */
    long threshold;     /* as in the fit of model analytic */
    double test, probe; /* of one that finds nothing */
    double latency,
        far_latency;  /* of the routes between neighbours and to the farthest rank; may be the same */
    double bandwidth; /* of that route */
};

/* Writes the settings, one a line with its meaning, as `pfrun -calibrated` reads them. */
void smpi_settings_write(const struct smpi_base *base, FILE *out);
