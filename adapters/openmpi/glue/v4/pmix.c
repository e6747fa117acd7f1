/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The exchange of start-up information, which mpirun's daemons serve on a real machine. Here all ranks are in
 * one process: what a rank publishes goes to a store of the adapter, and a fence is a barrier between actors.
 */
#include "opal_config.h"

#include <string.h>

#include "opal/constants.h"
#include "opal/dss/dss_types.h"
#include "opal/mca/hwloc/base/base.h"
#include "opal/mca/pmix/base/base.h"
#include "opal/mca/pmix/base/pmix_base_hash.h"
#include "opal/mca/pmix/pmix.h"
#include "opal/util/proc.h"

#include "adapters/openmpi/glue/internal.h"
#include "adapters/openmpi/glue/v4/types.h"

static int init_count;

static int module_init(opal_list_t *info)
{
    (void)info; /* a declaration of the programming model, not needed here */
    if (init_count++ > 0)
        return OPAL_SUCCESS;
    opal_process_name_t me = {.jobid = PF_GLUE_JOB, .vpid = (opal_vpid_t)pf_glue_host->rank};
    opal_proc_set_name(&me);
    opal_pmix_base_hash_init();
    return OPAL_SUCCESS;
}

static int module_finalize(void)
{
    if (init_count > 0 && --init_count == 0)
        opal_pmix_base_hash_finalize();
    return OPAL_SUCCESS;
}

static int module_initialized(void)
{
    return init_count > 0;
}

static int module_abort(int status, const char *message, opal_list_t *procs)
{
    pf_glue_host->abort(pf_glue_host->context, status);
    return OPAL_ERROR;
}

static int module_commit(void)
{
    return OPAL_SUCCESS;
}

static int module_fence(opal_list_t *procs, int collect_data)
{
    pf_glue_host->fence(pf_glue_host->context);
    return OPAL_SUCCESS;
}

/* Text and byte strings travel by content, all other types fit into the value itself. */
static int module_put(opal_pmix_scope_t scope, opal_value_t *value)
{
    const void *data = &value->data;
    size_t size = sizeof value->data;
    if (value->type == OPAL_STRING) {
        data = value->data.string;
        size = strlen(value->data.string) + 1;
    } else if (value->type == OPAL_BYTE_OBJECT) {
        data = value->data.bo.bytes;
        size = (size_t)value->data.bo.size;
    }
    pf_glue_host->put(pf_glue_host->context, value->key, value->type, data, size);
    return OPAL_SUCCESS;
}

static opal_value_t *new_value(const char *key, opal_data_type_t type)
{
    opal_value_t *value = OBJ_NEW(opal_value_t);
    value->key = strdup(key);
    value->type = type;
    return value;
}

/* What the launcher of a real machine knows about the job. NULL: not one of these keys. */
static opal_value_t *job_value(const char *key)
{
    const struct pf_glue_host *host = pf_glue_host;
    static const char *const sizes[] = {OPAL_PMIX_JOB_SIZE, OPAL_PMIX_UNIV_SIZE, OPAL_PMIX_MAX_PROCS};
    opal_value_t *value = NULL;
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        if (strcmp(key, sizes[i]) == 0) {
            value = new_value(key, OPAL_UINT32);
            value->data.uint32 = (uint32_t)host->job_size;
            return value;
        }
    if (strcmp(key, OPAL_PMIX_LOCAL_SIZE) == 0) {
        value = new_value(key, OPAL_UINT32);
        value->data.uint32 = (uint32_t)host->local_size;
    } else if (strcmp(key, OPAL_PMIX_APPNUM) == 0) {
        value = new_value(key, OPAL_UINT32);
        value->data.uint32 = 0;
    } else if (strcmp(key, OPAL_PMIX_LOCAL_RANK) == 0 || strcmp(key, OPAL_PMIX_NODE_RANK) == 0) {
        value = new_value(key, OPAL_UINT16);
        value->data.uint16 = (uint16_t)host->local_rank;
    } else if (strcmp(key, OPAL_PMIX_LOCAL_PEERS) == 0) {
        value = new_value(key, OPAL_STRING);
        value->data.string = strdup(host->local_peers);
    }
    return value;
}

/* What is known of a rank without its having published it. Each rank asks for the name of each other's host.
 */
static opal_value_t *rank_value(int rank, const char *key)
{
    opal_value_t *value = NULL;
    bool name = strcmp(key, OPAL_PMIX_HOSTNAME) == 0;
    if (!name && strcmp(key, OPAL_PMIX_LOCALITY) != 0)
        return NULL;
    const char *host_name = pf_glue_host->name_of_host(pf_glue_host->context, rank);
    if (!host_name)
        return NULL;
    if (name) {
        value = new_value(key, OPAL_STRING);
        value->data.string = strdup(host_name);
    } else {
        bool local = strcmp(host_name, pf_glue_host->host_name) == 0;
        value = new_value(key, OPAL_UINT16);
        value->data.uint16 =
            local ? OPAL_PROC_ON_CLUSTER | OPAL_PROC_ON_CU | OPAL_PROC_ON_NODE : OPAL_PROC_NON_LOCAL;
    }
    return value;
}

