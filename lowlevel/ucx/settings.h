/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stddef.h>

#include "base/export.h"

/*
 * What decides between UCX's protocols, and what precedes the data on the wire: all that model analytic
 * shares with the simulated UCX.
 */
struct pf_ucx_settings {
    size_t short_max;                                  /* B, that go with the command to the NIC */
    size_t zcopy_thresh, rndv_thresh, rndv_nbr_thresh; /* B, from which on; SIZE_MAX: never */
    size_t seg_size;                                   /* B, of a buffer of UCX */
    double bcopy_bw;                                   /* B/s; 0: copies take no time */
};
/* Of the configuration and UCX's own variables, read once. */
PF_EXPORT const struct pf_ucx_settings *pf_ucx_settings(void);
/* A variable that Parfocal itself has put into the environment, for a real UCX in the process: no warning.
 * The name is kept. */
PF_EXPORT void pf_ucx_settings_own(const char *variable);

/* UCX's headers of active messages, and the messages without data (B). */
enum {
    PF_UCX_EAGER_HEADER = 8,
    PF_UCX_PIECE_HEADER = 16,
    PF_UCX_RTS_BYTES = 56,
    PF_UCX_RTR_BYTES = 40,
    PF_UCX_DONE_BYTES = 16
};
