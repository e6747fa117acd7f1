/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PF_PFINFO_COVERAGE_H
#define PF_PFINFO_COVERAGE_H

#include <stdio.h>

/* One line per MPI function: what answers it in each model, from the table that the wrappers are made of. */
void coverage_print(FILE *out);

#endif
