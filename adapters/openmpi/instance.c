/* SPDX-License-Identifier: BSD-3-Clause */
/* Loads the Open MPI of one rank: its libraries, its plugins, the glue, and its environment. */
#include "adapters/openmpi/instance.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "adapters/openmpi/blocks.h"
#include "adapters/openmpi/clone.h"
#include "adapters/openmpi/hooks.h"
#include "adapters/openmpi/image.h"
#include "adapters/openmpi/private/private.h"
#include "adapters/openmpi/settings.h"
#include "base/memory.h"
#include "loader/copy.h"

/* A library of this rank, with its calls led where they should go. */
static void *load(struct pf_ompi_instance *inst, struct pf_family *elf, char *why, size_t n)
{
    if (inst->stack->image)
        return pf_ompi_image_load(inst->stack, elf, inst->self->rank, why, n);
    int number = inst->self->rank + inst->stack->number * inst->stack->job.size;
    void *handle = pf_clone_load(elf, number, why, n);
    if (elf == pf_parts_core(PF_CORE_MPI))
        inst->core[PF_CORE_MPI] = handle;
    if (handle)
        pf_hooks_install(inst->stack, handle, inst->core[PF_CORE_MPI]);
    return handle;
}

/*
 * A nonblocking collective keeps its types and operation by what it notes in its request. Stock
 * MPI_Ialltoallw takes the number of neighbours for the number of types when the communicator has a topology,
 * and reads beyond their arrays; and the requests of coll/portals4 have no room for the notes, which are
 * written across their own data. The middleware keeps all of it until the request completes.
 */
static int kept_already(void)
{
    return 0; /* OMPI_SUCCESS */
}

static void repair_retaining(const struct pf_ompi_instance *inst)
{
#define X(name) pf_hooks_replace(inst->core[PF_CORE_MPI], name, (void *)kept_already);
    PF_OMPI_RETAIN(X)
#undef X
}

/* What a library or plugin would ask of a launcher's library, the glue answers. */
static void repair_answered(const struct pf_ompi_instance *inst, void *handle)
{
    static const char *const answered[] = {
#define X(name) #name,
        PF_OMPI_ANSWERED(X)
#undef X
            NULL};
    for (int i = 0; answered[i]; i++)
        pf_hooks_replace(handle, answered[i], pf_copy_symbol(inst->core[PF_CORE_GLUE], answered[i]));
}

static void repair_nbc(const struct pf_ompi_instance *inst, void *handle)
{
    static const char start[] = PF_OMPI_NBC_START, progress[] = PF_OMPI_NBC_PROGRESS;
    pf_hooks_replace(handle, start, inst->glue->nbc_start(pf_copy_symbol(handle, start)));
    pf_hooks_replace(handle, progress, inst->glue->nbc_progress(pf_copy_symbol(handle, progress)));
}

static void time_copies(const struct pf_ompi_instance *inst)
{
    void *stock = pf_copy_symbol(inst->core[PF_CORE_PAL], PF_OMPI_COPY);
    if (inst->host.copied && stock)
        pf_hooks_replace(inst->core[PF_CORE_MPI], PF_OMPI_COPY, inst->glue->copy(stock));
    stock = pf_copy_symbol(inst->core[PF_CORE_PAL], PF_OMPI_COMMIT);
    if (inst->host.typed && stock)
        pf_hooks_replace(inst->core[PF_CORE_MPI], PF_OMPI_COMMIT, inst->glue->commit(stock));
}

static void replace(void *handle, const char *name, void *value)
{
    pf_hooks_replace(handle, name, value);
}

/* osc/ucx where it is a part of libmpi, and what it shares with others one of libopen-pal. */
static void repair_osc_ucx(const struct pf_ompi_instance *inst)
{
    void *libmpi = inst->core[PF_CORE_MPI];
    pf_hooks_replace(libmpi, PF_OMPI_OSC_COMM, (void *)inst->glue->window_comm);
    inst->glue->osc_ucx_repair(replace, pf_copy_symbol, libmpi, inst->core[PF_CORE_PAL]);
}

