/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PF_ADAPTERS_SMPI_TWIN_H
#define PF_ADAPTERS_SMPI_TWIN_H

#include <stdbool.h>

/*
 * What SMPI 3.32 can do but offers no C interface for. All functions depend on that version (smpi_probe
 * checks it) and use C++ symbols and the layout of its request object.
 */
#ifdef __cplusplus
extern "C" {
#endif

/* A communicator over `group` (an MPI_Group of SMPI, taken over), made locally. Members pass the same id. Ids
 * of SMPI's own count up from 0; the hub's are moved out of their way. */
void *pf_smpi_comm_new(void *group, int id, bool node_local);

/* Would PMPI_Wait on this request (an MPI_Request of SMPI) return at once? Looks only; no simulated time. */
bool pf_smpi_request_done(const void *request);

/* Of a nonblocking reduction of no items of a derived datatype: SMPI frees the buffers of its parts only when
 * the request has one of its own, so it gets one, which SMPI frees as well. */
void pf_smpi_request_free_parts(void *request);

#ifdef __cplusplus
}
#endif

#endif
