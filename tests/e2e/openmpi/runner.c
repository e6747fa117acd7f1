/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <simgrid/barrier.h>
#include <simgrid/engine.h>

#include "base/log.h"
#include "tests/e2e/openmpi/job.h"

static struct {
    int size;
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
    {"strided", scenario_strided},
    {"collectives", scenario_collectives},
    {"communicators", scenario_communicators},
    {"nonblocking", scenario_nonblocking},
    {"probe", scenario_probe},
    {"shadows", scenario_shadows},
    {"progress", scenario_progress},
    {"tags", scenario_tags},
    {"shared", scenario_shared},
    {"window", scenario_window},
    {"unexpected", scenario_unexpected},
    {"memory", scenario_memory},
    {"pingpong", scenario_pingpong},
    {"abort", scenario_abort},
};

void test_fail(const struct rank *rank, const char *file, int line, const char *what)
{
    fprintf(stderr, "%s:%d: rank %d at %g: %s is false\n", file, line, rank->self.rank, simgrid_get_clock(),
            what);
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

void test_create_instances(struct rank *rank)
{
    char why[512];
    double before = simgrid_get_clock(), wall = wall_clock();
    long memory = resident_kb();
    bool first = pf_ompi_instance(&pf_ompi_portals, 0) == NULL;
    if (pf_ompi_instances_create(&pf_ompi_portals, why, sizeof why) != 0)
        pf_die("%s", why);
    CHECK(rank, simgrid_get_clock() == before);
    rank->inst = pf_ompi_instance(&pf_ompi_portals, rank->self.rank);
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

void test_run_scenarios(struct rank *rank, const char *names)
{
    char *list = strdup(names), *next = list;
    for (char *name; (name = strsep(&next, ","));)
        run_scenario(rank, name);
    free(list);
}

void test_open(int size, pf_self_t *const *selves, const char *names)
{
    char why[512];
    struct pf_ompi_job job = {size, selves, on_abort};
    test.size = size;
    test.abort_expected = strstr(names, "abort") != NULL;
    test.barrier = sg_barrier_init((unsigned)size);
    if (pf_ompi_open(&pf_ompi_portals, &job, why, sizeof why) != 0)
        pf_die("%s", why);
}
