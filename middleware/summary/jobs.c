/* SPDX-License-Identifier: BSD-3-Clause */
/* What the jobs of a workload have come to. */
#include "middleware/summary/jobs.h"

#include <jansson.h>

#include "middleware/core/job_state.h"

static char *const *host_names; /* by rank, NULL: not chosen yet */

void pf_summary_set_hosts(char *const *names)
{
    host_names = names;
}

static const char *state_of(const struct pf_world *world)
{
    if (!world->has_begun)
        return "not begun";
    if (world->has_failed || world->status)
        return "failed";
    return world->left == world->size ? "ended" : "not ended";
}

static json_t *job_object(const struct pf_world *world, json_t *(*phases)(int first, int count))
{
    json_t *object =
        json_pack("{s:s, s:s, s:i, s:i, s:i}", "name", world->name, "state", state_of(world), "first_rank",
                  world->first, "ranks", world->size, "exit_status", world->status);
    if (world->reason)
        json_object_update_new(
            object, json_pack("{s:s, s:i}", "reason", world->reason, "failed_rank", world->failed_rank));
    if (world->has_begun)
        json_object_set_new(object, "begin_s", json_real(world->begin));
    if (world->has_failed || world->left == world->size) {
        json_object_set_new(object, "end_s", json_real(world->end));
        json_object_set_new(object, "simulated_s", json_real(world->end - world->begin));
    }
    json_t *hosts = json_array();
    for (int i = 0; host_names && i < world->size; i++)
        json_array_append_new(hosts, json_string(host_names[world->first + i]));
    json_object_set_new(object, "hosts", hosts);
    json_object_set_new(object, "phases", phases(world->first, world->size));
    return object;
}

json_t *pf_summary_jobs(json_t *(*phases)(int first, int count))
{
    json_t *array = json_array();
    for (int i = 0; i < pf_job_state.world_count; i++)
        json_array_append_new(array, job_object(&pf_job_state.worlds[i], phases));
    return array;
}

void pf_summary_print_jobs(FILE *out)
{
    if (pf_job_state.world_count == 0 || !pf_job_state.worlds[0].name)
        return;
    fprintf(out, "%-20s %15s %15s %15s  %s\n", "job", "ranks", "begin", "end", "");
    for (int i = 0; i < pf_job_state.world_count; i++) {
        const struct pf_world *world = &pf_job_state.worlds[i];
        char ranks[40], begin[40] = "-", end[40] = "-";
        snprintf(ranks, sizeof ranks, "%d-%d", world->first, world->first + world->size - 1);
        if (world->has_begun)
            snprintf(begin, sizeof begin, "%.9g s", world->begin);
        if (world->has_failed || world->left == world->size)
            snprintf(end, sizeof end, "%.9g s", world->end);
        fprintf(out, "%-20s %15s %15s %15s  %s", world->name, ranks, begin, end, state_of(world));
        if (world->status)
            fprintf(out, " with status %d", world->status);
        if (world->reason)
            fprintf(out, ", rank %d: %s", world->failed_rank, world->reason);
        fputc('\n', out);
    }
}
