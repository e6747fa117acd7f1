/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The time of copies inside a rank, of types, of starting requests, and of reductions: each predefined
 * operation gets a function that calls the component's and reports to the adapter how many bytes it has
 * combined. The component's own functions and modules are found through the module, which Open MPI passes to
 * the function. Operations of the program are the program's computation.
 */
#include "ompi_config.h"

#include <stdlib.h>

#include "ompi/datatype/ompi_datatype.h"
#include "ompi/mca/op/op.h"
#include "ompi/mca/pml/pml.h"
#include "ompi/op/op.h"

#include "adapters/openmpi/glue/internal.h"

/* In the place of the module of one operation and type. */
struct timed {
    ompi_op_base_module_t super;
    ompi_op_base_module_t *module, *module3;
    ompi_op_base_handler_fn_t function;
    ompi_op_base_3buff_handler_fn_t function3;
};

static void combined(int count, ompi_datatype_t *type)
{
    size_t size;
    ompi_datatype_type_size(type, &size);
    pf_glue_host->combined(pf_glue_host->context, (size_t)count * size);
}

static void combine(const void *in, void *inout, int *count, ompi_datatype_t **type,
                    ompi_op_base_module_t *module)
{
    const struct timed *timed = (const struct timed *)module;
    timed->function(in, inout, count, type, timed->module);
    combined(*count, *type);
}

static void combine3(const void *in1, const void *in2, void *out, int *count, ompi_datatype_t **type,
                     ompi_op_base_module_t *module)
{
    const struct timed *timed = (const struct timed *)module;
    timed->function3(in1, in2, out, count, type, timed->module3);
    combined(*count, *type);
}

static void install(ompi_op_t *op)
{
    for (int i = 0; i < OMPI_OP_BASE_TYPE_MAX; i++) {
        struct timed *timed = op->o_func.intrinsic.fns[i] ? malloc(sizeof *timed) : NULL;
        if (!timed)
            continue;
        OBJ_CONSTRUCT(&timed->super, ompi_op_base_module_t);
        OBJ_RETAIN(&timed->super); /* two tables have it, and the memory stays */
        OBJ_RETAIN(&timed->super);
        timed->module = op->o_func.intrinsic.modules[i];
        timed->module3 = op->o_3buff_intrinsic.modules[i];
        timed->function = op->o_func.intrinsic.fns[i];
        timed->function3 = op->o_3buff_intrinsic.fns[i];
        op->o_func.intrinsic.fns[i] = combine;
        op->o_func.intrinsic.modules[i] = &timed->super;
        if (!timed->function3)
            continue;
        op->o_3buff_intrinsic.fns[i] = combine3;
        op->o_3buff_intrinsic.modules[i] = &timed->super;
    }
}

typedef int32_t copy_t(const opal_datatype_t *type, int32_t count, char *to, char *from);
static copy_t *stock_copy;

static int32_t copy(const opal_datatype_t *type, int32_t count, char *to, char *from)
{
    pf_glue_host->copied(pf_glue_host->context, (size_t)count * type->size);
    return stock_copy(type, count, to, from);
}

void *pf_glue_copy(void *function)
{
    *(void **)&stock_copy = function;
    return (void *)copy;
}

typedef int32_t commit_t(opal_datatype_t *type);
static commit_t *stock_commit;

/* Only types of the program have a description for it. */
static int32_t commit(opal_datatype_t *type)
{
    if (!((ompi_datatype_t *)type)->args)
        pf_glue_host->typed(pf_glue_host->context);
    return stock_commit(type);
}

void *pf_glue_commit(void *function)
{
    *(void **)&stock_commit = function;
    return (void *)commit;
}

static mca_pml_base_module_start_fn_t stock_start;

static int start(size_t count, ompi_request_t **requests)
{
    pf_glue_host->started(pf_glue_host->context, count);
    return stock_start(count, requests);
}

void pf_glue_op_install(void)
{
    if (pf_glue_host->started) {
        stock_start = mca_pml.pml_start;
        mca_pml.pml_start = start;
    }
    ompi_op_t *const ops[] = {&ompi_mpi_op_max.op,  &ompi_mpi_op_min.op,    &ompi_mpi_op_sum.op,
                              &ompi_mpi_op_prod.op, &ompi_mpi_op_land.op,   &ompi_mpi_op_band.op,
                              &ompi_mpi_op_lor.op,  &ompi_mpi_op_bor.op,    &ompi_mpi_op_lxor.op,
                              &ompi_mpi_op_bxor.op, &ompi_mpi_op_maxloc.op, &ompi_mpi_op_minloc.op};
    for (size_t i = 0; pf_glue_host->combined && i < sizeof ops / sizeof ops[0]; i++)
        install(ops[i]);
}
