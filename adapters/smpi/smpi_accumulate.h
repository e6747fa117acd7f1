/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * SMPI 3.32 does not ask whether an operation is defined for the items that an accumulate combines, as it
 * does in reductions, and ends the process when the operation finds them to be none of its own (a sum of
 * MPI_BYTE). Puts functions into the table that refuse these with MPI_ERR_OP, in no
 * simulated time.
 */
struct pf_own_fn;
void pf_smpi_accumulate_install(struct pf_own_fn *fn);
