/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <sys/types.h>

#include "adapters/mpich/mpich.h"

/*
 * The launcher's side of PMI 1 (wire protocol of MPICH's simple_pmi): lines of text on a descriptor, of which
 * MPICH writes one and reads the answer. There is no such descriptor: reads and writes of it come here.
 */
enum { PF_MPICH_PMI_FD = 1 << 28 };

ssize_t pf_mpich_pmi_write(struct pf_mpich_rank *rank, const char *line, size_t n);
ssize_t pf_mpich_pmi_read(struct pf_mpich_rank *rank, char *buffer, size_t n);