/* In this order each library finds those it needs already loaded, under this rank's names. */
bool pf_ompi_instance_load(struct pf_ompi_instance *inst, char *why, size_t n)
{
    for (int i = 0; i < PF_CORE_COUNT; i++) {
        inst->core[i] = load(inst, pf_parts_core((enum pf_core)i), why, n);
        if (!inst->core[i])
            return false;
    }
    repair_retaining(inst);
    pf_glue_bind_t bind;
    *(void **)&bind = pf_copy_symbol(inst->core[PF_CORE_GLUE], "pf_glue_bind");
    inst->glue = bind ? bind(&inst->host) : NULL;
    if (!inst->glue || inst->glue->size != sizeof *inst->glue) {
        snprintf(why, n, "%s belongs to another build of Parfocal: rebuild",
                 pf_parts_core(PF_CORE_GLUE)->elf.path);
        return false;
    }
    for (int i = 0; i < PF_CORE_GLUE; i++)
        repair_answered(inst, inst->core[i]);
    time_copies(inst);
    if (!*PF_OMPI_NBC_PLUGIN)
        repair_nbc(inst, inst->core[PF_CORE_MPI]);
    if (!*PF_OMPI_OSC_UCX_PLUGIN && pf_ompi_stack_has_pml(inst->stack, "ucx"))
        repair_osc_ucx(inst);
    return true;
}

/* Open MPI takes the part after the last underscore pair for the component's name, so the paths lack their
 * ".so". */
struct listing {
    int (*each)(const char *path, void *arg);
    void *arg;
};

static int list_one(const char *path, void *arg)
{
    const struct listing *listing = arg;
    char name[PATH_MAX];
    int length = snprintf(name, sizeof name, "%s", path);
    if (length > 3 && length < (int)sizeof name)
        name[length - 3] = 0;
    return listing->each(name, listing->arg);
}

/* The glue holds several components; Open MPI expects one file for each. */
static const char *const components[] = {
#define X(name) name,
    PF_OMPI_COMPONENTS(X)
#undef X
        NULL};

static bool is_glue(const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    for (int i = 0; components[i]; i++)
        if (strcmp(name, components[i]) == 0)
            return true;
    return false;
}

int pf_ompi_plugin_list(void *context, int (*each)(const char *path, void *arg), void *arg)
{
    struct listing listing = {each, arg};
    const struct pf_ompi_instance *inst = context;
    int status = pf_parts_each_plugin(inst->stack, list_one, &listing);
    for (int i = 0; components[i] && status == 0; i++)
        status = each(components[i], arg);
    return status;
}

/*
 * What stock coll/portals4 does wrongly is not offered: where the component finds no function of its own,
 * Open MPI takes coll/tuned or coll/libnbc. Scatter reads arguments on all ranks that only the root has to
 * give, and takes the root's own part from a wrong place when the type has gaps. The nonblocking broadcast
 * has the fault that the glue makes up for in the blocking one.
 */
static void repair_coll(const struct pf_ompi_instance *inst, void *handle)
{
    static const char bcast[] = PF_OMPI_COLL_BCAST;
#define X(name) pf_hooks_replace(handle, name, NULL);
    PF_OMPI_COLL_WITHHELD(X)
#undef X
    void *types = pf_copy_symbol(handle, PF_OMPI_COLL_TYPES);
    pf_hooks_replace(handle, bcast, inst->glue->coll_repair(pf_copy_symbol(handle, bcast), types));
    static const char *const ends[PF_GLUE_COLL_ENDS] = {
#define X(name) name,
        PF_OMPI_COLL_ENDS(X)
#undef X
    };
    for (int i = 0; i < PF_GLUE_COLL_ENDS; i++)
        pf_hooks_replace(handle, ends[i], inst->glue->coll_end(i, pf_copy_symbol(handle, ends[i])));
}

static void repair_mtl(const struct pf_ompi_instance *inst, void *handle)
{
    static const char tree[] = PF_OMPI_MTL_TREE;
    pf_glue_tree_t *stock;
    *(void **)&stock = pf_copy_symbol(handle, tree);
    stock = inst->glue->mtl_repair(pf_copy_symbol(handle, PF_OMPI_MTL_COMPONENT), stock);
    pf_hooks_replace(handle, tree, *(void **)&stock);
    pf_hooks_replace(handle, "malloc", (void *)pf_blocks_malloc);
    pf_hooks_replace(handle, "free", (void *)pf_blocks_free);
}

