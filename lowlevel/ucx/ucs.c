/* SPDX-License-Identifier: BSD-3-Clause */
/* libucs and libucm, and what of libucp says how UCX is built: names, versions, nothing to do. */
#include <stdlib.h>
#include <string.h>

#include "lowlevel/ucx/internal.h"

/* MPICH's context, which asks for more. */
static ucs_status_t init_mpich(unsigned major, unsigned minor, const ucp_params_t *params,
                               const ucp_config_t *config, ucp_context_h *context)
{
    return ucx_init(PF_UCX_MPICH, major, params, context);
}

static const struct entry {
    const char *name;
    void *function;
} functions[] = {
#define UCX_FUNCTION(name) {#name, (void *)name},
#include "lowlevel/ucx/functions.def"
#undef UCX_FUNCTION
};

static int by_name(const void *name, const void *entry)
{
    return strcmp(name, ((const struct entry *)entry)->name);
}

void *pf_ucx_function(enum pf_ucx_user user, const char *name)
{
    const struct entry *entry = NULL;
    if (user == PF_UCX_MPICH && strcmp(name, "ucp_init_version") == 0)
        return (void *)init_mpich;
    if (strncmp(name, "uc", 2) == 0)
        entry =
            bsearch(name, functions, sizeof functions / sizeof functions[0], sizeof functions[0], by_name);
    return entry ? entry->function : NULL;
}

void ucp_get_version(unsigned *major, unsigned *minor, unsigned *release)
{
    *major = UCP_API_MAJOR;
    *minor = UCP_API_MINOR;
    *release = UCP_API_RELEASE;
}

/* The variables are the same for all (settings.c). */
ucs_status_t ucp_config_read(const char *prefix, const char *file, ucp_config_t **config)
{
    *config = NULL;
    return UCS_OK;
}

void ucp_config_release(ucp_config_t *config)
{
}

void ucp_context_print_info(ucp_context_h context, FILE *stream)
{
}

const char *ucs_status_string(ucs_status_t status)
{
    switch (status) {
    case UCS_OK:
        return "Success";
    case UCS_INPROGRESS:
        return "Operation in progress";
    case UCS_ERR_NO_MEMORY:
        return "Out of memory";
    case UCS_ERR_INVALID_PARAM:
        return "Invalid parameter";
    case UCS_ERR_INVALID_ADDR:
        return "Invalid address";
    case UCS_ERR_MESSAGE_TRUNCATED:
        return "Message truncated";
    case UCS_ERR_CANCELED:
        return "Request canceled";
    case UCS_ERR_UNSUPPORTED:
        return "Operation is not supported";
    default:
        return "Unknown error";
    }
}

/* Memory that is given back needs no notice: the simulated NIC keeps no registrations. */
void ucm_set_external_event(int events)
{
}

ucs_status_t ucm_test_events(int events)
{
    return UCS_OK;
}

ucs_status_t ucm_test_external_events(int events)
{
    return UCS_OK;
}

void ucm_vm_munmap(void *address, size_t length)
{
}
