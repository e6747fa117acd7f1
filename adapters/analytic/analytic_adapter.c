/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The adapter of the communication engine. Objects that are local to a rank (datatypes, operations, groups,
 * info) and the numbers of MPI's named values are those of adapters/local.
 */
#include "adapters/adapter.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "adapters/analytic/collective/collective.h"
#include "adapters/analytic/comm/comm.h"
#include "adapters/analytic/p2p/p2p.h"
#include "adapters/analytic/rma/rma.h"
#include "adapters/local/local.h"
#include "adapters/predefined.h"
#include "base/config.h"
#include "base/error.h"
#include "base/memory.h"
#include "lowlevel/network/packet/carried.h"

static union pf_own_table functions;
static struct pf_native_values values;

static void find_functions(void)
{
    struct pf_own_fn *fn = &functions.own;
    pf_local_install(fn);
    an_p2p_install(fn);
    an_wait_install(fn);
    an_probe_install(fn);
    an_collective_install(fn);
    an_comm_install(fn);
    an_data_install(fn);
    an_rma_install(fn);
}

static void wake(struct pf_event *event)
{
    struct an_rank *next = pf_container_of(event, struct an_rank, wake);
    while (next) {
        struct an_rank *rank = next;
        next = rank->wake_next;
        rank->wake_next = NULL;
        an_job.wake(rank);
    }
}

static void wake_waiter(struct an_rank *rank)
{
    pf_waiter_wake(&rank->waiter);
}

static void make_rank(int i, const int *all)
{
    struct an_rank *rank = pf_calloc(1, sizeof *rank);
    pf_local_predefined(rank->predefined);
    rank->base = (struct pf_instance){.adapter = &pf_analytic_adapter,
                                      .ops = pf_analytic_adapter.ops,
                                      .values = &values,
                                      .fn = &functions.native,
                                      .predefined = rank->predefined,
                                      .impl = PF_IMPL_ANALYTIC,
                                      .rank = i,
                                      .job_size = an_job.size};
    rank->mpi = an_job.job->ranks[i]->mpi;
    rank->soonest_from = -1;
    rank->world = i ? an_comm_join_private(rank, an_job.ranks[0]->world, i)
                    : an_comm_join(rank, 0, all, an_job.size, i);
    rank->predefined[PF_PREDEFINED_COMM_WORLD] = rank->world;
    rank->predefined[PF_PREDEFINED_COMM_SELF] = an_comm_join(rank, -1, &i, 1, 0);
    pf_event_init(&rank->wake, wake);
    rank->wake.knows_why = true;
    an_job.ranks[i] = rank;
}

static int make_job(const struct pf_job *job, char *why, size_t why_size)
{
    int error = an_job_price(job, why, why_size);
    if (error)
        return error;
    static struct pf_job kept;
    kept = *job;
    an_job.job = &kept;
    an_job.size = job->size;
    an_job.moves_data = pf_config.analytic_data;
    an_job.on_progress = job->on_progress;
    an_job.wake = wake_waiter;
    an_job.answer = an_message_answer;
    an_job.leave = an_collective_leave;
    pf_cost_watch(an_job.cost, job->phase);
    an_job.ranks = pf_calloc((size_t)job->size, sizeof(struct an_rank *));
    int *all = pf_malloc((size_t)job->size * sizeof *all);
    values = pf_local_values;
    values.most_bytes = INFINITY;
    values.runs_ahead = true;
    values.mode_held = AN_MODE_HELD;
    values.root = AN_ROOT;
    find_functions();
    for (int i = 0; i < job->size; i++)
        all[i] = i;
    for (int i = 0; i < job->size; i++)
        make_rank(i, all);
    free(all);
    return PF_SUCCESS;
}

static int analytic_open(const struct pf_job *job, char *why, size_t why_size)
{
    if (an_job.ranks)
        return PF_SUCCESS;
    pf_engine_start(); /* other ranks may run meanwhile, and come here too */
    return an_job.ranks ? PF_SUCCESS : make_job(job, why, why_size);
}

static struct pf_instance *analytic_instance(int rank, const char *network)
{
    return &an_job.ranks[rank]->base;
}

static struct an_rank *rank_of(struct pf_instance *in)
{
    return (struct an_rank *)in;
}

/* The waiter is made here and not with the job, because other ranks run meanwhile. */
static void analytic_enter(struct pf_instance *in)
{
    if (rank_of(in)->can_wait)
        return;
    pf_waiter_init(&rank_of(in)->waiter);
    rank_of(in)->waiter.knows_why = true;
    rank_of(in)->can_wait = true;
}

static void analytic_settle(struct pf_instance *in)
{
    if (rank_of(in)->debt <= 0)
        return;
    analytic_enter(in);
    an_rank_settle(rank_of(in));
}

static double analytic_ahead(const struct pf_instance *in)
{
    return ((const struct an_rank *)in)->debt;
}

/* With contention = none, data can reach a NIC faster than its rate. Less than a twentieth of the run is
 * within the error of an estimate. */
static void warn_of_overrun(void)
{
    struct pf_cost_overrun overrun = pf_cost_overrun(an_job.cost);
    if (overrun.seconds <= 0.05 * overrun.last)
        return;
    pf_warn("model analytic: data came to the NIC of rank %d faster than it can take them, by up to %.3g s "
            "of %.3g s, "
            "because only senders take turns: PARFOCAL_ANALYTIC_SET=\"contention = nic\" makes both",
            overrun.rank, overrun.seconds, overrun.last);
}

