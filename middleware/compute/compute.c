/* SPDX-License-Identifier: BSD-3-Clause */
/* How long ranks compute between their calls: measured, recorded, replayed, charged. */
#include "middleware/compute/compute.h"

#include <dlfcn.h>
#include <jansson.h>
#include <link.h>
#include <stdlib.h>
#include <time.h>

#include <simgrid/actor.h>
#include <simgrid/engine.h>
#include <xbt/config.h>

#include "base/config.h"
#include "base/log.h"
#include "base/memory.h"
#include "loader/imports.h"
#include "lowlevel/engine/chain.h"
#include "lowlevel/engine/engine.h"
#include "lowlevel/simgrid/private.h"
#include "middleware/compute/compute_file.h"
#include "middleware/compute/critical_path.h"
#include "middleware/compute/interpreter.h"
#include "middleware/compute/ways.h"
#include "middleware/core/upcalls.h"

/* SimGrid's side: what it has made of smpi/host-speed, and the limits of a measurement. */
extern double _smpi_cfg_host_speed;
void smpi_bench_begin(void);
void smpi_bench_end(void);

bool pf_compute_on;
uint64_t pf_compute_threshold = UINT64_MAX;

/* What is known about a rank. */
struct part {
    size_t next;     /* interval to be replayed */
    double computed; /* simulated seconds */
    double since;    /* date of the last point */
    double total;    /* date of its end */
    bool ended;
    struct pf_way_memory memory; /* with pf_config.computation_ways */
    struct pf_ways ways;
};

static struct {
    struct pf_recorded recorded;
    struct part *part;
    bool records, replays;
    bool measures; /* SMPI charges what it measures */
    int ranks, ended;
    uint64_t threshold;  /* ns; what is shorter counts as 0, as in SMPI */
    uintptr_t low, high; /* where our own code is */
} all;

static int find_own_code(struct dl_phdr_info *info, size_t size, void *data)
{
    uintptr_t me = (uintptr_t)pf_compute_point;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        uintptr_t low = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr, high = low + info->dlpi_phdr[i].p_memsz;
        if (info->dlpi_phdr[i].p_type == PT_LOAD && me >= low && me < high) {
            all.low = low;
            all.high = high;
            return 1;
        }
    }
    return 0;
}

/*
 * What SMPI reads instead of the system's clock of the thread. Whenever it does, it has charged the rank for
 * what came before, or begins to measure again. Stock SMPI charges each computation with a question to the
 * system besides, from the middle of one to the middle of the next: in many short ones that is most of it. So
 * are they here, or the same program would be faster than under smpirun.
 */
static int rank_clock(clockid_t clock, struct timespec *ts)
{
    const pf_self_t *self = clock == CLOCK_THREAD_CPUTIME_ID ? pf_self() : NULL;
    struct pf_account *account = self && self->mpi ? self->mpi->account : NULL;
    if (!account)
        return clock_gettime(clock, ts);
    account->charged = account->computed;
    account->questions += account->plays ? 0 : pf_clock.question;
    uint64_t ns = account->computed + account->questions;
    ts->tv_sec = (time_t)(ns / 1000000000u);
    ts->tv_nsec = (long)(ns % 1000000000u);
    return 0;
}

static void lead_clock(void)
{
    Dl_info info;
    void *simgrid =
        dladdr((void *)smpi_bench_end, &info) ? dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD) : NULL;
    if (!simgrid || pf_imports_replace_one(simgrid, PF_SIMGRID_READS_CLOCK, (void *)rank_clock) == 0)
        pf_die("SimGrid's library does not call its clock, " PF_SIMGRID_READS_CLOCK
               "(): install that of Debian (package " PF_SIMGRID_PACKAGE ")");
    dlclose(simgrid);
}

static void choose_clock(void)
{
    double threshold = sg_cfg_get_double("smpi/cpu-threshold");
    bool wanted = all.measures || all.records || sg_cfg_get_boolean("smpi/display-timing");
    all.threshold = threshold < 0 || threshold > 1e9 ? UINT64_MAX : (uint64_t)(threshold * 1e9);
    pf_compute_threshold = all.measures ? all.threshold : UINT64_MAX;
    pf_clock_use(!wanted ? PF_CLOCK_NONE : pf_config.fast_clock ? PF_CLOCK_COUNTER : PF_CLOCK_SYSTEM);
    lead_clock();
}

