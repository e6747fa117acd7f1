/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The flow solver against SimGrid's own (CM02) on random platforms and random sets of flows. Both run in one
 * simulation, over the same links and from the same dates; neither sees the other. Without latencies CM02
 * gives all flows the same weight, as ours does always.
 *
 *     portals-solver [FIRST_SEED [COUNT]]
 */
#include "world.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <simgrid/actor.h>
#include <simgrid/comm.h>
#include <simgrid/engine.h>
#include <simgrid/host.h>
#include <simgrid/mailbox.h>

#include "lowlevel/network/network.h"

enum { MOST_HOSTS = 6, MOST_LINKS = 10, MOST_FLOWS = 24, TEXT = 1 << 16 };

static uint64_t seed, first_seed = 1, seed_count = 60;

static uint64_t draw(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return *state >> 33;
}

static double draw_real(uint64_t *state, double low, double high)
{
    return low * pow(high / low, (double)draw(state) / 2147483648.0); /* uniform in the logarithm */
}

struct flow {
    struct pf_transfer transfer;
    struct pf_event begin;
    int src, dst;
    double bytes, date, simgrid_end, our_end;
};

static struct flow flows[MOST_FLOWS];
static int flow_count, host_count;

/* Links are drawn with equal capacities now and then, so that ties happen. */
static void draw_links(uint64_t *state, FILE *out, int count)
{
    for (int link = 0; link < count; link++)
        fprintf(out, "<link id=\"l%d\" bandwidth=\"%.17gBps\" latency=\"0s\" sharing_policy=\"%s\"/>\n", link,
                draw(state) % 3 == 0 ? 1e9 : draw_real(state, 1e8, 1e10),
                draw(state) % 6 == 0 ? "FATPIPE" : "SHARED");
}

static void draw_route(uint64_t *state, FILE *out, int src, int dst, int links)
{
    bool used[MOST_LINKS] = {false};
    fprintf(out, "<route src=\"node-%d\" dst=\"node-%d\" symmetrical=\"NO\">", src, dst);
    for (int hops = 1 + (int)(draw(state) % 4); hops > 0; hops--) {
        int link = (int)(draw(state) % (uint64_t)links);
        if (!used[link])
            fprintf(out, "<link_ctn id=\"l%d\"/>", link);
        used[link] = true;
    }
    fprintf(out, "</route>\n");
}

static char *draw_platform(uint64_t *state)
{
    char *text = calloc(1, TEXT);
    FILE *out = fmemopen(text, TEXT, "w");
    int links = 1 + (int)(draw(state) % MOST_LINKS);
    host_count = 2 + (int)(draw(state) % (MOST_HOSTS - 1));
    fprintf(out, "<zone id=\"w\" routing=\"Full\">\n");
    for (int host = 0; host < host_count; host++)
        fprintf(out, "<host id=\"node-%d\" speed=\"1Gf\"/>\n", host);
    draw_links(state, out, links);
    for (int src = 0; src < host_count; src++)
        for (int dst = 0; dst < host_count; dst++)
            if (src != dst)
                draw_route(state, out, src, dst, links);
    fprintf(out, "</zone>\n");
    fclose(out);
    return text;
}

/* Many begin together at the date 0.001, others later. */
static void draw_flows(uint64_t *state)
{
    flow_count = 1 + (int)(draw(state) % MOST_FLOWS);
    for (int i = 0; i < flow_count; i++) {
        int src = (int)(draw(state) % (uint64_t)host_count);
        int dst = (src + 1 + (int)(draw(state) % (uint64_t)(host_count - 1))) % host_count;
        flows[i] = (struct flow){.src = src,
                                 .dst = dst,
                                 .bytes = floor(draw_real(state, 1e5, 1e9)),
                                 .date = draw(state) % 2 ? 1e-3 : 1e-3 + draw_real(state, 1e-4, 0.5)};
    }
}

static void sender(int argc, char *argv[])
{
    (void)argc, (void)argv;
    struct flow *flow = sg_actor_self_get_data();
    char name[32];
    snprintf(name, sizeof name, "flow-%d", (int)(flow - flows));
    sg_actor_sleep_until(flow->date);
    sg_mailbox_put(sg_mailbox_by_name(name), flow, (long)flow->bytes);
    flow->simgrid_end = simgrid_get_clock();
}