static opal_value_t *published_value(int rank, const char *key)
{
    int type;
    const void *data;
    size_t size;
    if (!pf_glue_host->get(pf_glue_host->context, rank, key, &type, &data, &size))
        return NULL;
    opal_value_t *value = new_value(key, (opal_data_type_t)type);
    if (type == OPAL_STRING) {
        value->data.string = strdup(data);
    } else if (type == OPAL_BYTE_OBJECT) {
        value->data.bo.size = (int32_t)size;
        value->data.bo.bytes = malloc(size);
        memcpy(value->data.bo.bytes, data, size);
    } else {
        memcpy(&value->data, data, size);
    }
    return value;
}

static opal_value_t *stored_value(const opal_process_name_t *id, const char *key)
{
    opal_value_t *value = NULL;
    opal_list_t found;
    OBJ_CONSTRUCT(&found, opal_list_t);
    if (opal_pmix_base_fetch(id, key, &found) == OPAL_SUCCESS)
        value = (opal_value_t *)opal_list_remove_first(&found);
    OPAL_LIST_DESTRUCT(&found);
    return value;
}

static int module_get(const opal_process_name_t *id, const char *key, opal_list_t *info,
                      opal_value_t **result)
{
    opal_value_t *value = NULL;
    /* What each rank asks of each other comes first. */
    if (id->vpid < (opal_vpid_t)pf_glue_host->job_size) {
        value = rank_value((int)id->vpid, key);
        if (!value)
            value = published_value((int)id->vpid, key);
    }
    if (!value)
        value = job_value(key);
    if (!value)
        value = stored_value(id, key);
    *result = value;
    return value ? OPAL_SUCCESS : OPAL_ERR_NOT_FOUND;
}

static int module_get_nb(const opal_process_name_t *id, const char *key, opal_list_t *info,
                         opal_pmix_value_cbfunc_t callback, void *data)
{
    opal_value_t *value;
    int status = module_get(id, key, info, &value);
    if (callback)
        callback(status, value, data);
    if (value)
        OBJ_RELEASE(value); /* NOLINT(clang-analyzer-unix.Malloc): it counts references */
    return OPAL_SUCCESS;
}

static int module_store_local(const opal_process_name_t *proc, opal_value_t *value)
{
    return opal_pmix_base_store(proc, value);
}

static const char *module_version(void)
{
    return "parfocal";
}

static const char *module_nspace(opal_jobid_t job)
{
    return "parfocal";
}

static void module_register_jobid(opal_jobid_t job, const char *nspace)
{
}

static int no_list(opal_list_t *list)
{
    return OPAL_ERR_NOT_SUPPORTED;
}

static int no_spawn(opal_list_t *job_info, opal_list_t *apps, opal_jobid_t *job)
{
    return OPAL_ERR_NOT_SUPPORTED;
}

static int no_lookup(opal_list_t *data, opal_list_t *info)
{
    return OPAL_ERR_NOT_SUPPORTED;
}

static int no_unpublish(char **keys, opal_list_t *info)
{
    return OPAL_ERR_NOT_SUPPORTED;
}

static int no_resolve_peers(const char *node, opal_jobid_t job, opal_list_t *procs)
{
    return OPAL_ERR_NOT_SUPPORTED;
}

static int no_resolve_nodes(opal_jobid_t job, char **nodes)
{
    return OPAL_ERR_NOT_SUPPORTED;
}

/*
 * Without fence_nb, Open MPI's MPI_Init and MPI_Finalize use the blocking fence; MPI_Finalize then runs a
 * barrier of its own over the network first, in which pending messages make progress.
 */
static opal_pmix_base_module_t module = {
    .init = module_init,
    .finalize = module_finalize,
    .initialized = module_initialized,
    .abort = module_abort,
    .commit = module_commit,
    .fence = module_fence,
    .put = module_put,
    .get = module_get,
    .get_nb = module_get_nb,
    .publish = no_list,
    .lookup = no_lookup,
    .unpublish = no_unpublish,
    .spawn = no_spawn,
    .connect = no_list,
    .disconnect = no_list,
    .resolve_peers = no_resolve_peers,
    .resolve_nodes = no_resolve_nodes,
    .get_version = module_version,
    .register_evhandler = opal_pmix_base_register_handler,
    .deregister_evhandler = opal_pmix_base_deregister_handler,
    .notify_event = opal_pmix_base_notify_event,
    .store_local = module_store_local,
    .get_nspace = module_nspace,
    .register_jobid = module_register_jobid,
};

static int component_query(mca_base_module_t **result, int *priority)
{
    *priority = 100;
    *result = (mca_base_module_t *)&module;
    return OPAL_SUCCESS;
}

PF_GLUE_EXPORT extern const opal_pmix_base_component_t mca_pmix_parfocal_component;
const opal_pmix_base_component_t mca_pmix_parfocal_component = {
    .base_version =
        {
            OPAL_PMIX_BASE_VERSION_2_0_0,
            .mca_component_name = "parfocal",
            MCA_BASE_MAKE_VERSION(component, OPAL_MAJOR_VERSION, OPAL_MINOR_VERSION, OPAL_RELEASE_VERSION),
            .mca_query_component = component_query,
        },
    .base_data = {.param_field = MCA_BASE_METADATA_PARAM_NONE},
};
