/* SPDX-License-Identifier: BSD-3-Clause */
/* Statuses as the middleware keeps them. */
#include <string.h>

#include "middleware/core/call.h"
#include "middleware/core/status.h"

int64_t pf_status_bytes(const MPI_Status *status)
{
    int64_t bytes;
    memcpy(&bytes, &status->mpi_reserved[PF_STATUS_BYTES], sizeof bytes);
    return bytes;
}

void pf_status_set_bytes(MPI_Status *status, int64_t bytes, int owner)
{
    memcpy(&status->mpi_reserved[PF_STATUS_BYTES], &bytes, sizeof bytes);
    status->mpi_reserved[PF_STATUS_OWNER] = owner;
}

int pf_status_impl(const MPI_Status *status)
{
    int owner = status->mpi_reserved[PF_STATUS_OWNER];
    return owner > 0 && owner <= PF_IMPL_COUNT ? owner - 1 : -1;
}

static int own_source(const struct pf_instance *in, int source)
{
    if (source >= 0)
        return source;
    return source == in->values->proc_null ? MPI_PROC_NULL : MPI_ANY_SOURCE;
}

/* MPI_ERROR stays as it is: only calls that complete several requests may set it (MPI 3.1 section 3.2.5). */
void pf_status_from_native(struct pf_instance *in, const void *native, MPI_Status *status)
{
    if (status == MPI_STATUS_IGNORE)
        return;
    struct pf_native_status_view view;
    in->ops->status_get(native, &view);
    status->MPI_SOURCE = own_source(in, view.source);
    status->MPI_TAG = view.tag == in->values->any_tag ? MPI_ANY_TAG : view.tag;
    status->mpi_reserved[PF_STATUS_CANCELLED] = view.cancelled;
    status->mpi_reserved[4] = 0;
    pf_status_set_bytes(status, view.bytes, in->impl + 1);
}

void pf_status_from_probe(struct pf_instance *in, const void *native, MPI_Status *status)
{
    pf_status_from_native(in, native, status);
    if (status != MPI_STATUS_IGNORE)
        status->mpi_reserved[PF_STATUS_CANCELLED] = 0;
}

void pf_status_set_empty(MPI_Status *status)
{
    if (status != MPI_STATUS_IGNORE)
        *status =
            (MPI_Status){.MPI_SOURCE = MPI_ANY_SOURCE, .MPI_TAG = MPI_ANY_TAG, .MPI_ERROR = MPI_SUCCESS};
}

bool pf_status_cancelled(const MPI_Status *status)
{
    return status->mpi_reserved[PF_STATUS_CANCELLED] != 0;
}
