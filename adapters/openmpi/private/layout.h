/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "adapters/openmpi/parts.h"

/*
 * Tables and structures of Open MPI that the glue reads and writes before MPI_Init has ended, with the sizes
 * that they have in the headers that it was compiled with.
 */
struct pf_ompi_datum {
    enum pf_core library;
    const char *symbol;
    size_t size;
};

extern const struct pf_ompi_datum pf_ompi_data[];
extern const int pf_ompi_data_count;

/* Have the data of one library these sizes? Reads the file; loads nothing. False, with one line in `why`. */
bool pf_ompi_layout_check(const struct pf_elf *elf, enum pf_core library, const struct pf_ompi_datum *data,
                          int count, char *why, size_t n);
