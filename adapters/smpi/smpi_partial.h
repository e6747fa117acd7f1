/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PF_ADAPTERS_SMPI_PARTIAL_H
#define PF_ADAPTERS_SMPI_PARTIAL_H

/*
 * A message may end inside an item of the receiver's derived datatype (MPI 3.1 section 3.2.2). SMPI 3.32
 * unpacks whole items only and drops the rest. From here on, the rest is unpacked when SMPI finishes the
 * receive, in no simulated time: libsimgrid's calls of its own Request::finish_wait come by here.
 */
void pf_smpi_partial_install(void);

#endif