static void receiver(int argc, char *argv[])
{
    (void)argc, (void)argv;
    char name[32];
    snprintf(name, sizeof name, "flow-%d", (int)((struct flow *)sg_actor_self_get_data() - flows));
    sg_mailbox_get(sg_mailbox_by_name(name));
}

static void start_actor(struct flow *flow, int node, void (*code)(int, char **))
{
    char name[32];
    snprintf(name, sizeof name, "node-%d", node);
    sg_actor_t actor = sg_actor_init("flow", sg_host_by_name(name));
    sg_actor_set_data(actor, flow);
    sg_actor_start_(actor, code, 0, NULL);
}

static void note_end(struct pf_transfer *t)
{
    pf_container_of(t, struct flow, transfer)->our_end = pf_engine_now();
}

static void ignore(struct pf_transfer *t)
{
    (void)t;
}

static void begin_flow(struct pf_event *event)
{
    struct flow *flow = pf_container_of(event, struct flow, begin);
    pf_network()->inject(&flow->transfer);
}

static int node_of(int rank)
{
    return (int)world_address(rank).phys.nid;
}

static void check_flows(void)
{
    for (int i = 0; i < flow_count; i++) {
        const struct flow *flow = &flows[i];
        double difference = fabs(flow->our_end - flow->simgrid_end);
        if (difference > 1e-6 * (flow->simgrid_end - flow->date) + 5e-9 * flow_count)
            fprintf(stderr,
                    "seed %llu: flow %d of %d from %d to %d, %.0f B from %.9f s: %.12f s, SimGrid %.12f s\n",
                    (unsigned long long)seed, i, flow_count, flow->src, flow->dst, flow->bytes, flow->date,
                    flow->our_end, flow->simgrid_end);
        CHECK(difference <= 1e-6 * (flow->simgrid_end - flow->date) + 5e-9 * flow_count);
    }
}

/* Rank r is on node r: opening an interface makes the node known. */
static void program_compare(int rank, int size, void *shared)
{
    (void)size;
    struct endpoint e;
    endpoint_open(&e, PTL_NI_MATCHING | PTL_NI_PHYSICAL, 0, 16);
    for (int i = 0; rank == 0 && i < flow_count; i++) {
        struct flow *flow = &flows[i];
        flow->transfer = (struct pf_transfer){.src = node_of(flow->src),
                                              .dst = node_of(flow->dst),
                                              .bytes = flow->bytes,
                                              .streams = true,
                                              .first = ignore,
                                              .sent = ignore,
                                              .last = note_end,
                                              .lost = ignore};
        pf_event_init(&flow->begin, begin_flow);
        pf_engine_post(&flow->begin, flow->date);
        start_actor(flow, flow->src, sender);
        start_actor(flow, flow->dst, receiver);
    }
    sg_actor_sleep_for(1000.0);
    if (rank == 0) {
        check_flows();
        *(int *)shared += flow_count;
    }
    endpoint_close(&e);
}

static void test_random(void **state)
{
    (void)state;
    static const char *const settings[] = {"PARFOCAL_NIC_PCIE_BW=1e18", "PARFOCAL_NET_SMALL_MAX=0", NULL};
    *(int *)world_shared() = 0;
    for (seed = first_seed; seed < first_seed + seed_count; seed++) {
        uint64_t random = seed * 1000003u;
        char *platform = draw_platform(&random);
        draw_flows(&random);
        struct world world = {.nodes = host_count, .platform = platform, .settings = settings};
        int status = world_run(&world, program_compare);
        if (status != 0)
            fail_msg("seed %llu: status %d, platform:\n%s", (unsigned long long)seed, status, platform);
        free(platform);
    }
    print_message("seeds %llu to %llu: %d flows\n", (unsigned long long)first_seed,
                  (unsigned long long)(first_seed + seed_count - 1), *(int *)world_shared());
    assert_true(*(int *)world_shared() >= (int)seed_count);
}

int main(int argc, char *argv[])
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random)};
    if (argc > 1)
        first_seed = strtoull(argv[1], NULL, 10);
    if (argc > 2)
        seed_count = strtoull(argv[2], NULL, 10);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
