/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PFINFO_RECORD_PROGRAM_H
#define PFINFO_RECORD_PROGRAM_H

#include <stdbool.h>
#include <stdio.h>

/* The library that records on a real machine how long ranks compute between their MPI calls; or, with
 * `calls`, the calls too. */
void record_print_program(FILE *out, bool calls);

#endif
