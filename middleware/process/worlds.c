/* SPDX-License-Identifier: BSD-3-Clause */
/* The worlds of the run: what they begin with, when they begin, and how they have ended. */
#include "middleware/process/worlds.h"

#include <stdio.h>
#include <string.h>

#include <simgrid/actor.h>
#include <simgrid/engine.h>

#include "base/config.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/streams.h"
#include "middleware/agree/schedule.h"
#include "middleware/core/job_programs.h"
#include "middleware/core/workload.h"
#include "middleware/process/job.h"

/* What a job says of itself, or else the run. */
static const char *choose(const char *own, const char *of_run)
{
    return own ? own : of_run;
}

static const char *given(const struct pf_workload_job *job, const char *own, const char *setting)
{
    return own ? job->where : pf_config_given(setting);
}

static void read_world(struct pf_world *world, const struct pf_workload_job *job)
{
    char error[600];
    const char *schedule = choose(job->schedule, pf_config.schedule);
    const char *model = choose(job->model, job->schedule ? "" : pf_config.model);
    if (!pf_schedule_load(schedule, &world->schedule, error, sizeof error))
        pf_die("%s: %s", given(job, job->schedule, "schedule"), error);
    world->name = job->name;
    world->start_model = pf_schedule_start(world->schedule);
    if (*model && !pf_model_parse(model, strlen(model), &world->start_model))
        pf_die("%s: unknown model '%s' (pfinfo lists the models)", given(job, job->model, "model"), model);
    if (world->start_model == PF_MODEL_NONE)
        world->start_model = PF_MODEL_SMPI;
}

void pf_worlds_read(void)
{
    static const struct pf_workload_job alone = {.after = -1};
    if (pf_job_state.worlds)
        return;
    int jobs = pf_workload_count();
    pf_job_state.world_count = jobs ? jobs : 1;
    pf_job_state.worlds = pf_calloc((size_t)pf_job_state.world_count, sizeof *pf_job_state.worlds);
    for (int i = 0; i < pf_job_state.world_count; i++)
        read_world(&pf_job_state.worlds[i], jobs ? pf_workload_job(i) : &alone);
}

void pf_worlds_number(int size)
{
    int jobs = pf_workload_count(), first = 0, program = 0;
    pf_job_state.worlds[0].size = size;
    for (int i = 0; i < jobs; i++) {
        struct pf_world *world = &pf_job_state.worlds[i];
        world->first = first;
        world->size = 0;
        for (int k = 0; k < pf_workload_job(i)->programs; k++)
            world->size += pf_job_program(program++)->ranks;
        first += world->size;
    }
}

struct pf_world *pf_world_of(int rank)
{
    int low = 0, high = pf_job_state.world_count - 1;
    while (low < high) {
        int middle = (low + high + 1) / 2;
        if (pf_job_state.worlds[middle].first <= rank)
            low = middle;
        else
            high = middle - 1;
    }
    return &pf_job_state.worlds[low];
}

int pf_job_print_unfinished(FILE *out)
{
    int count = 0;
    if (!pf_workload_count())
        return -1;
    for (int i = 0; i < pf_job_state.world_count; i++) {
        const struct pf_world *world = &pf_job_state.worlds[i];
        if (world->has_failed || world->left == world->size)
            continue;
        count++;
        if (world->has_begun)
            fprintf(out, "parfocal: job '%s' cannot go on: ranks %d-%d, of which %d have ended\n",
                    world->name, world->first, world->first + world->size - 1, world->left);
        else
            fprintf(out, "parfocal: job '%s' has not begun\n", world->name);
    }
    return count;
}

int pf_job_failed_status(void)
{
    for (int i = 0; i < pf_job_state.world_count; i++)
        if (pf_job_state.worlds[i].status)
            return pf_job_state.worlds[i].status;
    return 0;
}

unsigned pf_world_models(const struct pf_world *world)
{
    return pf_schedule_models(world->schedule) | 1u << world->start_model;
}

void pf_world_await(int rank)
{
    if (!pf_workload_count())
        return;
    struct pf_world *world = pf_world_of(rank);
    const struct pf_workload_job *job = pf_workload_job((int)(world - pf_job_state.worlds));
    struct pf_world *before = job->after >= 0 ? &pf_job_state.worlds[job->after] : NULL;
    if (before && before->left < before->size && !before->has_failed) {
        if (!before->waited)
            before->waited = sg_sem_init(0);
        before->waiting++;
        sg_sem_acquire(before->waited);
    }
    if (job->start > simgrid_get_clock())
        sg_actor_sleep_for(job->start - simgrid_get_clock());
    if (!world->has_begun)
        world->begin = simgrid_get_clock();
    world->has_begun = true;
}

/* Others have not come to their end. */
static void end_run(const struct pf_world *world)
{
    pf_flush_all();
    fprintf(
        stderr,
        "parfocal: error: job '%s' has ended with status %d at simulated time %.9g s, and so ends the run "
        "(-on-failure continue lets the other jobs go on)\n",
        world->name, world->status, simgrid_get_clock());
    pf_end_because("job '%s' has ended with status %d", world->name, world->status);
    pf_job_leave(world->status);
}

void pf_world_left(int rank, int status)
{
    if (!pf_workload_count())
        return;
    struct pf_world *world = pf_world_of(rank);
    if (world->has_failed)
        pf_world_stay();
    world->status = world->status ? world->status : status;
    world->end = simgrid_get_clock();
    if (++world->left < world->size)
        return;
    for (int i = 0; world->status && !pf_workload_goes_on() && i < pf_job_state.world_count; i++)
        if (pf_job_state.worlds[i].left < pf_job_state.worlds[i].size)
            end_run(world);
    pf_world_release(world);
}
