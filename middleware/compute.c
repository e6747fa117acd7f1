/* SPDX-License-Identifier: BSD-3-Clause */
#include "middleware/compute.h"

#include <jansson.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <simgrid/actor.h>
#include <simgrid/engine.h>
#include <xbt/config.h>

#include "base/config.h"
#include "base/log.h"
#include "middleware/compute_file.h"
#include "middleware/observing/tracing.h"

/* SimGrid's side: what it has made of smpi/host-speed, and the limits of a measurement. */
extern double _smpi_cfg_host_speed;
void smpi_bench_begin(void);
void smpi_bench_end(void);

bool pf_compute_on;

/* What is known about a rank. */
struct part {
    size_t next;     /* interval to be replayed */
    double computed; /* simulated seconds */
    double since;    /* date of the last point */
    double total;    /* date of its end */
    bool ended;
};

static struct {
    struct pf_recorded recorded;
    struct part *part;
    bool records, replays;
    bool measures; /* SMPI charges what it measures */
    int ranks, ended;
    uint64_t threshold;    /* ns; what is shorter counts as 0, as in SMPI */
    uint64_t processor_ns; /* at the last point */
    uintptr_t low, high;   /* where our own code is */
} all;

static int find_own_code(struct dl_phdr_info *info, size_t size, void *data)
{
    uintptr_t me = (uintptr_t)pf_compute_point;
    (void)size, (void)data;
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

static uint64_t processor_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void begin_recording(void)
{
    double threshold = sg_cfg_get_double("smpi/cpu-threshold");
    all.threshold = threshold < 0 ? UINT64_MAX : (uint64_t)(threshold * 1e9);
    all.recorded.ranks = all.ranks;
    all.recorded.speed = _smpi_cfg_host_speed;
    all.processor_ns = processor_ns();
    all.recorded.rank = calloc((size_t)all.ranks, sizeof *all.recorded.rank);
    if (!all.recorded.rank)
        pf_die("out of memory for recorded computations");
    pf_recorded_write(&all.recorded, pf_config.computation_record); /* who cannot should know now */
}

void pf_compute_begin(int ranks)
{
    all.records = *pf_config.computation_record != 0;
    all.replays = *pf_config.computation_replay != 0;
    all.measures = !all.records && !all.replays && sg_cfg_get_boolean("smpi/simulate-computation");
    pf_compute_on = all.records || all.replays || pf_config.rank_times || pf_tracing_on;
    if (!pf_compute_on)
        return;
    if (all.records && all.replays)
        pf_die("PARFOCAL_COMPUTATION_RECORD and PARFOCAL_COMPUTATION_REPLAY exclude each other");
    all.ranks = ranks;
    all.part = calloc((size_t)ranks, sizeof *all.part);
    if (!all.part)
        pf_die("out of memory for the times of ranks");
    dl_iterate_phdr(find_own_code, NULL);
    if (all.replays)
        pf_recorded_read(&all.recorded, pf_config.computation_replay, ranks);
    if (all.records)
        begin_recording();
    if (all.records || all.replays)
        sg_cfg_set_boolean("smpi/simulate-computation", "no"); /* SMPI would inject it once more */
}

/* The next interval; the file must have one. */
static uint64_t recall(const struct pf_rank *r, struct part *part)
{
    const struct pf_intervals *intervals = &all.recorded.rank[r->self.rank];
    if (part->next == intervals->count)
        pf_die("rank %d computes more often than the %zu times in %s: that was another program, or one whose "
               "calls depend on time",
               r->self.rank, intervals->count, pf_config.computation_replay);
    return intervals->ns[part->next++];
}

/* So much wall-clock, but not what other processes have taken of it: the thread has not computed longer than
 * since the last point of any rank. */
static uint64_t measure(const struct pf_rank *r, uint64_t ticks)
{
    uint64_t ns = (uint64_t)(pf_account_seconds(ticks) * 1e9), processor = processor_ns() - all.processor_ns;
    if (ns > processor)
        ns = processor;
    if (ns < all.threshold)
        ns = 0;
    pf_intervals_add(&all.recorded.rank[r->self.rank], ns);
    return ns;
}

static void inject(uint64_t ns)
{
    if (ns > 0)
        sg_actor_execute((double)ns * 1e-9 * all.recorded.speed);
}

void pf_compute_point(struct pf_rank *r, const void *site)
{
    struct part *part = &all.part[r->self.rank];
    bool own = (uintptr_t)site >= all.low && (uintptr_t)site < all.high;
    if (own || r->call.impl >= 0) /* part of another call, or called back by an implementation */
        return;
    uint64_t now = pf_account_ticks(), ticks = now - pf_account_mark;
    r->account->slot->app_ticks += ticks;
    pf_account_mark = now;
    double before = simgrid_get_clock();
    if (all.replays) {
        inject(recall(r, part));
    } else if (all.records) {
        inject(measure(r, ticks));
        all.processor_ns = processor_ns();
    } else {
        smpi_bench_end(); /* what the call itself would do */
        smpi_bench_begin();
    }
    part->since = simgrid_get_clock();
    part->computed += part->since - before;
    pf_account_leave(r->account);
}

void pf_compute_resume(struct pf_rank *r)
{
    pf_account_leave(r->account);
    smpi_bench_begin();
}

void pf_compute_charge(struct pf_rank *r)
{
    if (!all.measures || r->call.impl >= 0)
        return;
    double before = simgrid_get_clock();
    smpi_bench_end();
    smpi_bench_begin();
    if (!pf_compute_on)
        return;
    struct part *part = &all.part[r->self.rank];
    part->since = simgrid_get_clock();
    part->computed += part->since - before;
}

void pf_compute_slept(struct pf_rank *r)
{
    struct part *part = &all.part[r->self.rank];
    part->computed += simgrid_get_clock() - part->since;
}

void pf_compute_end(struct pf_rank *r)
{
    struct part *part = &all.part[r->self.rank];
    part->total = simgrid_get_clock();
    part->ended = true;
    if (all.replays && part->next < all.recorded.rank[r->self.rank].count)
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
        if (part->ended)
            json_array_append_new(array, json_pack("{s:i, s:f, s:f, s:f}", "rank", i, "simulated_s",
                                                   part->total, "computation_s", part->computed,
                                                   "communication_s", part->total - part->computed));
    }
    return array;
}
