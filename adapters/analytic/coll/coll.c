/* SPDX-License-Identifier: BSD-3-Clause */
/* Collective operations while ranks arrive: opens one, evaluates it as far as its ranks are known, and closes
 * it. */
#include "adapters/analytic/coll/coll.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>

#include "adapters/analytic/coll/choice.h"
#include "adapters/analytic/coll/evaluate/evaluate.h"
#include "base/memory.h"

struct pf_colls *pf_colls_new(struct pf_cost *cost, const char *choice, char *why, size_t why_size)
{
    struct pf_colls *colls = pf_calloc(1, sizeof *colls);
    colls->cost = cost;
    colls->early.object_size = sizeof(struct pf_early);
    if (!pf_choice_parse(choice, colls->algorithm, colls->segment, why, why_size)) {
        free(colls);
        return NULL;
    }
    return colls;
}

static void release(struct pf_coll *coll)
{
    free(coll->member);
    free(coll->queue);
    free(coll->done);
    free(coll->start);
    free(coll->inter);
    free(coll);
}

void pf_colls_free(struct pf_colls *colls)
{
    while (colls && colls->unused) {
        struct pf_coll *coll = colls->unused;
        colls->unused = coll->next;
        release(coll);
    }
    if (!colls)
        return;
    free(colls->message);
    free(colls->active);
    free(colls->side);
    free(colls->open);
    free(colls->via);
    free(colls->note);
    free(colls->flow_link);
    free(colls->posts);
    free(colls->step);
    free(colls->peer);
    pf_pool_drain(&colls->early);
    free(colls);
}

static void make_room(struct pf_colls *colls, struct pf_coll *coll, int n)
{
    if (coll->room < n) {
        coll->room = n;
        coll->member = pf_reallocarray(coll->member, (size_t)n, sizeof *coll->member);
        coll->queue = pf_reallocarray(coll->queue, (size_t)n, sizeof *coll->queue);
        coll->done = pf_reallocarray(coll->done, (size_t)n, sizeof *coll->done);
        coll->start = pf_reallocarray(coll->start, (size_t)n + 1, sizeof *coll->start);
    }
    if (colls->room < n) {
        colls->room = n;
        colls->step = pf_reallocarray(colls->step, (size_t)n + 1, sizeof *colls->step);
        colls->peer = pf_reallocarray(colls->peer, (size_t)n + 1, sizeof *colls->peer);
    }
}

void pf_colls_watch(struct pf_colls *colls, pf_colls_sends_fn *sends, pf_colls_handles_fn *handles)
{
    colls->sends = sends;
    colls->handles = handles;
}

/* A rank of these kinds needs the data of all, so no rank leaves before the last one arrives. */
static bool needs_all(const struct pf_plan *plan)
{
    switch (plan->call.kind) {
    case PF_COLL_BARRIER:
    case PF_COLL_ALLGATHER:
    case PF_COLL_ALLGATHERV:
    case PF_COLL_ALLTOALL:
    case PF_COLL_ALLTOALLV:
    case PF_COLL_ALLTOALLW:
    case PF_COLL_ALLREDUCE:
    case PF_COLL_REDUCE_SCATTER:
    case PF_COLL_REDUCE_SCATTER_BLOCK:
        return plan->stages > 0;
    default:
        return false;
    }
}

static int size_class(size_t bytes)
{
    int class = bytes ? 64 - __builtin_clzl(bytes) : 0;
    return class < PF_SIZE_CLASSES ? class : PF_SIZE_CLASSES - 1;
}

static struct pf_tally *tally_of(struct pf_coll *coll)
{
    const struct pf_plan *plan = &coll->plan;
    if (plan->inter)
        return &coll->colls->inter[plan->call.kind][plan->call.nonblocking][size_class(plan->call.bytes)];
    const struct pf_algorithm *algorithm = pf_kinds[plan->call.kind].algorithm;
    int index = 0;
    while (algorithm[index].name != plan->name)
        index++;
    return &coll->colls->tally[plan->call.kind][index][size_class(plan->call.bytes)];
}

static void make_inter(struct pf_coll *coll, const struct pf_coll_call *call)
{
    if (!coll->inter)
        coll->inter = pf_reallocarray(NULL, 1, sizeof *coll->inter);
    coll->inter->algorithm = coll->colls->algorithm;
    coll->inter->segment = coll->colls->segment;
    pf_inter_make(&coll->plan, call, coll->inter);
}

static void make_plan(struct pf_coll *coll, const struct pf_coll_call *call)
{
    const struct pf_colls *colls = coll->colls;
    int algorithm = call->nonblocking ? -1 : colls->algorithm[call->kind];
    size_t segment = call->nonblocking ? 0 : colls->segment[call->kind];
    if (call->cut)
        make_inter(coll, call);
    else
        pf_plan_make(&coll->plan, call, algorithm, segment, coll->start);
}

struct pf_coll *pf_coll_open(struct pf_colls *colls, const struct pf_coll_call *call)
{
    struct pf_coll *coll = colls->unused;
    if (coll)
        colls->unused = coll->next;
    else
        coll = pf_calloc(1, sizeof *coll);
    make_room(colls, coll, call->n);
    coll->colls = colls;
    make_plan(coll, call);
    for (int r = 0; r < call->n; r++)
        pf_evaluate_begin(&coll->member[r]);
    coll->early = colls->sends && call->kind == PF_COLL_BARRIER && !coll->plan.sparse;
    coll->with_data = call->with_data && colls->handles && pf_cost_shares_above(colls->cost, SIZE_MAX);
    coll->together = needs_all(&coll->plan) && !coll->plan.sparse && !coll->early && !coll->with_data;
    coll->flows = false;
    coll->stepwise = coll->with_data || (!coll->together && !coll->early && !call->nonblocking &&
                                         !call->cut && pf_evaluate_shares(coll));
    coll->until = INFINITY;
    coll->posts = NULL;
    coll->arrived = coll->queue_length = coll->done_length = coll->taken = 0;
    coll->now = 0;
    coll->tally = tally_of(coll);
    coll->tally->calls++;
    coll->tally->rounds += pf_coll_rounds(coll);
    return coll;
}