/* Warns where an estimate makes more than this part of the run, and names the model that simulates it. */
static void warn_of_estimate(struct pf_cost_crowded estimate, double part, const char *what,
                             const char *model)
{
    if (estimate.seconds <= part * estimate.last)
        return;
    const char *phase = estimate.phase ? estimate.phase : "";
    bool known = *phase;
    pf_warn("model analytic: %s: this is an estimate for %.3g s of %.3g s%s%s; pfrun -model %s simulates it"
            "%s%s%s%s%s",
            what, estimate.seconds, estimate.last, known ? ", most of all in phase " : "", phase, model,
            known ? " (or, for that phase, -schedule " : "", phase, known ? "=" : "", known ? model : "",
            known ? ")" : "");
}

/*
 * Messages wait for a link one after the other, and do not share it. Whether a long message comes before its
 * receive depends on dates. Both parts are thresholds from the table of experiments/cells: less is within the
 * error of an estimate, or seldom changes a tenth of the run.
 */
static void warn_of_estimates(void)
{
    warn_of_estimate(pf_cost_crowded(an_job.cost), 0.1,
                     "links between the nodes are crowded, and messages wait for them", "packet");
    warn_of_estimate(
        pf_cost_undecided(an_job.cost), 0.1,
        "long messages that come before their receives are sent twice, and dates decide which do", "portals");
}

/* At once: each of some hundred pieces would be a call of the system. */
static void print_costs(void)
{
    char *text = NULL;
    size_t size;
    FILE *out = pf_memory_checked(open_memstream(&text, &size), sizeof *out);
    pf_cost_explain(an_job.cost, out);
    pf_colls_explain(an_job.colls, out);
    fclose(out);
    fwrite(text, 1, size, stderr);
    free(text);
}

/* Reports what the model did, when the last rank has finished. */
static void explain(void)
{
    static int finished;
    if (++finished < an_job.size)
        return;
    warn_of_overrun();
    warn_of_estimates();
    pf_carried_gather(false);
    if (pf_config.analytic_explain)
        print_costs();
}

static int analytic_finish(struct pf_instance *in)
{
    analytic_settle(in);
    explain();
    return PF_SUCCESS;
}

static void analytic_idle(struct pf_instance *in)
{
    struct an_rank *rank = rank_of(in);
    double cost = pf_cost_call(an_job.cost);
    an_rank_idle(rank, cost > pf_config.analytic_idle_time ? cost : pf_config.analytic_idle_time);
}

static int comm_shadow(struct pf_instance *in, const int *world_ranks, int n, int me, int id, bool node_local,
                       void **native)
{
    *native = an_comm_join(rank_of(in), id + 1, world_ranks, n, me); /* 0 is MPI_COMM_WORLD here */
    return PF_SUCCESS;
}

/* The list of both sides is the same for all members. */
static int intercomm_shadow(struct pf_instance *in, const struct pf_intercomm_recipe *recipe, void **native)
{
    int n = recipe->size[0] + recipe->size[1];
    int *members = pf_malloc((size_t)n * sizeof *members);
    memcpy(members, recipe->ranks[0], (size_t)recipe->size[0] * sizeof *members);
    memcpy(members + recipe->size[0], recipe->ranks[1], (size_t)recipe->size[1] * sizeof *members);
    *native = an_intercomm_join(rank_of(in), recipe->id + 1, members, n, recipe->size[0],
                                recipe->me + (recipe->side ? recipe->size[0] : 0));
    free(members);
    return PF_SUCCESS;
}

static void comm_free(struct pf_instance *in, void *native)
{
    an_comm_leave(native);
}

static bool request_done(struct pf_instance *in, void *native)
{
    struct an_request *request = native;
    if (an_request_is_done(request))
        return true;
    an_request_watch(request);
    return false;
}

/* Whether the date of its completion is known. */
static bool request_will_be_done(struct pf_instance *in, void *native)
{
    return ((const struct an_request *)native)->done_at < INFINITY;
}

/* SMPI's status has only an int for the bytes: their upper half is above the flag in `cancelled`. */
static void status_get(const void *native, struct pf_native_status_view *out)
{
    const MPI_Status *status = native;
    pf_local_status_get(native, out);
    out->cancelled = status->cancelled & 1;
    out->bytes = (int64_t)(status->cancelled >> 1) << 32 | (uint32_t)status->count;
}

/* Errors of communicators and windows are always returned. */
static void no_object_hook(struct pf_instance *in, void *native)
{
}

static const struct pf_adapter_ops ops = {
    .size = sizeof ops,
    .probe = pf_local_probe,
    .open = analytic_open,
    .instance = analytic_instance,
    .start = pf_adapter_no_start,
    .finish = analytic_finish,
    .enter = analytic_enter,
    .leave = pf_adapter_no_hook,
    .idle = analytic_idle,
    .settle = analytic_settle,
    .ahead = analytic_ahead,
    .status_get = status_get,
    .error_class = pf_local_error_class,
    .comm_shadow = comm_shadow,
    .intercomm_shadow = intercomm_shadow,
    .comm_free = comm_free,
    .comm_kept = pf_adapter_no_comm_kept,
    .comm_errors_return = no_object_hook,
    .win_made = no_object_hook,
    .win_gone = no_object_hook,
    .win_shadow = an_rma_shadow,
    .win_open = an_rma_open,
    .win_free = an_rma_free,
    .win_share = an_rma_share,
    .request_done = request_done,
    .request_will_be_done = request_will_be_done,
    .progress = pf_adapter_no_hook, /* the engine progresses by events */
};

const struct pf_adapter pf_analytic_adapter = {.abi = PF_ADAPTER_ABI, .name = "analytic", .ops = &ops};
