/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdint.h>

#include "middleware/include/mpi.h"

/*
 * The middleware keeps in the reserved words of a status what the standard hides: [0..1] the received bytes,
 * [2] cancelled, [3] the implementation whose bytes they are, plus one (0 when nothing was received).
 */
enum { PF_STATUS_BYTES, PF_STATUS_CANCELLED = 2, PF_STATUS_OWNER };

int64_t pf_status_bytes(const MPI_Status *status);

/* `owner`: the number of the implementation plus one; 0: the middleware's own bytes. */
void pf_status_set_bytes(MPI_Status *status, int64_t bytes, int owner);

/* The implementation whose bytes they are, -1 when they are the middleware's own. */
int pf_status_impl(const MPI_Status *status);
