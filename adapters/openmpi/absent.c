/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * In place of the adapter where the Open MPI that is installed is none of those in private/: the models over
 * it are refused by name, the others are there. PF_OPENMPI_ABSENT says why, and PF_OPENMPI_ERROR whether it
 * could be mended on this system. Since open fails, no instance is made, and nothing below is called but
 * probe and open.
 */
#include <stdio.h>

#include "adapters/adapter.h"
#include "base/error.h"

static int absent_probe(char *why, size_t n)
{
    snprintf(why, n, "%s", PF_OPENMPI_ABSENT);
    return PF_OPENMPI_ERROR;
}

static int absent_open(const struct pf_job *job, char *why, size_t n)
{
    return absent_probe(why, n);
}

static struct pf_instance *no_instance(int rank, const char *network)
{
    return NULL;
}

static void no_status(const void *native, struct pf_native_status_view *out)
{
    *out = (struct pf_native_status_view){0};
}

static int no_error_class(struct pf_instance *in, int code)
{
    return code;
}

static int no_comm_shadow(struct pf_instance *in, const int *world_ranks, int n, int me, int id,
                          bool node_local, void **native)
{
    return PF_ERR_UNSUPPORTED;
}

static void no_object(struct pf_instance *in, void *native)
{
}

static int no_win_shadow(struct pf_instance *in, const struct pf_win_recipe *recipe, void **native)
{
    return PF_ERR_UNSUPPORTED;
}

static int no_win_open(struct pf_instance *in, void *native)
{
    return PF_ERR_UNSUPPORTED;
}

static int no_win_share(struct pf_instance *in, void *comm, const void *mine, void *all_sizes, int bytes)
{
    return PF_ERR_UNSUPPORTED;
}

static bool no_request_done(struct pf_instance *in, void *request)
{
    return false;
}

static const struct pf_adapter_ops ops = {
    .size = sizeof ops,
    .probe = absent_probe,
    .open = absent_open,
    .instance = no_instance,
    .start = pf_adapter_no_start,
    .finish = pf_adapter_no_start,
    .enter = pf_adapter_no_hook,
    .leave = pf_adapter_no_hook,
    .idle = pf_adapter_no_hook,
    .settle = pf_adapter_no_hook,
    .ahead = pf_adapter_no_debt,
    .status_get = no_status,
    .error_class = no_error_class,
    .comm_shadow = no_comm_shadow,
    .intercomm_shadow = pf_adapter_no_intercomm,
    .comm_free = no_object,
    .comm_kept = pf_adapter_no_comm_kept,
    .comm_errors_return = no_object,
    .win_made = no_object,
    .win_gone = no_object,
    .win_shadow = no_win_shadow,
    .win_open = no_win_open,
    .win_free = no_object,
    .win_share = no_win_share,
    .request_done = no_request_done,
    .request_will_be_done = no_request_done,
    .progress = pf_adapter_no_hook,
};

#define ABSENT                                                                                               \
    {                                                                                                        \
        .abi = PF_ADAPTER_ABI, .name = "openmpi", .version = "none", .ops = &ops                             \
    }
const struct pf_adapter pf_openmpi_adapter = ABSENT, pf_openmpi_ucx_adapter = ABSENT;
