/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>
#include <stdio.h>

/* The library that records on a real machine how long ranks compute between their MPI calls; or, with
 * `calls`, the calls too. */
void record_print_program(FILE *out, bool calls);