static void begin_recording(void)
{
    all.recorded.ranks = all.ranks;
    all.recorded.speed = _smpi_cfg_host_speed;
    all.recorded.rank = pf_calloc((size_t)all.ranks, sizeof *all.recorded.rank);
    pf_recorded_write(&all.recorded,
                      pf_config.computation_record); /* a file that cannot be written is an error now */
}

static void begin_replay(void)
{
    pf_recorded_read(&all.recorded, pf_config.computation_replay, all.ranks);
    for (int i = 0; pf_config.computation_ways && i < all.ranks; i++)
        pf_ways_sort(&all.part[i].ways, &all.recorded.rank[i]);
}

void pf_compute_begin(int ranks)
{
    all.records = *pf_config.computation_record != 0;
    all.replays = *pf_config.computation_replay != 0;
    all.measures = !all.records && !all.replays && sg_cfg_get_boolean("smpi/simulate-computation");
    choose_clock();
    if (all.measures)
        pf_interpreter_measures();
    pf_critical_path_begin(ranks);
    pf_compute_on |= all.records || all.replays || pf_config.rank_times || pf_chain_on ||
                     (pf_config.analytic_explain && *pf_config.report);
    if (!pf_compute_on)
        return;
    pf_upcalls.computed = pf_compute_point;
    if (all.records && all.replays)
        pf_die("PARFOCAL_COMPUTATION_RECORD and PARFOCAL_COMPUTATION_REPLAY exclude each other");
    all.ranks = ranks;
    all.part = pf_calloc((size_t)ranks, sizeof *all.part);
    dl_iterate_phdr(find_own_code, NULL);
    if (all.replays)
        begin_replay();
    if (all.records)
        begin_recording();
    if (all.records || all.replays)
        sg_cfg_set_boolean("smpi/simulate-computation", "no"); /* SMPI would inject it once more */
}

/* The next interval; the file must have one. */
static uint64_t recall(const struct pf_rank *r, struct part *part, const void *site, bool asks)
{
    if (pf_config.computation_ways)
        return pf_ways_next(&part->ways, pf_way_to(&part->memory, site, asks));
    const struct pf_intervals *intervals = &all.recorded.rank[r->self.rank];
    if (part->next == intervals->count)
        pf_die("rank %d computes more often than the %zu times in %s: that was another program, or one whose "
               "calls depend on time",
               r->self.rank, intervals->count, pf_config.computation_replay);
    return intervals->ns[part->next++];
}

static uint64_t measure(struct pf_rank *r, struct part *part, const void *site, bool asks)
{
    uint64_t ns = r->account->computed - r->account->charged;
    r->account->charged = r->account->computed;
    if (ns < all.threshold)
        ns = 0;
    uint32_t way = pf_config.computation_ways ? pf_way_to(&part->memory, site, asks) : 0;
    pf_intervals_add(&all.recorded.rank[r->self.rank], ns, way);
    return ns;
}

static void inject(uint64_t ns)
{
    if (ns > 0)
        sg_actor_execute((double)ns * 1e-9 * all.recorded.speed);
}

/* What has passed since that date was computation, also of the phase. */
static void book(struct pf_rank *r, double before, double now)
{
    struct part *part = &all.part[r->self.rank];
    part->since = now;
    part->computed += part->since - before;
    r->account->slot->computed += part->since - before;
    pf_critical_path_computed(r, before, now);
}

static void book_computation(struct pf_rank *r, double before)
{
    book(r, before, simgrid_get_clock());
}

/* SMPI turns into simulated time what it has not charged yet, and no question: stock SMPI asks nothing
 * here. */
static void charge(struct pf_rank *r)
{
    r->account->questions -= pf_clock.question;
    smpi_bench_end();
    smpi_bench_begin();
}

static bool come_to_call(struct pf_rank *r, const void *site, bool asks)
{
    struct part *part = &all.part[r->self.rank];
    bool own = (uintptr_t)site >= all.low && (uintptr_t)site < all.high;
    if (own || r->call.model >= 0) /* part of another call, or called back by an implementation */
        return false;
    pf_account_stop(r->account);
    double before = pf_engine_clock();
    bool charges = r->account->computed - r->account->charged >= pf_compute_threshold;
    if (!charges && !all.replays && !all.records) {
        if (before != part->since) /* else all is booked */
            book(r, before, before);
        return true;
    }
    if (all.replays)
        inject(recall(r, part, site, asks));
    else if (all.records)
        inject(measure(r, part, site, asks));
    else
        charge(r);
    book_computation(r, before);
    pf_account_book(r->account);
    return false;
}

