/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "middleware/datatype/datatype.h"

/*
 * MPI_BOTTOM as a buffer of a collective: the addresses are in the datatype. SMPI computes with its value as
 * if it were an address, and makes buffers of its own for such types, so it gets the address of the data and
 * types that begin there. The other implementations need nothing of that.
 */

/* `natives` are the shadows of `types`, all for the buffer `*buffer`, which is NULL: replaces both. Returns
 * whether it has; then pf_bottom_end frees the types when the call has returned (a request keeps what it
 * needs). It costs no simulated time. Types without data or of a buffer that simply is not there
 * stay. */
bool pf_bottom_begin(struct pf_instance *in, const MPI_Datatype *types, int n, void **buffer,
                     pf_native_datatype_t *natives);
void pf_bottom_end(struct pf_instance *in, int n, pf_native_datatype_t *natives);
