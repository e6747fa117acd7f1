/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What Open MPI 5.0 asks libpmix, which mpirun's daemons answer on a real machine. Here all ranks are in one
 * process: what a rank publishes goes to a store of the adapter, and a fence is a barrier between actors. The
 * adapter leads the calls of this rank's Open MPI here (PF_OMPI_ANSWERED). What is left to libpmix itself
 * needs no daemon: values, texts of errors. Whatever else needs one gets its error of a library that was not
 * initialised.
 */
#include "ompi_config.h"

#include <stdlib.h>
#include <string.h>

#include "opal/mca/hwloc/base/base.h"
#include "opal/mca/pmix/pmix-internal.h"
#include "opal/util/proc.h"

#include "adapters/openmpi/glue/internal.h"

static const char space[] = "parfocal"; /* the name space of the one job of the process */
static int init_count;

PF_GLUE_EXPORT pmix_status_t PMIx_Init(pmix_proc_t *me, pmix_info_t info[], size_t n)
{
    init_count++;
    if (me)
        PMIx_Load_procid(me, space, (pmix_rank_t)pf_glue_host->rank);
    return PMIX_SUCCESS;
}

PF_GLUE_EXPORT int PMIx_Initialized(void)
{
    return init_count > 0;
}

PF_GLUE_EXPORT pmix_status_t PMIx_Finalize(const pmix_info_t info[], size_t n)
{
    if (init_count > 0)
        init_count--;
    return PMIX_SUCCESS;
}

PF_GLUE_EXPORT pmix_status_t PMIx_Abort(int status, const char message[], pmix_proc_t procs[], size_t n)
{
    pf_glue_host->abort(pf_glue_host->context, status);
    return PMIX_ERROR;
}

PF_GLUE_EXPORT pmix_status_t PMIx_Commit(void)
{
    return PMIX_SUCCESS;
}

PF_GLUE_EXPORT pmix_status_t PMIx_Fence(const pmix_proc_t procs[], size_t count, const pmix_info_t info[],
                                        size_t n)
{
    pf_glue_host->fence(pf_glue_host->context);
    return PMIX_SUCCESS;
}

/* Only MPI_Init calls it, which waits for the end at once. */
PF_GLUE_EXPORT pmix_status_t PMIx_Fence_nb(const pmix_proc_t procs[], size_t count, const pmix_info_t info[],
                                           size_t n, pmix_op_cbfunc_t done, void *context)
{
    pmix_status_t status = PMIx_Fence(procs, count, info, n);
    if (done)
        done(status, context);
    return PMIX_SUCCESS;
}

/* Text and byte strings travel by content, all other types fit into the value itself. */
PF_GLUE_EXPORT pmix_status_t PMIx_Put(pmix_scope_t scope, const char key[], pmix_value_t *value)
{
    const void *data = &value->data;
    size_t size = sizeof value->data;
    if (value->type == PMIX_STRING) {
        data = value->data.string;
        size = strlen(value->data.string) + 1;
    } else if (value->type == PMIX_BYTE_OBJECT) {
        data = value->data.bo.bytes;
        size = value->data.bo.size;
    }
    pf_glue_host->put(pf_glue_host->context, key, value->type, data, size);
    return PMIX_SUCCESS;
}

/* Open MPI stores where others are, as seen from here: that is answered without. */
PF_GLUE_EXPORT pmix_status_t PMIx_Store_internal(const pmix_proc_t *proc, const char key[],
                                                 pmix_value_t *value)
{
    return PMIX_SUCCESS;
}

static bool answer(pmix_value_t *value, const void *data, pmix_data_type_t type)
{
    return PMIx_Value_load(value, data, type) == PMIX_SUCCESS;
}

