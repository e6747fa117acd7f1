/* SPDX-License-Identifier: BSD-3-Clause */
/* What a Portals program without MPI asks of its launcher: its rank, the number of ranks, their addresses.
 *
 * A program that includes this header and portals4.h, is built with pfcc and started with "pfrun -np N", runs
 * as N simulated processes (ranks) with private globals. None of these functions communicates on the
 * simulated network or costs simulated time; a rank that has to wait for others waits until the simulated
 * date at which the last of them comes.
 *
 * A program with MPI may use them too; the ranks are those of MPI_COMM_WORLD.
 */
#ifndef PARFOCAL_PORTALS_H
#define PARFOCAL_PORTALS_H

#include <portals4.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Makes the calling process known as a rank of the job. May be called before or after PtlInit, and again.
 * Returns 0, or -1 when the caller is no simulated process (the program does not run under pfrun). */
int pf_portals_init(void);

/* The counterpart of pf_portals_init. Waits for no rank and closes nothing: that is left to PtlNIFini and
 * PtlFini. */
void pf_portals_fini(void);

/* The number of the calling process, from 0 to pf_portals_size() - 1; -1 before pf_portals_init and
 * PtlInit. */
int pf_portals_rank(void);

/* The number of processes of the job (pfrun -np), -1 before pf_portals_init and PtlInit. */
int pf_portals_size(void);

/* Returns when all ranks of the job have called it, at the simulated date of the last of them. Returns 0, or
 * -1 before pf_portals_init and PtlInit. */
int pf_portals_barrier(void);

/* Writes the physical identifiers of all ranks into map[0] ... map[pf_portals_size() - 1], an array of the
 * caller, in the order of ranks: the mapping for PtlSetMap, or targets for a physically addressed interface.
 * All ranks must call it together, with an open interface each, because an identifier is known for sure only
 * after PtlNIInit; it contains a barrier. Returns PTL_OK; PTL_NO_INIT before PtlInit; PTL_ARG_INVALID (at
 * once, without waiting) when `ni` is no interface of the caller or map is NULL. */
int pf_portals_map(ptl_handle_ni_t ni, ptl_process_t *map);

#ifdef __cplusplus
}
#endif

#endif
