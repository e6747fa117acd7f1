/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Runs scenarios over N instances of Open MPI, one per simulated rank, without the middleware: usage
 *   job PLATFORM RANKS SCENARIO[,SCENARIO...] [date at which the instances are made]
 * Prints the simulated date at the end of each scenario; two runs must print the same.
 */
#include <stdio.h>
#include <stdlib.h>

#include <simgrid/actor.h>
#include <simgrid/engine.h>
#include <simgrid/host.h>

#include "base/config.h"
#include "base/log.h"
#include "tests/e2e/openmpi/job.h"

static struct {
    int size;
    struct rank *ranks;
    pf_self_t **selves;
    const char *scenarios;
    double start;
} test;

static void rank_main(int argc, char **argv)
{
    pf_self_t *self = pf_self();
    struct rank *rank = &test.ranks[self->rank];
    (void)argc;
    (void)argv;
    if (test.start > 0)
        sg_actor_sleep_until(test.start);
    test_create_instances(rank);
    test_run_scenarios(rank, test.scenarios);
    if (self->rank == 0)
        printf("end %.9f\n", simgrid_get_clock());
}

static void make_ranks(void)
{
    sg_host_t *hosts = sg_host_list();
    size_t host_count = sg_host_count();
    test.ranks = calloc((size_t)test.size, sizeof *test.ranks);
    test.selves = calloc((size_t)test.size, sizeof *test.selves);
    for (int i = 0; i < test.size; i++) {
        test.ranks[i].self = (pf_self_t){.rank = i, .size = test.size, .host = hosts[(size_t)i % host_count]};
        test.selves[i] = &test.ranks[i].self;
    }
    for (int i = 0; i < test.size; i++) {
        char name[32];
        snprintf(name, sizeof name, "rank-%d", i);
        sg_actor_t actor = sg_actor_init(name, test.selves[i]->host);
        sg_actor_set_data(actor, test.selves[i]);
        sg_actor_start(actor, rank_main, 0, NULL);
    }
    free(hosts);
}

int main(int argc, char **argv)
{
    simgrid_init(&argc, argv);
    if (argc < 4)
        pf_die("usage: job PLATFORM RANKS SCENARIO[,SCENARIO...] [DATE]");
    pf_config_load();
    simgrid_load_platform(argv[1]);
    test.size = atoi(argv[2]);
    test.scenarios = argv[3];
    test.start = argc > 4 ? atof(argv[4]) : 0;
    make_ranks();
    test_open(test.size, test.selves, test.scenarios);
    simgrid_run();
    return 0;
}
