/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/* What replaces functions of SMPI 3.32 in the table of its functions, in no simulated time of its own. */
struct pf_own_fn;

/*
 * Refuses with MPI_ERR_OP what SMPI does not ask: whether an operation is defined for the items that an
 * accumulate combines. It ends the process when the operation finds them to be none of its own (a sum of
 * MPI_BYTE).
 */
void pf_smpi_accumulate_install(struct pf_own_fn *fn);

/*
 * SMPI loses the result of a nonblocking reduction of a derived datatype, combines the contributions out of
 * order although the operation does not commute, begins an exclusive scan with zeros, and sends from freed
 * memory when it works in place. Blocking scans combine nothing when the operation does not commute.
 */
void pf_smpi_reduce_install(struct pf_own_fn *fn);

/* Functions that SMPI has not got or does otherwise than MPI says. They take the time of the functions of
 * SMPI that they call. */
void pf_smpi_calls_install(struct pf_own_fn *fn);
/* The window (an MPI_Win of SMPI) goes without its MPI_Win_free: what was attached to it is forgotten. */
void pf_smpi_calls_forget(const void *win);

/*
 * Simulated time that passes inside SMPI's tests and probes, which sleep before they look: a run that is
 * mostly that ends with a warning that names the settings. It is only read. Puts functions that count around
 * those that are in the table.
 */
void pf_smpi_polls_install(struct pf_own_fn *fn);
void pf_smpi_polls_slept(double seconds); /* a rank has slept in the place of a test */
/* A rank has begun to use SMPI, or ends: the last one that ends may warn. */
void pf_smpi_polls_begin(void);
void pf_smpi_polls_end(void);
