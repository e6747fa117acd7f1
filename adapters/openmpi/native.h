/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PF_OPENMPI_NATIVE_H
#define PF_OPENMPI_NATIVE_H

#include "adapters/adapter.h"
#include "adapters/openmpi/openmpi.h"

/* What only Open MPI's own header knows: its constants, its status and its error classes. */

/* Fills in the constants; the null handles are addresses in the rank's libmpi. */
void pf_native_values_fill(struct pf_ompi_instance *inst, struct pf_native_values *values);

/* Statuses, with Open MPI's own ranks and tags. */
void pf_native_status_get(const void *native, struct pf_native_status_view *out);
void pf_native_status_set(void *native, const struct pf_native_status_view *in);

/* The row of names.def's errors to which a native error class belongs, -1 for none. */
int pf_native_error_row(int native_class);

/* Ranks and tags with a meaning of their own, as they occur in statuses. */
extern const struct pf_native_special {
    int any_source, any_tag, proc_null;
} pf_native_special;

#endif
