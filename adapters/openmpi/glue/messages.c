/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reports every message that a caller gives to the messaging layer (PML), before the layer splits, delays or
 * combines anything: the place where Open MPI's own pml/monitoring counts, so that both can be compared.
 */
#include "ompi_config.h"

#include <stdlib.h>

#include "ompi/communicator/communicator.h"
#include "ompi/datatype/ompi_datatype.h"
#include "ompi/mca/pml/pml.h"

#include "adapters/openmpi/glue/internal.h"

static mca_pml_base_module_t below;

/* A persistent send is reported whenever it starts, and only its making says what it sends. */
struct persistent {
    struct persistent *next;
    const ompi_request_t *request;
    int to, tag;
    size_t bytes;
};

static struct persistent *persistent_sends;

static int world_rank(ompi_communicator_t *comm, int peer)
{
    return (int)ompi_comm_peer_lookup(comm, peer)->super.proc_name.vpid;
}

static size_t bytes_of(size_t count, ompi_datatype_t *type)
{
    size_t size;
    ompi_datatype_type_size(type, &size);
    return count * size;
}

static void report(int to, size_t bytes, int tag)
{
    pf_glue_host->message(pf_glue_host->context, to, bytes, tag);
}

static int report_send(const void *buffer, size_t count, ompi_datatype_t *type, int peer, int tag,
                       mca_pml_base_send_mode_t mode, ompi_communicator_t *comm)
{
    report(world_rank(comm, peer), bytes_of(count, type), tag);
    return below.pml_send(buffer, count, type, peer, tag, mode, comm);
}

static int report_isend(const void *buffer, size_t count, ompi_datatype_t *type, int peer, int tag,
                        mca_pml_base_send_mode_t mode, ompi_communicator_t *comm, ompi_request_t **request)
{
    report(world_rank(comm, peer), bytes_of(count, type), tag);
    return below.pml_isend(buffer, count, type, peer, tag, mode, comm, request);
}

/* The entry of a request, which may be the memory of an earlier one; NULL when there is none. */
static struct persistent *find_persistent(const ompi_request_t *request)
{
    struct persistent *entry = persistent_sends;
    while (entry && entry->request != request)
        entry = entry->next;
    return entry;
}

static int note_isend_init(const void *buffer, size_t count, ompi_datatype_t *type, int peer, int tag,
                           mca_pml_base_send_mode_t mode, ompi_communicator_t *comm, ompi_request_t **request)
{
    int status = below.pml_isend_init(buffer, count, type, peer, tag, mode, comm, request);
    if (status != OMPI_SUCCESS)
        return status;
    struct persistent *entry = find_persistent(*request);
    if (!entry) {
        entry = calloc(1, sizeof *entry);
        if (!entry)
            return OMPI_ERR_OUT_OF_RESOURCE;
        entry->next = persistent_sends;
        persistent_sends = entry;
    }
    entry->request = *request;
    entry->to = world_rank(comm, peer);
    entry->bytes = bytes_of(count, type);
    entry->tag = tag;
    return status;
}

/* Open MPI uses the memory of a request again: what was a send may be a receive now. */
static int note_irecv_init(void *buffer, size_t count, ompi_datatype_t *type, int peer, int tag,
                           ompi_communicator_t *comm, ompi_request_t **request)
{
    int status = below.pml_irecv_init(buffer, count, type, peer, tag, comm, request);
    struct persistent *entry = status == OMPI_SUCCESS ? find_persistent(*request) : NULL;
    if (entry)
        entry->request = NULL;
    return status;
}

static int report_start(size_t count, ompi_request_t **requests)
{
    for (size_t i = 0; i < count; i++) {
        const struct persistent *entry = requests[i] ? find_persistent(requests[i]) : NULL;
        if (entry)
            report(entry->to, entry->bytes, entry->tag);
    }
    return below.pml_start(count, requests);
}

void pf_glue_messages_install(void)
{
    if (!pf_glue_host->log_messages)
        return;
    below = mca_pml;
    mca_pml.pml_send = report_send;
    mca_pml.pml_isend = report_isend;
    mca_pml.pml_isend_init = note_isend_init;
    mca_pml.pml_irecv_init = note_irecv_init;
    mca_pml.pml_start = report_start;
}
