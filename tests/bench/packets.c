/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the packet network costs: packet-hops per second of processor time on two networks of 1,024 nodes and
 * a little more, uniform traffic at three loads, and the memory of a port. `--quick`: only that it runs.
 */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/log.h"
#include "tools/pfnet/run.h"

static double processor_time(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void measure_point(struct run_request *request, double load)
{
    struct run_point point;
    char error[300];
    request->load = load;
    double begin = processor_time();
    if (!run_point(request, &point, error, sizeof error))
        pf_die("%s", error);
    double seconds = processor_time() - begin;
    printf("  load %.1f: %8.2f million packet-hops, %5.2f million/s, %4.0f ns each%s\n", load,
           (double)point.packet_hops / 1e6, (double)point.packet_hops / seconds / 1e6,
           1e9 * seconds / (double)point.packet_hops, point.saturated ? " (saturated)" : "");
    fflush(stdout);
}

static void measure(const char *topology, const char *name, int packet_times)
{
    static const double loads[] = {0.1, 0.5, 0.8};
    const struct pf_routing_settings plain = {.seed = 1, .ugal_bias = 1, .ugal_candidates = 1};
    struct pf_packet_settings settings = pf_packet_settings_plain;
    struct pf_fabric_speeds links;
    struct pf_routing routing;
    char error[300];
    pf_fabric_equal_links(&links, 12.5e9, 1e-7, 1e-7);
    settings.channels = 2;
    struct pf_fabric *fabric = pf_fabric_make(topology, &links, error, sizeof error);
    if (!fabric || !pf_routing_open(&routing, name, fabric, &plain, error, sizeof error))
        pf_die("%s", error);
    struct pf_pattern *pattern = pf_pattern_make("uniform", fabric, 1, error, sizeof error);
    struct pf_packet_sim *sim = pattern ? pf_packet_sim_make(&routing, &settings, error, sizeof error) : NULL;
    if (!sim)
        pf_die("%s", error);
    printf("%s, %s: %d nodes, %d classes of %d channels, %.0f bytes of a port for each class\n", topology,
           name, fabric->nodes, routing.classes, settings.channels,
           (double)pf_packet_sim_port_memory(sim) / routing.classes);
    pf_packet_sim_free(sim);
    double packet = settings.packet_bytes / 12.5e9;
    struct run_request request = {.routing = &routing,
                                  .settings = &settings,
                                  .pattern = pattern,
                                  .rate = 12.5e9,
                                  .warm_up = packet * packet_times / 4,
                                  .batch = packet * packet_times / 20,
                                  .batches = 20,
                                  .source_limit = 500,
                                  .confidence = 0.95,
                                  .seed = 1};
    for (size_t i = 0; i < sizeof loads / sizeof loads[0]; i++)
        measure_point(&request, loads[i]);
    pf_pattern_free(pattern);
    pf_fabric_free(fabric);
}

int main(int argc, char **argv)
{
    int packet_times = argc > 1 && strcmp(argv[1], "--quick") == 0 ? 20 : 1000;
    measure("dragonfly:4,8,4", "minimal", packet_times);
    measure("dragonfly:4,8,4", "ugal", packet_times);
    measure("fattree:32,2", "minimal", packet_times);
    measure("fattree:4,5", "minimal", packet_times);
    return 0;
}
