/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>

#include <simgrid/actor.h>
#include <simgrid/host.h>

#include "tests/e2e/openmpi/job.h"

struct rank *smpi_rank_new(int rank, int size);
void smpi_rank_run(struct rank *rank, const char *scenarios);

static pf_self_t **selves;
static bool opened;

struct rank *smpi_rank_new(int me, int size)
{
    struct rank *rank = calloc(1, sizeof *rank);
    rank->self = (pf_self_t){.rank = me, .size = size, .host = sg_host_self()};
    sg_actor_self_set_data(&rank->self);
    if (!selves)
        selves = calloc((size_t)size, sizeof *selves);
    selves[me] = &rank->self;
    return rank;
}

void smpi_rank_run(struct rank *rank, const char *scenarios)
{
    if (!rank->inst) {
        if (!opened)
            test_open(rank->self.size, selves, scenarios);
        opened = true;
        test_create_instances(rank);
    }
    test_run_scenarios(rank, scenarios);
}
