/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Runs scenarios over N instances of Open MPI, one per simulated rank, without the middleware: usage
 *   job PLATFORM RANKS SCENARIO[,SCENARIO...] [start date of the instances]
 * Prints the simulated date at the end of each scenario; two runs must print the same.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <simgrid/actor.h>
#include <simgrid/barrier.h>
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
    sg_bar_t barrier;
    bool abort_expected;
} test;

static const struct {
    const char *name;
    void (*run)(struct rank *rank);
} scenarios[] = {
    {"local", scenario_local},
    {"ring", scenario_ring},
    {"rendezvous", scenario_rendezvous},
    {"collectives", scenario_collectives},
    {"communicators", scenario_communicators},
    {"nonblocking", scenario_nonblocking},
    {"probe", scenario_probe},
    {"twins", scenario_twins},
    {"abort", scenario_abort},
};

void test_fail(const struct rank *rank, const char *file, int line, const char *what)
{
    fprintf(stderr, "%s:%d: rank %d at %g: %s is false\n", file, line, rank->self.rank, simgrid_get_clock(), what);
    pf_end_process(1);
}

static double wall_clock(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static long resident_kb(void)
{
    long total = 0, resident = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (file && fscanf(file, "%ld %ld", &total, &resident) != 2)
        resident = 0;
    if (file)
        fclose(file);
    return resident * (sysconf(_SC_PAGESIZE) / 1024);
}

static void on_abort(int rank, int status)
{
    printf("abort of rank %d with status %d at %.9f\n", rank, status, simgrid_get_clock());
    pf_end_process(test.abort_expected ? 0 : 3);
}

static void create_instances(struct rank *rank)
{
    char why[512];
    double before = simgrid_get_clock(), wall = wall_clock();
    long memory = resident_kb();
    bool first = pf_ompi_instance(0) == NULL;
    if (pf_ompi_instances_create(why, sizeof why) != 0)
        pf_die("%s", why);
    CHECK(rank, simgrid_get_clock() == before);
    rank->inst = pf_ompi_instance(rank->self.rank);
    CHECK(rank, rank->inst != NULL);
    if (first && rank->self.rank == 0)
        fprintf(stderr, "start-up: %.3f s, %.2f MB per rank\n", wall_clock() - wall,
                (double)(resident_kb() - memory) / 1024 / test.size);
    rank->world = pf_ompi_symbol(rank->inst, "ompi_mpi_comm_world");
    rank->type_int = pf_ompi_symbol(rank->inst, "ompi_mpi_int");
    rank->type_double = pf_ompi_symbol(rank->inst, "ompi_mpi_double");
    rank->type_char = pf_ompi_symbol(rank->inst, "ompi_mpi_char");
    rank->sum = pf_ompi_symbol(rank->inst, "ompi_mpi_op_sum");
}

static void run_scenario(struct rank *rank, const char *name)
{
    for (size_t i = 0; i < sizeof scenarios / sizeof scenarios[0]; i++) {
        if (strcmp(scenarios[i].name, name) != 0)
            continue;
        double wall = wall_clock();
        scenarios[i].run(rank);
        sg_barrier_wait(test.barrier);
        if (rank->self.rank == 0) {
            printf("%s %.9f\n", name, simgrid_get_clock());
            fprintf(stderr, "%s: %.3f s of wall-clock\n", name, wall_clock() - wall);
        }
        return;
    }
    pf_die("no scenario %s", name);
}

static void rank_main(int argc, char **argv)
{
    pf_self_t *self = pf_self();
    struct rank *rank = &test.ranks[self->rank];
    char *list = strdup(test.scenarios), *next = list;
    (void)argc;
    (void)argv;
    if (test.start > 0)
        sg_actor_sleep_until(test.start);
    create_instances(rank);
    for (char *name; (name = strsep(&next, ","));)
        run_scenario(rank, name);
    free(list);
    CHECK(rank, pf_ompi_finalize(rank->inst, false) == 0);
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
}

int main(int argc, char **argv)
{
    char why[512];
    simgrid_init(&argc, argv);
    if (argc < 4)
        pf_die("usage: job PLATFORM RANKS SCENARIO[,SCENARIO...] [DATE]");
    pf_config_load();
    simgrid_load_platform(argv[1]);
    test.size = atoi(argv[2]);
    test.scenarios = argv[3];
    test.start = argc > 4 ? atof(argv[4]) : 0;
    test.abort_expected = strstr(argv[3], "abort") != NULL;
    test.barrier = sg_barrier_init((unsigned)test.size);
    make_ranks();
    struct pf_ompi_job job = {test.size, test.selves, on_abort};
    if (pf_ompi_open(&job, why, sizeof why) != 0)
        pf_die("%s", why);
    simgrid_run();
    return 0;
}
