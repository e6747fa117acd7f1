/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdio.h>

/* One line per MPI function: what answers it in each model, from the table that the wrappers are made of. */
void coverage_print(FILE *out);
