/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Lets a rank make the other ranks' addresses when it first has to do with them.
 *
 * Stock mtl/portals4 asks for all ranks of the job at the start, because its recovery from a full buffer runs
 * over a tree of them, and fills in that tree's neighbours by their numbers. They are four at most. Those are
 * what it gets at the start, so that neither memory nor time grows with the square of the ranks; Open MPI
 * makes all others at the first message, as it does over other networks. Neither takes simulated time.
 */
#include "ompi_config.h"

#include <stdlib.h>

#include "ompi/constants.h"
#include "ompi/mca/mtl/mtl.h"
#include "ompi/proc/proc.h"
#include "opal/mca/base/mca_base_var.h"

#include "adapters/openmpi/glue/internal.h"
#include "adapters/openmpi/private/match_bits.h"

static int (*stock_query)(mca_base_module_t **module, int *priority);
static mca_mtl_base_module_add_procs_fn_t stock_add;
static pf_glue_tree_t *stock_tree;

/* Of a rank in the binary tree, itself and the root included; the numbers may lie beyond the last rank. */
enum { NEIGHBOURS = 5 };

static void neighbours(size_t me, size_t ranks[NEIGHBOURS])
{
    ranks[0] = 0;
    ranks[1] = me ? (me - 1) / 2 : 0;
    ranks[2] = me;
    ranks[3] = 2 * me + 1;
    ranks[4] = 2 * me + 2;
}

static ompi_proc_t *proc_of(size_t rank)
{
    opal_process_name_t name = {.jobid = OPAL_PROC_MY_NAME.jobid, .vpid = (opal_vpid_t)rank};
    return (ompi_proc_t *)ompi_proc_for_name(name);
}

static bool listed(ompi_proc_t *const *procs, size_t count, const ompi_proc_t *proc)
{
    for (size_t i = 0; i < count; i++)
        if (procs[i] == proc)
            return true;
    return false;
}

/* The first call is MPI_Init's, with the ranks of the same host; the neighbours come to them. */
static int add_procs(struct mca_mtl_base_module_t *mtl, size_t count, struct ompi_proc_t **procs)
{
    size_t ranks[NEIGHBOURS], world = (size_t)pf_glue_host->job_size;
    mtl->mtl_add_procs = stock_add;
    ompi_proc_t **all = malloc((count + NEIGHBOURS) * sizeof *all);
    if (!all)
        return OMPI_ERR_OUT_OF_RESOURCE;
    for (size_t i = 0; i < count; i++)
        all[i] = procs[i];
    neighbours((size_t)pf_glue_host->rank, ranks);
    for (int i = 0; i < NEIGHBOURS; i++) {
        ompi_proc_t *proc = ranks[i] < world ? proc_of(ranks[i]) : NULL;
        if (proc && !listed(all, count, proc))
            all[count++] = proc;
    }
    int status = stock_add(mtl, count, all);
    free(all);
    return status;
}

/* Stands for the function that looks its neighbours up in a table of all ranks. */
static int make_tree(size_t me, size_t count, struct ompi_proc_t **procs)
{
    size_t world = (size_t)pf_glue_host->job_size;
    if (count == world)
        return stock_tree(me, count, procs);
    ompi_proc_t **table = calloc(world, sizeof *table);
    if (!table)
        return OMPI_ERR_OUT_OF_RESOURCE;
    for (size_t i = 0; i < count; i++)
        table[procs[i]->super.proc_name.vpid] = procs[i];
    int status = stock_tree(me, world, table);
    free(table);
    return status;
}

/* With logical addresses the NIC holds a map of all ranks. */
static bool wants_map(void)
{
    int index = mca_base_var_find("ompi", "mtl", "portals4", "use_logical");
    const int *value = NULL;
    return index >= 0 && mca_base_var_get_value(index, &value, NULL, NULL) == OPAL_SUCCESS && value && *value;
}

static int query(mca_base_module_t **module, int *priority)
{
    int status = stock_query(module, priority);
    if (status != OMPI_SUCCESS || !*module)
        return status;
    mca_mtl_base_module_t *mtl = (mca_mtl_base_module_t *)*module;
    mtl->mtl_max_contextid = PF_OMPI_CONTEXTS - 1;
    if (wants_map())
        return status;
    mtl->mtl_flags &= ~(uint32_t)MCA_MTL_BASE_FLAG_REQUIRE_WORLD;
    stock_add = mtl->mtl_add_procs;
    mtl->mtl_add_procs = add_procs;
    return status;
}

pf_glue_tree_t *pf_glue_mtl_repair(void *component, pf_glue_tree_t *tree)
{
    mca_base_component_t *base = component;
    stock_query = base->mca_query_component;
    base->mca_query_component = query;
    stock_tree = tree;
    return make_tree;
}
