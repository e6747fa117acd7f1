/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * Simulated time that passes inside SMPI's tests and probes, which sleep before they look: a run that is
 * mostly that says so at its end, with the settings. It is only read; times stay those of stock SMPI.
 */
struct pf_own_fn;

/* Puts functions that count around those that are in the table. */
void pf_smpi_polls_install(struct pf_own_fn *fn);

/* A rank has slept in the place of a test, for so many seconds. */
void pf_smpi_polls_slept(double seconds);

/* A rank has begun to use SMPI, or ends: the last one that ends may warn. */
void pf_smpi_polls_begin(void);
void pf_smpi_polls_end(void);