uint64_t pf_coll_rounds(const struct pf_coll *coll)
{
    uint64_t rounds = coll->plan.inter ? coll->plan.inter->rounds : 0;
    for (int i = 0; i < coll->plan.stages; i++)
        rounds += coll->plan.stage[i].rounds < INT_MAX ? (uint64_t)coll->plan.stage[i].rounds : 0;
    return rounds;
}

/* The bytes that the rank sends to itself; known when it arrives. */
static size_t own_bytes(const struct pf_coll_call *call, int rank)
{
    switch (call->kind) {
    case PF_COLL_ALLGATHER:
    case PF_COLL_ALLTOALL:
        return call->bytes;
    case PF_COLL_GATHER:
    case PF_COLL_SCATTER:
        return rank == call->root ? call->bytes : 0;
    case PF_COLL_ALLGATHERV:
        return call->counts[rank];
    case PF_COLL_GATHERV:
    case PF_COLL_SCATTERV:
        return rank == call->root ? call->counts[rank] : 0;
    case PF_COLL_ALLTOALLV:
    case PF_COLL_ALLTOALLW:
        return call->rows[rank][rank];
    default:
        return 0;
    }
}

/* s: rounds that begin within it are evaluated in one step. */
#define STEP 1e-7

void pf_coll_arrive(struct pf_coll *coll, int rank, double date)
{
    coll->now = date;
    coll->arrived++;
    coll->member[rank].clock = date + (coll->plan.stages ? 0 : pf_cost_call(coll->colls->cost));
    /* The two sides of an intercommunicator only send to each other. */
    size_t own = coll->plan.call.cut == 0 ? own_bytes(&coll->plan.call, rank) + coll->plan.copied : 0;
    if (own > 0)
        coll->member[rank].clock += pf_cost_copy_own(coll->colls->cost, own);
    coll->member[rank].clock += pf_cost_start(coll->colls->cost, coll->plan.started);
    if (coll->stepwise)
        coll->until = date + STEP;
    if (!coll->together)
        pf_evaluate_from(coll, rank);
    else if (coll->arrived == coll->plan.call.n)
        pf_evaluate_together(coll);
}

double pf_coll_resumes(const struct pf_coll *coll)
{
    return coll->stepwise && coll->queue_length ? coll->member[coll->queue[0]].turn : INFINITY;
}

bool pf_coll_is_stepwise(const struct pf_coll *coll)
{
    return coll->stepwise;
}

void pf_coll_resume(struct pf_coll *coll, double date)
{
    coll->now = date;
    coll->until = date + STEP;
    pf_evaluate_on(coll);
}

bool pf_coll_next(struct pf_coll *coll, int *rank, double *date)
{
    if (coll->taken == coll->done_length)
        return false;
    *rank = coll->done[coll->taken++];
    double end = coll->member[*rank].clock;
    *date = end > coll->now ? end : coll->now;
    return true;
}

const struct pf_cost_inflow *pf_coll_inflow(const struct pf_coll *coll, int rank)
{
    return &coll->member[rank].inflow;
}

const struct pf_coll_sent *pf_coll_sent(const struct pf_coll *coll, int rank)
{
    return &coll->member[rank].sent;
}

void pf_coll_close(struct pf_coll *coll)
{
    if (coll->plan.inter)
        coll->tally->rounds += coll->plan.inter->rounds;
    coll->next = coll->colls->unused;
    coll->colls->unused = coll;
}

static void explain_row(const char *kind, const char *algorithm, int class, const struct pf_tally *tally,
                        FILE *out)
{
    if (tally->calls == 0)
        return;
    double calls = (double)tally->calls;
    fprintf(out, "%-20s %-22s %12zu %10llu %8.0f %12.1f %16.1f\n", kind, algorithm,
            class ? (size_t)1 << (class - 1) : 0, (unsigned long long)tally->calls,
            (double)tally->rounds / calls, (double)tally->messages / calls, (double)tally->bytes / calls);
}

void pf_colls_explain(const struct pf_colls *colls, FILE *out)
{
    fprintf(out, "%-20s %-22s %12s %10s %8s %12s %16s\n", "collective", "algorithm", "bytes from", "calls",
            "rounds", "messages", "bytes");
    for (int kind = 0; kind < PF_COLL_KINDS; kind++)
        for (int algorithm = 0; algorithm < PF_ALGORITHMS_MAX; algorithm++)
            for (int class = 0; class < PF_SIZE_CLASSES; class ++)
                explain_row(pf_kinds[kind].name, pf_kinds[kind].algorithm[algorithm].name, class,
                            &colls->tally[kind][algorithm][class], out);
    for (int kind = 0; kind < PF_COLL_KINDS; kind++)
        for (int i = 0; i < 2; i++)
            for (int class = 0; class < PF_SIZE_CLASSES; class ++)
                explain_row(pf_kinds[kind].name, pf_inter_name(i), class, &colls->inter[kind][i][class], out);
}