bool pf_compute_point(struct pf_rank *r, const void *site, bool asks)
{
    bool stopped = come_to_call(r, site, asks);
    pf_chain_moved(&r->self); /* into that call */
    return stopped;
}

void pf_compute_resume(struct pf_rank *r)
{
    pf_account_leave(r->account);
}

void pf_compute_pay(struct pf_rank *r)
{
    double before = simgrid_get_clock(), owed = r->owed;
    r->owed = 0;
    sg_actor_sleep_for(owed);
    if (pf_compute_on)
        book_computation(r, before);
}

void pf_compute_inject(struct pf_rank *r)
{
    double before = simgrid_get_clock();
    charge(r);
    if (pf_compute_on)
        book_computation(r, before);
}

void pf_compute_charge(struct pf_rank *r)
{
    if (r->call.model < 0 && r->account->computed - r->account->charged >= pf_compute_threshold)
        pf_compute_inject(r);
}

/* Two looks at the clock outweigh what a call costs that measures nothing: only where there is much to do. */
void pf_compute_native_counts(struct pf_rank *r, const struct pf_instance *in)
{
    if (in->values->charges_computation)
        pf_account_leave(r->account);
}

void pf_compute_native_counted(struct pf_rank *r, const struct pf_instance *in)
{
    if (in->values->charges_computation)
        pf_account_stop(r->account);
}

void pf_compute_open(struct pf_rank *r)
{
    if (pf_compute_counts(r))
        return;
    r->computes = true;
    smpi_bench_begin(); /* by the rank's own clock, as at the end of MPI_Init */
}

struct pf_rank *pf_compute_call(void)
{
    const pf_self_t *self = sg_actor_self() ? pf_self() : NULL; /* a thread is none */
    struct pf_rank *r = self ? self->mpi : NULL;
    if (!r || !pf_compute_counts(r))
        return NULL;
    pf_account_stop(r->account);
    return r;
}

void pf_compute_return(struct pf_rank *r)
{
    if (r)
        pf_account_leave(r->account);
}

double pf_compute_scale(const struct pf_rank *r)
{
    return 1e-9 * _smpi_cfg_host_speed / sg_host_get_speed(r->self.host);
}

double pf_compute_due(const struct pf_rank *r)
{
    uint64_t ns = r->account ? r->account->computed - r->account->charged : 0;
    return ns < pf_compute_threshold ? 0 : (double)ns * pf_compute_scale(r);
}

void pf_compute_slept(struct pf_rank *r)
{
    book_computation(r, all.part[r->self.rank].since);
}

double pf_compute_date(void)
{
    return simgrid_get_clock();
}

void pf_compute_executed(struct pf_rank *r, double since)
{
    if (r && pf_compute_on)
        book_computation(r, since);
}

void pf_compute_end(struct pf_rank *r)
{
    struct part *part = &all.part[r->self.rank];
    part->total = simgrid_get_clock();
    part->ended = true;
    if (all.replays && !pf_config.computation_ways && part->next < all.recorded.rank[r->self.rank].count)
        pf_die("rank %d has computed %zu times, not the %zu times in %s: that was another program, or one "
               "whose calls depend on time",
               r->self.rank, part->next, all.recorded.rank[r->self.rank].count, pf_config.computation_replay);
    if (++all.ended == all.ranks && all.records)
        pf_recorded_write(&all.recorded, pf_config.computation_record);
}

void pf_compute_print(FILE *out)
{
    for (int i = 0; i < all.ranks; i++) {
        const struct part *part = &all.part[i];
        if (part->ended)
            fprintf(out, "rank %d: simulated time %.9f s, computation %.9f s, communication %.9f s\n", i,
                    part->total, part->computed, part->total - part->computed);
    }
}

json_t *pf_compute_json(void)
{
    json_t *array = json_array();
    for (int i = 0; i < all.ranks; i++) {
        const struct part *part = &all.part[i];
        double total = part->ended ? part->total : simgrid_get_clock(); /* the run was cut short */
        if (part->ended || *pf_end_reason())
            json_array_append_new(array, json_pack("{s:i, s:f, s:f, s:f}", "rank", i, "simulated_s", total,
                                                   "computation_s", part->computed, "communication_s",
                                                   total - part->computed));
    }
    return array;
}
