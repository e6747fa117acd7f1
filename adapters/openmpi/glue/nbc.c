/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Nonblocking collectives of coll/libnbc. Their later rounds begin in whatever call finds the round before
 * complete, which may be one in another model. All their messages go by the network of the call that began
 * the collective.
 *
 * What that was is noted by the address of the collective's request. A request that is used again is noted
 * again, so that there are as many notes as there have been requests at once.
 */
#include "ompi_config.h"

#include "opal/class/opal_hash_table.h"

#include "adapters/openmpi/glue/internal.h"

typedef int step_fn(void *request);
static step_fn *stock_start, *stock_progress;

static opal_hash_table_t *networks; /* of requests */

static int use_network(int network)
{
    return pf_glue_host->use_network(pf_glue_host->context, network);
}

static int start(void *request)
{
    int network = use_network(PF_GLUE_SAME_NETWORK);
    int status = opal_hash_table_set_value_uint64(networks, (uintptr_t)request, (void *)(intptr_t)network);
    return status == OPAL_SUCCESS ? stock_start(request) : status;
}

/* Also of a round that this one begins. */
static int progress(void *request)
{
    void *network = NULL;
    opal_hash_table_get_value_uint64(networks, (uintptr_t)request, &network);
    int before = use_network((int)(intptr_t)network);
    int status = stock_progress(request);
    use_network(before);
    return status;
}

void *pf_glue_nbc_start(void *function)
{
    networks = OBJ_NEW(opal_hash_table_t);
    opal_hash_table_init(networks, 16);
    stock_start = (step_fn *)function;
    return (void *)start;
}

void *pf_glue_nbc_progress(void *function)
{
    stock_progress = (step_fn *)function;
    return (void *)progress;
}
