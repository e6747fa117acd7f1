/* SPDX-License-Identifier: BSD-3-Clause */
/* What all files of the engine share: the ranks and the price lists. */
#include "adapters/analytic/engine/engine.h"

#include <stdlib.h>
#include <string.h>

#include <simgrid/host.h>
#include <uthash.h>

#include "adapters/analytic/cost/routes/platform_route.h"
#include "base/config.h"
#include "base/error.h"
#include "base/memory.h"
#include "lowlevel/network/packet/carried.h"
#include "lowlevel/platform/platform.h"

struct an_job an_job;

/* Nodes are numbered in the order of the first ranks on them. */
struct node {
    sg_host_t host;
    int number;
    UT_hash_handle hh;
};

/* The platform's number of each node, and the node of each rank. */
static int *number_nodes(const struct pf_job *job, int *nodes)
{
    struct node *known = NULL, *all = pf_calloc((size_t)job->size, sizeof *all);
    int *hosts =
        pf_calloc((size_t)job->size, sizeof *hosts); /* kept: routes are asked until the end of the run */
    int n = 0;
    for (int i = 0; i < job->size; i++) {
        struct node *node;
        sg_host_t host = job->ranks[i]->host;
        HASH_FIND_PTR(known, &host, node);
        if (!node) {
            node = &all[n];
            node->host = host;
            node->number = n;
            hosts[n++] = pf_platform_node(host);
            HASH_ADD_PTR(known, host, node);
        }
        nodes[i] = node->number;
    }
    HASH_CLEAR(hh, known);
    free(all);
    return hosts;
}

/* What links carry is shown with what ranks wait for. */
static void carry(void *context, int src_node, int dst_node, uint64_t messages, double bytes)
{
    const int *hosts = context;
    pf_carried_add(hosts[src_node], hosts[dst_node], messages, bytes);
}

static void hand_out(void)
{
    pf_cost_carried(an_job.cost);
}

int an_job_price(const struct pf_job *job, char *why, size_t why_size)
{
    int *nodes = pf_malloc((size_t)job->size * sizeof *nodes);
    int *hosts = number_nodes(job, nodes);
    an_job.cost =
        pf_cost_new(job->size, nodes, pf_cost_platform_route, pf_cost_platform_links, hosts, why, why_size);
    free(nodes);
    if (!an_job.cost)
        return PF_ERR_ARG;
    if (pf_config.analytic_explain && (*pf_config.report || *pf_config.summary)) {
        pf_cost_carry(an_job.cost, carry, hosts);
        pf_carried_begin(hand_out);
    }
    if (pf_chain_on) {
        pf_cost_note_waits(an_job.cost);
        an_job.nodes = pf_calloc((size_t)job->size, sizeof *an_job.nodes);
        for (int i = 0; i < job->size; i++)
            an_job.nodes[i] = pf_platform_node(job->ranks[i]->host);
    }
    an_job.posts = pf_cost_post(an_job.cost, SIZE_MAX) > 0;
    an_job.mpich = strcmp(pf_config.analytic_stack, "mpich") == 0;
    an_job.asks_above = pf_cost_asks_above(an_job.cost);
    an_job.alone = job->alone;
    an_job.by_words = pf_cost_window_words(an_job.cost);
    an_job.by_messages = pf_cost_window_buffer(an_job.cost) > 0;
    an_job.sends_alone = an_job.by_messages && pf_cost_by_nic(an_job.cost);
    an_job.colls = pf_colls_new(an_job.cost, pf_config.analytic_coll, why, why_size);
    return an_job.colls ? PF_SUCCESS : PF_ERR_ARG;
}
