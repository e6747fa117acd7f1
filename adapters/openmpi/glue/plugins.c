/* SPDX-License-Identifier: BSD-3-Clause */
/* Stands in for dlopen() in Open MPI's search for components: each rank finds its own copies. */
#include "opal_config.h"

#include <string.h>

#include "opal/constants.h"
#include "opal/mca/base/mca_base_component_repository.h"
#include "opal/mca/dl/base/base.h"
#include "opal/mca/dl/dl.h"

#include "adapters/openmpi/glue/internal.h"

/* Open MPI treats the handle as opaque: ours is the dlopen handle itself. */
static void *mtl_handle;

static int plugin_open(const char *path, bool use_extensions, bool private_namespace,
                       opal_dl_handle_t **handle, char **error)
{
    const char *why = NULL;
    if (!path)
        return OPAL_ERROR;
    *handle = pf_glue_host->plugin_open(pf_glue_host->context, path, &why);
    if (error)
        *error = (char *)(uintptr_t)why;
    if (strstr(path, "mca_mtl_portals4"))
        mtl_handle = *handle;
    return *handle ? OPAL_SUCCESS : OPAL_ERROR;
}

static int plugin_symbol(opal_dl_handle_t *handle, const char *name, void **symbol, char **error)
{
    *symbol = pf_glue_host->plugin_symbol(pf_glue_host->context, handle, name);
    if (error)
        *error = (char *)(uintptr_t) "no such symbol";
    return *symbol ? OPAL_SUCCESS : OPAL_ERROR;
}

/* Unmapping a plugin while others hold pointers into it gains nothing in a process that is about to end. */
static int plugin_close(opal_dl_handle_t *handle)
{
    return OPAL_SUCCESS;
}

static int plugin_list(const char *directories, int (*each)(const char *path, void *context), void *context)
{
    return pf_glue_host->plugin_list(pf_glue_host->context, each, context);
}

static opal_dl_base_module_t module = {
    .open = plugin_open,
    .close = plugin_close,
    .lookup = plugin_symbol,
    .foreachfile = plugin_list,
};

void *pf_glue_mtl_symbol(const char *name)
{
    return mtl_handle ? pf_glue_host->plugin_symbol(pf_glue_host->context, mtl_handle, name) : NULL;
}

int pf_glue_plugins_install(void)
{
    opal_dl = &module;
    return mca_base_component_repository_add("parfocal");
}