/* What the launcher of a real machine knows about the job. False: not one of these keys. */
static bool job_value(const char *key, pmix_value_t *value)
{
    const struct pf_glue_host *host = pf_glue_host;
    uint32_t ranks = (uint32_t)host->job_size, local = (uint32_t)host->local_size, none = 0;
    uint16_t place = (uint16_t)host->local_rank;
    /* Open MPI makes folders of its own if it has none; nothing that is in use here writes there. */
    const char *folder = "/nonexistent";
    const struct {
        const char *key;
        const void *data;
        pmix_data_type_t type;
    } known[] = {
        {PMIX_JOB_SIZE, &ranks, PMIX_UINT32},
        {PMIX_UNIV_SIZE, &ranks, PMIX_UINT32},
        {PMIX_MAX_PROCS, &ranks, PMIX_UINT32},
        {PMIX_LOCAL_SIZE, &local, PMIX_UINT32},
        {PMIX_APPNUM, &none, PMIX_UINT32},
        {PMIX_LOCAL_RANK, &place, PMIX_UINT16},
        {PMIX_NODE_RANK, &place, PMIX_UINT16},
        {PMIX_TMPDIR, folder, PMIX_STRING},
        {PMIX_LOCAL_PEERS, host->local_peers, PMIX_STRING},
        {PMIX_NSDIR, folder, PMIX_STRING},
        {PMIX_PROCDIR, folder, PMIX_STRING},
    };
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (strcmp(key, known[i].key) == 0)
            return answer(value, known[i].data, known[i].type);
    return false;
}

/* What is known of a rank without its having published it. */
static bool rank_value(int rank, const char *key, pmix_value_t *value)
{
    bool name = strcmp(key, PMIX_HOSTNAME) == 0;
    if (!name && strcmp(key, PMIX_LOCALITY) != 0)
        return false;
    const char *host_name = pf_glue_host->name_of_host(pf_glue_host->context, rank);
    if (!host_name)
        return false;
    if (name)
        return answer(value, host_name, PMIX_STRING);
    bool local = strcmp(host_name, pf_glue_host->host_name) == 0;
    uint16_t where = local ? OPAL_PROC_ON_CLUSTER | OPAL_PROC_ON_CU | OPAL_PROC_ON_NODE : OPAL_PROC_NON_LOCAL;
    return answer(value, &where, PMIX_UINT16);
}

static bool published_value(int rank, const char *key, pmix_value_t *value)
{
    int type;
    const void *data;
    size_t size;
    if (!pf_glue_host->get(pf_glue_host->context, rank, key, &type, &data, &size))
        return false;
    pmix_byte_object_t bytes = {(char *)(uintptr_t)data, size};
    return answer(value, type == PMIX_BYTE_OBJECT ? (const void *)&bytes : data, (pmix_data_type_t)type);
}

PF_GLUE_EXPORT pmix_status_t PMIx_Get(const pmix_proc_t *proc, const char key[], const pmix_info_t info[],
                                      size_t n, pmix_value_t **result)
{
    pmix_value_t *value = PMIx_Value_create(1);
    if (!value)
        return PMIX_ERR_NOMEM;
    /* What each rank asks of each other comes first. */
    bool of_rank = proc && proc->rank < (pmix_rank_t)pf_glue_host->job_size;
    bool known = (of_rank && (rank_value((int)proc->rank, key, value) ||
                              published_value((int)proc->rank, key, value))) ||
                 job_value(key, value);
    if (!known) {
        PMIx_Value_free(value, 1);
        value = NULL;
    }
    *result = value;
    return known ? PMIX_SUCCESS : PMIX_ERR_NOT_FOUND;
}

/* Nothing is ever notified: what happens to ranks happens to the process. */

PF_GLUE_EXPORT pmix_status_t PMIx_Register_event_handler(pmix_status_t codes[], size_t count,
                                                         pmix_info_t info[], size_t n,
                                                         pmix_notification_fn_t handler,
                                                         pmix_hdlr_reg_cbfunc_t done, void *context)
{
    if (done)
        done(PMIX_SUCCESS, 1, context);
    return PMIX_SUCCESS;
}

PF_GLUE_EXPORT pmix_status_t PMIx_Deregister_event_handler(size_t handler, pmix_op_cbfunc_t done,
                                                           void *context)
{
    if (done)
        done(PMIX_SUCCESS, context);
    return PMIX_SUCCESS;
}

PF_GLUE_EXPORT pmix_status_t PMIx_Notify_event(pmix_status_t status, const pmix_proc_t *source,
                                               pmix_data_range_t range, const pmix_info_t info[], size_t n,
                                               pmix_op_cbfunc_t done, void *context)
{
    if (done)
        done(PMIX_SUCCESS, context);
    return PMIX_SUCCESS;
}
