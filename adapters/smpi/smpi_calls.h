/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * Functions that SMPI 3.32 has not got or does otherwise than MPI says, in the table of its functions. What
 * they take in simulated time is what the functions of SMPI take that they call.
 */
struct pf_own_fn;
void pf_smpi_calls_install(struct pf_own_fn *fn);

/* The window (an MPI_Win of SMPI) goes without its MPI_Win_free: what was attached to it is forgotten. */
void pf_smpi_calls_forget(const void *win);
