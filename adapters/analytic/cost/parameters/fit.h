/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "adapters/analytic/cost/parameters/parameters.h"

/*
 * From measurements in a finer model to parameters of model analytic (pfinfo --fit). Measurements are lines
 * "WHAT TRANSPORT SIZE SECONDS" of the program tools/pfinfo/measure.c; TRANSPORT is memory, near or far.
 */
#define PF_FIT_SIZES 40

enum pf_fit_transport_id { PF_FIT_MEMORY, PF_FIT_NEAR, PF_FIT_FAR, PF_FIT_TRANSPORTS };

struct pf_fit_point {
    long bytes;
    double one_way;  /* half of a round trip, receives posted in time; NAN: not measured, as below */
    double call;     /* of a nonblocking send */
    double safe;     /* from that call to the end of its wait, with a receive posted in time */
    double late;     /* duration of a receive that is posted after its message has arrived */
    double stream;   /* of one of many messages that follow each other */
    double apart;    /* as one_way, of data that do not lie together; only from a real machine */
    double exchange; /* of two that cross each other; only from a real machine */
};

struct pf_fit_transport {
    int count;
    struct pf_fit_point points[PF_FIT_SIZES]; /* by increasing size */
    int peer;                                 /* rank; 0: the transport does not exist */
    long threshold; /* largest message whose sender does not wait for its receive; -1: there is none */
    double path;    /* latency of the platform's route */
};

struct pf_fit {
    struct pf_fit_transport transports[PF_FIT_TRANSPORTS];
    double call;  /* of an MPI call that sends nothing */
    double post;  /* of one that posts a large receive */
    double own;   /* of copying, per byte; 0: not measured */
    double share; /* of two large messages at once, the arrival of the first as a part of that of both; 0: not
                     measured */
};

void pf_fit_init(struct pf_fit *fit);

/* Reads one line; returns false, and changes nothing, when it is not a measurement. */
bool pf_fit_line(struct pf_fit *fit, const char *line);

/*
 * The parameters that reproduce the measured points. Needs one_way of every point, and in memory and near
 * also the others, of all points or of none: then they are those of LogGP. Where exchanges were measured,
 * streams need not be: then processors do the work of communicating, as on a machine without a NIC that does.
 * Returns NULL on success, else one line about what is missing, valid until the next call.
 */
const char *pf_fit_make(const struct pf_fit *fit, struct pf_parameters *parameters);
