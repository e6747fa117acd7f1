/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * SMPI 3.32 loses the result of a nonblocking reduction of a derived datatype, combines the contributions out
 * of order although the operation does not commute, begins an exclusive scan with zeros, and sends from freed
 * memory when it works in place. Blocking scans combine nothing when the operation does not commute. Puts
 * right functions into the table in the place of those.
 */
struct pf_own_fn;
void pf_smpi_reduce_install(struct pf_own_fn *fn);