static void repair_osc_pt2pt(const struct pf_ompi_instance *inst, void *handle)
{
    static const char receive[] = PF_OMPI_OSC_RECEIVE, send[] = PF_OMPI_OSC_SEND;
    pf_hooks_replace(handle, receive, inst->glue->osc_receive(pf_copy_symbol(handle, receive)));
    pf_hooks_replace(handle, send, inst->glue->osc_send(pf_copy_symbol(handle, send)));
}

void *pf_ompi_plugin_open(void *context, const char *path, const char **error)
{
    static char why[512];
    struct pf_ompi_instance *inst = context;
    char file[PATH_MAX];
    *error = why;
    if (is_glue(path))
        return inst->core[PF_CORE_GLUE];
    snprintf(file, sizeof file, "%s.so", path);
    struct pf_family *elf = pf_parts_plugin(file, why, sizeof why);
    for (int i = 0; elf && i < elf->needed_count; i++) {
        if (strncmp(elf->needed[i], "libmca_common_", 14) != 0)
            continue;
        struct pf_family *common = pf_parts_common(elf->needed[i], why, sizeof why);
        if (!common || !load(inst, common, why, sizeof why))
            return NULL;
    }
    void *handle = elf ? load(inst, elf, why, sizeof why) : NULL;
    const char *name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
    if (handle && strcmp(name, "mca_mtl_portals4") == 0)
        repair_mtl(inst, inst->mtl = handle);
    else if (handle && inst->mtl && !inst->stack->image)
        pf_hooks_bind(handle, PF_OMPI_MTL, inst->mtl);
    if (handle)
        repair_answered(inst, handle);
    if (handle && strncmp(name, "mca_osc_", 8) == 0)
        pf_hooks_replace(handle, PF_OMPI_OSC_COMM, (void *)inst->glue->window_comm);
    if (handle && strcmp(name, "mca_osc_pt2pt") == 0)
        repair_osc_pt2pt(inst, handle);
    if (handle && strcmp(name, "mca_osc_portals4") == 0)
        inst->glue->osc_repair(replace, handle);
    if (handle && strcmp(name, PF_OMPI_OSC_UCX_PLUGIN) == 0)
        inst->glue->osc_ucx_repair(replace, pf_copy_symbol, handle, handle);
    if (handle && strcmp(name, PF_OMPI_NBC_PLUGIN) == 0)
        repair_nbc(inst, handle);
    if (handle && strcmp(name, "mca_coll_portals4") == 0)
        repair_coll(inst, handle);
    return handle;
}

void *pf_ompi_plugin_symbol(void *context, void *handle, const char *name)
{
    return pf_copy_symbol(handle, name);
}

static struct pf_ompi_variable *find_variable(struct pf_ompi_instance *inst, const char *name)
{
    struct pf_ompi_variable *variable = inst->environment;
    while (variable && strcmp(variable->name, name) != 0)
        variable = variable->next;
    return variable;
}

const char *pf_ompi_instance_getenv(struct pf_ompi_instance *inst, const char *name)
{
    const struct pf_ompi_variable *variable = find_variable(inst, name);
    return variable && variable->value ? variable->value : pf_settings_get(inst->stack, name);
}

void pf_ompi_instance_setenv(struct pf_ompi_instance *inst, const char *name, const char *value)
{
    struct pf_ompi_variable *variable = find_variable(inst, name);
    if (!variable) {
        variable = pf_calloc(1, sizeof *variable);
        variable->name = pf_strdup(name);
        variable->next = inst->environment;
        inst->environment = variable;
    }
    free(variable->value);
    variable->value = value ? pf_strdup(value) : NULL;
}

void *pf_ompi_symbol(struct pf_ompi_instance *inst, const char *name)
{
    return pf_copy_symbol(inst->core[PF_CORE_MPI], name);
}
