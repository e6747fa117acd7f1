/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The run-time environment of a rank, in place of what mpirun sets up. It opens none of the frameworks that
 * would talk to a daemon (oob, rml, routed, grpcomm, state, errmgr), so an instance has no thread and no
 * socket.
 */
#include "orte_config.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "opal/mca/event/event.h"
#include "opal/mca/pmix/base/base.h"
#include "opal/mca/pmix/pmix.h"
#include "opal/util/proc.h"
#include "orte/constants.h"
#include "orte/mca/errmgr/errmgr.h"
#include "orte/mca/ess/base/base.h"
#include "orte/mca/ess/ess.h"
#include "orte/runtime/orte_globals.h"
#include "orte/util/proc_info.h"

#include "adapters/openmpi/glue/internal.h"
#include "adapters/openmpi/glue/v4/types.h"

static __attribute__((noreturn)) void end_job(int status)
{
    pf_glue_host->abort(pf_glue_host->context, status);
    __builtin_unreachable();
}

static void on_abort(int status, char *format, ...)
{
    if (format) {
        va_list args;
        va_start(args, format);
        vfprintf(stderr, format, args);
        va_end(args);
    }
    end_job(status);
}

static int on_abort_peers(orte_process_name_t *procs, orte_std_cntr_t count, int status)
{
    end_job(status);
}

static void module_abort(int status, bool report)
{
    end_job(status);
}

static int start_pmix(void)
{
    int status = mca_base_framework_open(&opal_pmix_base_framework, 0);
    if (status == OPAL_SUCCESS)
        status = opal_pmix_base_select();
    if (status != OPAL_SUCCESS)
        return status;
    opal_pmix_base_set_evbase(orte_event_base);
    return opal_pmix.initialized() ? OPAL_SUCCESS : opal_pmix.init(NULL);
}

static void fill_process_info(void)
{
    const struct pf_glue_host *host = pf_glue_host;
    ORTE_PROC_MY_NAME->jobid = PF_GLUE_JOB;
    ORTE_PROC_MY_NAME->vpid = (orte_vpid_t)host->rank;
    orte_process_info.my_local_rank = (orte_local_rank_t)host->local_rank;
    orte_process_info.my_node_rank = (orte_node_rank_t)host->local_rank;
    orte_process_info.num_procs = (orte_vpid_t)host->job_size;
    orte_process_info.max_procs = (orte_vpid_t)host->job_size;
    orte_process_info.num_local_peers = (orte_vpid_t)(host->local_size - 1);
    orte_process_info.app_num = 0;
    free(orte_process_info.nodename);
    orte_process_info.nodename = strdup(host->host_name);
    orte_standalone_operation = true;
}

static int module_init(void)
{
    int status = orte_ess_base_std_prolog();
    if (status != ORTE_SUCCESS)
        return status;
    orte_event_base = opal_sync_event_base;
    status = start_pmix();
    if (status != OPAL_SUCCESS)
        return status;
    fill_process_info();
    /* These are NULL or lead to an error manager that was never opened. */
    orte_errmgr.abort = on_abort;
    orte_errmgr.abort_peers = on_abort_peers;
    return ORTE_SUCCESS;
}

static int module_finalize(void)
{
    opal_pmix.finalize();
    (void)mca_base_framework_close(&opal_pmix_base_framework);
    orte_proc_info_finalize();
    return ORTE_SUCCESS;
}

static orte_ess_base_module_t module = {
    .init = module_init,
    .finalize = module_finalize,
    .abort = module_abort,
};

static int component_query(mca_base_module_t **result, int *priority)
{
    *priority = 1000;
    *result = (mca_base_module_t *)&module;
    return ORTE_SUCCESS;
}

PF_GLUE_EXPORT extern orte_ess_base_component_t mca_ess_parfocal_component;
orte_ess_base_component_t mca_ess_parfocal_component = {
    .base_version =
        {
            ORTE_ESS_BASE_VERSION_3_0_0,
            .mca_component_name = "parfocal",
            MCA_BASE_MAKE_VERSION(component, ORTE_MAJOR_VERSION, ORTE_MINOR_VERSION, ORTE_RELEASE_VERSION),
            .mca_query_component = component_query,
        },
    .base_data = {.param_field = MCA_BASE_METADATA_PARAM_NONE},
};
