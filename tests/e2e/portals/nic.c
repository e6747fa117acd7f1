/* SPDX-License-Identifier: BSD-3-Clause */
/* The hardware model of the NIC against closed forms: stages, fidelity switches, tables and limits. */
#include "world.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <simgrid/actor.h>
#include <simgrid/engine.h>

#include "lowlevel/nic/bus.h"

#define NI_OPTIONS (PTL_NI_MATCHING | PTL_NI_PHYSICAL)
#define ENTRY      (PTL_ME_OP_PUT | PTL_ME_EVENT_LINK_DISABLE | PTL_ME_EVENT_UNLINK_DISABLE)
#define MIB        ((size_t)1 << 20)

/* The figures of base/config.def, and of the platform in world.c. */
static const double pcie = 250e-9, bus = 15.75e9, wire = 11.1e9, way = 2 * 500e-9;
static const double tx = 2e-9, put_time = 0, response = 0, rx = 0;
static const double header = 64, ack = 32, command = 64, event_size = 96, inline_put = 8;

static double command_time(void)
{
    return pcie + command / bus;
}

static double event_time(void)
{
    return pcie + event_size / bus;
}

/* From the command's arrival in the NIC to the payload in memory, 8 B. */
static double nic_time(void)
{
    return tx + put_time + (header + inline_put) / wire + way + rx;
}

static double write_time(void)
{
    return pcie + inline_put / bus;
}

static void assert_near(double value, double expected, double tolerance)
{
    if (!(fabs(value - expected) <= tolerance * expected))
        fail_msg("%.12f s instead of %.12f s +- %g %%", value, expected, 100 * tolerance);
}

/* What a program does: the ranks of `sends` put `count` messages each; every other rank listed as a
 * destination waits for them. */
struct sends {
    int from, to[2]; /* in turn; the same twice: one destination */
    int count;
    size_t bytes;
};

struct plan {
    struct sends sends[2];
    bool wait_ack;   /* one by one, with acknowledgement */
    bool triggered;  /* all at once, by a counter */
    bool may_change; /* PTL_MD_VOLATILE */
    double delay;    /* of the second sender */
};

static struct plan plan;

static int expected_by(int rank)
{
    int count = 0;
    for (int i = 0; i < 2; i++)
        for (int k = 0; k < plan.sends[i].count; k++)
            count += plan.sends[i].to[k % 2] == rank;
    return count;
}

static ptl_handle_ct_t trigger;

static void put(struct endpoint *e, const char *data, const struct sends *s, int k)
{
    ptl_process_t to = world_address(s->to[k % 2]);
    ptl_size_t start = (ptl_size_t)(uintptr_t)data;
    if (plan.triggered) {
        CHECK(PtlTriggeredPut(e->md, start, s->bytes, PTL_NO_ACK_REQ, to, e->pt, 1, 0, NULL, 0, trigger, 1) ==
              PTL_OK);
        return;
    }
    CHECK(PtlPut(e->md, start, s->bytes, plan.wait_ack ? PTL_ACK_REQ : PTL_NO_ACK_REQ, to, e->pt, 1, 0, NULL,
                 0) == PTL_OK);
    if (plan.wait_ack) {
        endpoint_expect(e, PTL_EVENT_SEND);
        endpoint_expect(e, PTL_EVENT_ACK);
    }
}

/* shared[2 * rank]: from the common start to the first thing that the rank waits for, [2 * rank + 1]: to the
 * last. */
static void run_plan(int rank, int size, void *shared)
{
    (void)size;
    double *times = shared;
    struct endpoint e;
    endpoint_open(&e, NI_OPTIONS, 0, 1 << 16);
    char *data = calloc(2, MIB);
    memset(data, 1 + rank, MIB);
    endpoint_append(&e, data + MIB, MIB, ENTRY, 1, PTL_PRIORITY_LIST, NULL);
    if (!plan.wait_ack) { /* no events for what is sent */
        ptl_md_t md = {.length = PTL_SIZE_MAX,
                       .options = plan.may_change ? PTL_MD_VOLATILE : 0,
                       .eq_handle = PTL_EQ_NONE,
                       .ct_handle = PTL_CT_NONE};
        CHECK(PtlMDBind(e.ni, &md, &e.md) == PTL_OK);
    }
    CHECK(PtlCTAlloc(e.ni, &trigger) == PTL_OK);
    world_barrier();
    sg_actor_sleep_for(1e-5); /* the commands that have prepared this are through */
    double start = simgrid_get_clock();
    if (plan.sends[1].from == rank && plan.delay > 0)
        sg_actor_sleep_for(plan.delay);
    int most = plan.sends[0].count > plan.sends[1].count ? plan.sends[0].count : plan.sends[1].count;
    for (int k = 0; k < most; k++)
        for (int i = 0; i < 2; i++)
            if (plan.sends[i].from == rank && k < plan.sends[i].count)
                put(&e, data, &plan.sends[i], k);
    if (plan.triggered && plan.sends[0].from == rank)
        CHECK(PtlCTInc(trigger, (ptl_ct_event_t){1, 0}) == PTL_OK);
    if (plan.wait_ack)
        times[2 * rank] = times[2 * rank + 1] = simgrid_get_clock() - start;
    int count = expected_by(rank);
    for (int k = 0; k < count; k++) {
        endpoint_expect(&e, PTL_EVENT_PUT);
        if (k == 0)
            times[2 * rank] = simgrid_get_clock() - start;
        times[2 * rank + 1] = simgrid_get_clock() - start;
    }
    if (count > 0)
        times[64 + rank] = data[MIB];
    endpoint_close(&e);
}

static const double *run(const struct plan *what, int nodes, int per_node, const char *const *settings)
{
    struct world world = {.nodes = nodes, .ranks_per_node = per_node, .settings = settings};
    plan = *what;
    memset(world_shared(), 0, 4096);
    assert_int_equal(world_run(&world, run_plan), 0);
    return world_shared();
}

/* One put of `bytes` from rank 0 to rank 1: until the event at the target. */
static double one_put(size_t bytes, const char *const *settings)
{
    return run(&(struct plan){.sends = {{0, {1, 1}, 1, bytes}}}, 2, 1, settings)[2];
}

static double put_and_ack(size_t bytes, const char *const *settings)
{
    return run(&(struct plan){.sends = {{0, {1, 1}, 1, bytes}}, .wait_ack = true}, 2, 1, settings)[0];
}

/* Seconds from message to message at the receiver, for `count` of them in a stream. */
static double spacing(const double *times, int rank, int count)
{
    return (times[2 * rank + 1] - times[2 * rank]) / (count - 1);
}

static void test_stages(void **state)
{
    (void)state;
    double there = command_time() + nic_time() + write_time() + event_time();
    assert_near(one_put(8, NULL), there, 1e-9);
    double back = tx + response + ack / wire + way + rx; /* behind the target's event */
    assert_near(put_and_ack(8, NULL), there + back + event_time(), 1e-9);
    /* Longer ones by a DMA read of one packet. */
    static const size_t sizes[] = {9, 100, 512};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        double bytes = (double)sizes[i], more = bytes - inline_put;
        double dma = 2 * pcie + bytes / bus - put_time + more / wire + more / bus;
        assert_near(one_put(sizes[i], NULL), there + dma, 1e-9);
    }
}

static double volatile_put(size_t bytes, const char *const *settings)
{
    return run(&(struct plan){.sends = {{0, {1, 1}, 1, bytes}}, .may_change = true}, 2, 1, settings)[2];
}

/* Memory that may change at once is written into the NIC by the processor, all but 8 B before a fence. */
static void test_volatile(void **state)
{
    (void)state;
    double there = command_time() + nic_time() + write_time() + event_time();
    static const size_t sizes[] = {9, 408};
    assert_near(volatile_put(8, NULL), there, 1e-9);
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        double more = (double)sizes[i] - inline_put;
        double pio = more / bus + 100e-9;
        assert_near(volatile_put(sizes[i], NULL), there + pio + more / wire + more / bus, 1e-9);
    }
    static const char *const long_fence[] = {"PARFOCAL_NIC_PIO_FENCE=1e-6", NULL};
    assert_near(volatile_put(9, long_fence) - volatile_put(9, NULL), 1e-6 - 100e-9, 1e-12);
    assert_near(volatile_put(8, long_fence), there, 1e-9);
    assert_near(volatile_put(409, NULL), one_put(409, NULL), 1e-12);
    static const char *const never[] = {"PARFOCAL_NIC_PIO_MAX=0", NULL};
    assert_near(volatile_put(100, never), one_put(100, NULL), 1e-12);
    assert_near(volatile_put(8, never), there, 1e-9);
}

static void test_loopback(void **state)
{
    (void)state;
    double nic = tx + put_time + (header + inline_put) / 15.75e9 + 50e-9 + rx;
    struct plan self = {.sends = {{0, {1, 1}, 1, 8}}};
    assert_near(run(&self, 1, 2, NULL)[2], command_time() + nic + write_time() + event_time(), 1e-9);
    static const char *const slower[] = {"PARFOCAL_NIC_LOOPBACK_LATENCY=1e-6", "PARFOCAL_NIC_LOOPBACK_BW=1e9",
                                         NULL};
    nic = tx + put_time + (header + inline_put) / 1e9 + 1e-6 + rx;
    assert_near(run(&self, 1, 2, slower)[2], command_time() + nic + write_time() + event_time(), 1e-9);
}

/* From 4,096 bytes on the host's memory moves 8 GB/s, and from 1 MiB on 4 GB/s, 1 us later. */
static void test_memory_levels(void **state)
{
    (void)state;
    static const char *const plain[] = {"PARFOCAL_NIC_LOOPBACK_MEMORY=yes", NULL};
    static const char *const by_level[] = {"PARFOCAL_NIC_LOOPBACK_MEMORY=yes",
                                           "PARFOCAL_NIC_LOOPBACK_LEVELS=4096:8e9,1048576:4e9:1050e-9", NULL};
    static const struct {
        size_t bytes;
        double rate, later;
    } cases[] = {{8, 15.75e9, 0}, {4095, 15.75e9, 0}, {4096, 8e9, 0}, {MIB - 1, 8e9, 0}, {MIB, 4e9, 1e-6}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct plan self = {.sends = {{0, {1, 1}, 1, cases[i].bytes}}};
        double all = (double)(cases[i].bytes + 64 + (cases[i].bytes - 1) / 512 * 12);
        assert_near(run(&self, 1, 2, by_level)[2] - run(&self, 1, 2, plain)[2],
                    all / cases[i].rate - all / 15.75e9 + cases[i].later, 1e-10);
    }
}

static void test_quick_acks(void **state)
{
    (void)state;
    static const char *const quick[] = {"PARFOCAL_NIC_QUICK_ACKS=yes", NULL};
    double there = command_time() + nic_time() + write_time() + event_time();
    assert_near(put_and_ack(8, quick), there, 1e-9);
    assert_near(one_put(8, quick), there, 1e-9);
    assert_true(put_and_ack(MIB, quick) < put_and_ack(MIB, NULL));
}

static void test_no_commands(void **state)
{
    (void)state;
    static const char *const none[] = {"PARFOCAL_NIC_PCIE_COMMANDS=no", NULL};
    assert_near(one_put(8, none), nic_time() + write_time(), 1e-9);
    assert_near(one_put(8, NULL) - one_put(8, none), command_time() + event_time(), 1e-6);
    assert_near(one_put(MIB, NULL) - one_put(MIB, none), command_time() + event_time(), 1e-6);
}

static void test_no_pcie(void **state)
{
    (void)state;
    static const char *const none[] = {"PARFOCAL_NIC_PCIE=no", NULL};
    assert_near(one_put(8, none), nic_time(), 1e-9);
    double packets = (MIB - 1) / 512 * 12;
    assert_near(one_put(MIB, none), tx + way + rx + (MIB + header + packets) / wire, 1e-9);
    /* The bus is no limit any more: a slow one changes nothing. */
    static const char *const slow[] = {"PARFOCAL_NIC_PCIE=no", "PARFOCAL_NIC_PCIE_BW=1e9", NULL};
    assert_near(one_put(MIB, slow), one_put(MIB, none), 1e-12);
    static const char *const slow_bus[] = {"PARFOCAL_NIC_PCIE_BW=1e9", NULL};
    assert_true(one_put(MIB, slow_bus) > (double)MIB / 1e9);
}

/* The acknowledgements of many short messages take their bytes from a long one on the way back. */
static void test_no_e2e(void **state)
{
    (void)state;
    enum { COUNT = 2000 };
    static const char *const none[] = {"PARFOCAL_NIC_E2E=no", NULL};
    static const char *const large[] = {"PARFOCAL_NIC_E2E_ACK_BYTES=64", NULL};
    struct plan both = {.sends = {{0, {1, 1}, COUNT, 8}, {1, {0, 0}, 1, MIB}}};
    double without = run(&both, 2, 1, none)[1];
    if (world_packet() > 0) { /* where these acknowledgements load no links */
        assert_near(run(&both, 2, 1, NULL)[1], without, 1e-9);
        return;
    }
    assert_near(run(&both, 2, 1, NULL)[1] - without, COUNT * ack / wire, 0.01);
    assert_near(run(&both, 2, 1, large)[1] - without, COUNT * 64 / wire, 0.01);
    assert_near(one_put(8, none), one_put(8, NULL), 1e-12);
}

static void test_no_payload_copy(void **state)
{
    (void)state;
    static const char *const none[] = {"PARFOCAL_PAYLOAD_COPY=no", NULL};
    static const size_t sizes[] = {8, 100, 4096, 100000, MIB};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        double with = one_put(sizes[i], NULL);
        assert_true(((double *)world_shared())[64 + 1] == 1.0);
        double without = one_put(sizes[i], none);
        assert_true(((double *)world_shared())[64 + 1] == 0.0);
        assert_true(with == without);
    }
}

/* Latency is not occupancy: the gap of a stage alone sets the rate. */
static void test_message_rate(void **state)
{
    (void)state;
    enum { COUNT = 4000 };
    struct plan two = {.sends = {{0, {2, 2}, COUNT / 2, 8}, {1, {2, 2}, COUNT / 2, 8}}};
    double gap = spacing(run(&two, 2, 2, NULL), 2, COUNT);
    assert_near(gap, 8e-9, 0.01);
    assert_true(1 / gap > 100e6);
    struct plan counter = {.sends = {{0, {1, 1}, COUNT, 8}}, .triggered = true};
    assert_near(spacing(run(&counter, 2, 1, NULL), 1, COUNT), 8e-9, 0.01);
    static const char *const slow[] = {"PARFOCAL_NIC_TX_GAP=50e-9", NULL};
    assert_near(spacing(run(&two, 2, 2, slow), 2, COUNT), 50e-9, 0.01);
}

static void test_match_engines(void **state)
{
    (void)state;
    enum { COUNT = 2000 };
    static const char *const one[] = {"PARFOCAL_NIC_MATCH_ENGINES=1", NULL};
    static const char *const three[] = {"PARFOCAL_NIC_MATCH_ENGINES=3", "PARFOCAL_NIC_MATCH_GAP=90e-9", NULL};
    struct plan two = {.sends = {{0, {2, 2}, COUNT / 2, 8}, {1, {2, 2}, COUNT / 2, 8}}};
    assert_near(spacing(run(&two, 2, 2, one), 2, COUNT), 32e-9, 0.01);
    assert_near(spacing(run(&two, 3, 1, three), 2, COUNT), 30e-9, 0.01); /* from two nodes */
    static const char *const no_engine[] = {"PARFOCAL_NIC_MATCH_ENGINES=0", NULL};
    struct world world = {.nodes = 2, .settings = no_engine};
    char text[1000];
    assert_int_not_equal(world_run_text(&world, run_plan, text, sizeof text), 0);
    assert_non_null(strstr(text, "PARFOCAL_NIC_MATCH_ENGINES"));
}

/* Two senders into one node whose bus is slower than its wire: they share the bus. Into two nodes: each has
 * its own. */
static void test_target_bus(void **state)
{
    (void)state;
    static const char *const slow[] = {"PARFOCAL_NIC_PCIE_BW=4e9", NULL};
    double packets = (MIB - 1) / 512 * 12, bytes = MIB + header + packets;
    struct plan one = {.sends = {{0, {2, 2}, 1, MIB}, {1, {2, 2}, 1, MIB}}};
    const double *times = run(&one, 4, 1, slow);
    assert_near(times[5], 2 * bytes / 4e9 + 2.3e-6, 0.002);
    struct plan apart = {.sends = {{0, {2, 2}, 1, MIB}, {1, {3, 3}, 1, MIB}}};
    times = run(&apart, 4, 1, slow);
    assert_near(times[5], bytes / 4e9 + 2.3e-6, 0.002);
    assert_near(times[7], bytes / 4e9 + 2.3e-6, 0.002);
    /* Small payloads and events queue for it as well. */
    enum { COUNT = 1000 };
    static const char *const slower[] = {"PARFOCAL_NIC_PCIE_BW=1e9", NULL};
    struct plan small = {.sends = {{0, {2, 2}, COUNT, 8}, {1, {2, 2}, COUNT, 8}}};
    assert_near(spacing(run(&small, 3, 1, slower), 2, 2 * COUNT), (8 + event_size) / 1e9, 0.01);
}

/* A short message of a service passes a long one of the application from the same node. */
static void test_virtual_networks(void **state)
{
    (void)state;
    static const char *const service[] = {"PARFOCAL_NIC_SERVICE_RANKS=1,7-9", NULL};
    struct plan mixed = {.sends = {{0, {2, 2}, 1, MIB}, {1, {3, 3}, 1, 8}}, .delay = 2e-6};
    double behind = run(&mixed, 2, 2, NULL)[6];
    assert_true(behind > (double)MIB / wire);
    double served = run(&mixed, 2, 2, service)[6];
    assert_true(served < 2e-6 + 3e-6);
    static const char *const wrong[] = {"PARFOCAL_NIC_SERVICE_RANKS=1,x", NULL};
    struct world world = {.nodes = 2, .settings = wrong};
    char text[1000];
    assert_int_not_equal(world_run_text(&world, run_plan, text, sizeof text), 0);
    assert_non_null(strstr(text, "PARFOCAL_NIC_SERVICE_RANKS"));
}

/* From entering the network to the acknowledgement between the NICs. */
static double round_trip(void)
{
    return (header + inline_put) / wire + way + ack / wire + way;
}

static void test_e2e_table(void **state)
{
    (void)state;
    enum { COUNT = 60 };
    static const char *const one[] = {"PARFOCAL_NIC_E2E_ENTRIES=1", NULL};
    static const char *const three[] = {"PARFOCAL_NIC_E2E_ENTRIES=3", NULL};
    static const char *const one_without[] = {"PARFOCAL_NIC_E2E_ENTRIES=1", "PARFOCAL_NIC_E2E=no", NULL};
    struct plan stream = {.sends = {{0, {1, 1}, COUNT, 8}}};
    assert_near(spacing(run(&stream, 2, 1, one), 1, COUNT), round_trip(), 1e-6);
    assert_near(spacing(run(&stream, 2, 1, three), 1, COUNT), round_trip() / 3, 0.04);
    assert_near(spacing(run(&stream, 2, 1, one_without), 1, COUNT), 8e-9, 0.4);
    /* The table is the NIC's: two destinations share it. */
    struct plan two = {.sends = {{0, {1, 2}, COUNT, 8}}};
    assert_near(spacing(run(&two, 3, 1, one), 1, COUNT / 2), 2 * round_trip(), 1e-6);
}

/* The NIC begins a message when the one before is acknowledged. */
static double turn(size_t bytes)
{
    if (bytes == 8)
        return tx + put_time + round_trip();
    double packets = (double)((bytes - 1) / 512 * 12);
    /* The acknowledgement that says SEND is acknowledged as well, and delays the next message. */
    return tx + 2 * pcie + 512 / bus + ((double)bytes + header + packets + ack) / wire + way + ack / wire +
           way;
}

static double flow_of(const struct plan *what, const char *limit, const char *scope, int rank, int count)
{
    char limit_text[64], scope_text[64];
    snprintf(limit_text, sizeof limit_text, "PARFOCAL_NIC_MAX_IN_FLIGHT=%s", limit);
    snprintf(scope_text, sizeof scope_text, "PARFOCAL_NIC_FLOW_CONTROL=%s", scope);
    const char *settings[] = {limit_text, scope_text, NULL};
    return spacing(run(what, 2, 2, settings), rank, count);
}

static void test_flow_control(void **state)
{
    (void)state;
    enum { COUNT = 60 };
    struct plan single = {.sends = {{0, {2, 2}, COUNT, 8}}};
    assert_near(flow_of(&single, "1", "node", 2, COUNT), turn(8), 1e-6);
    assert_near(flow_of(&single, "1", "process", 2, COUNT), turn(8), 1e-6);
    assert_near(flow_of(&single, "2", "node", 2, COUNT), turn(8) / 2, 0.02);
    struct plan large = {.sends = {{0, {2, 2}, 10, MIB}}};
    /* Over packets the acknowledgement is not behind the bytes of another one: 3 ns. */
    assert_near(flow_of(&large, "1", "node", 2, 10), turn(MIB), world_packet() > 0 ? 1e-4 : 1e-6);
    /* Two processes of the target's node, in turn. */
    struct plan fan = {.sends = {{0, {2, 3}, COUNT, 8}}};
    assert_near(flow_of(&fan, "1", "node", 2, COUNT / 2), 2 * turn(8), 1e-6);
    assert_near(flow_of(&fan, "1", "process", 2, COUNT / 2), turn(8), 1e-6);
    /* Two processes to one. */
    struct plan join = {.sends = {{0, {2, 2}, COUNT, 8}, {1, {2, 2}, COUNT, 8}}};
    assert_near(flow_of(&join, "1", "process", 2, 2 * COUNT), turn(8), 0.01);
    assert_near(flow_of(&join, "1", "pair", 2, 2 * COUNT), turn(8) / 2, 0.01);
}

/* Two streams between two nodes leave one after the other, or at once; then short messages pass them. */
static void test_streams(void **state)
{
    (void)state;
    static const char *const all[] = {"PARFOCAL_NIC_STREAMS=0", NULL};
    double alone = turn(MIB), more = (double)MIB * (1 + 12.0 / 512) / wire;
    struct plan two = {.sends = {{0, {2, 2}, 1, MIB}, {1, {3, 3}, 1, MIB}}};
    if (world_packet() > 0) { /* it refuses streams at once: their order at the end would be the packets' */
        for (int i = 0; i < 2; i++)
            assert_near(run(&two, 2, 2, NULL)[4 + 2 * i], alone + i * more, 0.02);
        return;
    }
    for (int i = 0; i < 2; i++) {
        assert_near(run(&two, 2, 2, NULL)[4 + 2 * i], alone + i * more, 0.02);
        assert_near(run(&two, 2, 2, all)[4 + 2 * i], alone + more, 0.02);
    }
    struct plan mixed = {.sends = {{0, {2, 2}, 1, MIB}, {1, {3, 3}, 1, 8}}, .delay = 2e-6};
    assert_true(run(&mixed, 2, 2, NULL)[6] > more);
    assert_true(run(&mixed, 2, 2, all)[6] < 5e-6);
}

/* A layer on the bus and one on the network see every step, with its dates and its message. */
struct seen {
    int steps[PF_BUS_PAYLOAD_WRITE + 1];
    int transfers[PF_TRANSFER_E2E_ACK + 1];
    int wrong;
    double last_end;
};
static struct seen *seen;
static const struct pf_bus_ops *below_bus;
static const struct pf_network_ops *below_network;

static void look(const struct pf_bus_step *step)
{
    seen->steps[step->kind]++;
    seen->wrong += !(step->start >= 0 && step->end >= step->start);
    seen->wrong += step->kind > PF_BUS_EVENT && !step->transfer;
}

#define LAYER(name)                                                                                          \
    static void see_##name(struct pf_bus *node, struct pf_bus_step *step)                                    \
    {                                                                                                        \
        below_bus->name(node, step);                                                                         \
        look(step);                                                                                          \
    }
LAYER(command)
LAYER(pio)
LAYER(event)
LAYER(read_request)
LAYER(write)

static void see_read_done(struct pf_bus *node, const struct pf_bus_step *step)
{
    below_bus->read_done(node, step);
    look(step);
    seen->wrong += !(step->bytes / (step->end - step->start) < bus);
}

static void see_inject(struct pf_transfer *t)
{
    seen->transfers[t->kind]++;
    seen->wrong += t->src_process == t->dst_process || t->src == t->dst || t->start != pf_engine_now();
    below_network->inject(t);
}

static double see_acknowledge(const struct pf_transfer *t, double bytes)
{
    double date = below_network->acknowledge(t, bytes);
    seen->transfers[PF_TRANSFER_E2E_ACK]++;
    seen->wrong += bytes != 32 || date < pf_engine_now();
    return date;
}

static void install_layers(void)
{
    static struct pf_bus_ops bus_layer;
    static struct pf_network_ops network_layer;
    below_bus = pf_bus_choose();
    bus_layer = *below_bus;
    bus_layer.command = see_command;
    bus_layer.pio = see_pio;
    bus_layer.event = see_event;
    bus_layer.read_request = see_read_request;
    bus_layer.read_done = see_read_done;
    bus_layer.write = see_write;
    pf_bus_use(&bus_layer);
    below_network = pf_network();
    network_layer = *below_network;
    network_layer.inject = see_inject;
    network_layer.acknowledge = see_acknowledge;
    pf_network_use(&network_layer);
}

static void program_observed(int rank, int size, void *shared)
{
    (void)size;
    seen = shared;
    if (rank == 0)
        install_layers();
    struct endpoint e;
    endpoint_open(&e, NI_OPTIONS, 0, 64);
    char *data = calloc(1, MIB);
    endpoint_append(&e, data, MIB, ENTRY | PTL_ME_OP_GET | PTL_ME_EVENT_COMM_DISABLE, 1, PTL_PRIORITY_LIST,
                    NULL);
    world_barrier();
    static const size_t sizes[] = {8, 100, MIB};
    ptl_size_t start = (ptl_size_t)(uintptr_t)data;
    ptl_md_t md = {
        .length = PTL_SIZE_MAX, .options = PTL_MD_VOLATILE, .eq_handle = e.eq, .ct_handle = PTL_CT_NONE};
    ptl_handle_md_t may_change;
    CHECK(PtlMDBind(e.ni, &md, &may_change) == PTL_OK);
    for (int i = 0; rank == 0 && i < 3; i++) {
        CHECK(PtlPut(may_change, start, sizes[i], PTL_ACK_REQ, world_address(1), e.pt, 1, 0, NULL, 0) ==
              PTL_OK);
        endpoint_expect(&e, PTL_EVENT_SEND);
        endpoint_expect(&e, PTL_EVENT_ACK);
    }
    if (rank == 0) {
        CHECK(PtlGet(e.md, start, 10000, world_address(1), e.pt, 1, 0, NULL) == PTL_OK);
        endpoint_expect(&e, PTL_EVENT_REPLY);
        CHECK(PtlAtomic(e.md, start, 8, PTL_ACK_REQ, world_address(1), e.pt, 1, 0, NULL, 0, PTL_SUM,
                        PTL_INT64_T) == PTL_OK);
        endpoint_expect(&e, PTL_EVENT_SEND);
        endpoint_expect(&e, PTL_EVENT_ACK);
        CHECK(PtlFetchAtomic(e.md, start, e.md, start + 8, 8, world_address(1), e.pt, 1, 0, NULL, 0, PTL_SUM,
                             PTL_INT64_T) == PTL_OK);
        endpoint_expect(&e, PTL_EVENT_SEND);
        endpoint_expect(&e, PTL_EVENT_REPLY);
    }
    endpoint_close(&e);
}

static void test_observers(void **state)
{
    (void)state;
    struct world world = {.nodes = 2};
    struct seen *result = world_shared();
    memset(result, 0, sizeof *result);
    assert_int_equal(world_run(&world, program_observed), 0);
    assert_int_equal(result->wrong, 0);
    assert_int_equal(result->steps[PF_BUS_COMMAND], 2 + 6); /* with the two appended entries */
    assert_int_equal(result->steps[PF_BUS_PIO], 1);
    assert_int_equal(result->steps[PF_BUS_EVENT], 4 * 2 + 3);
    assert_int_equal(result->steps[PF_BUS_READ_REQUEST], 3); /* 1 MiB, two replies */
    assert_int_equal(result->steps[PF_BUS_READ], 3);
    assert_int_equal(result->steps[PF_BUS_PAYLOAD_WRITE], 3 + 1 + 1 + 2);
    assert_int_equal(result->transfers[PF_TRANSFER_PUT], 3);
    assert_int_equal(result->transfers[PF_TRANSFER_GET], 1);
    assert_int_equal(result->transfers[PF_TRANSFER_ATOMIC], 1);
    assert_int_equal(result->transfers[PF_TRANSFER_FETCH], 1);
    assert_int_equal(result->transfers[PF_TRANSFER_REPLY], 1);
    assert_int_equal(result->transfers[PF_TRANSFER_FETCH_REPLY], 1);
    assert_int_equal(result->transfers[PF_TRANSFER_ACK], 4);
    assert_int_equal(result->transfers[PF_TRANSFER_E2E_ACK], 6 + 6);
}

static void program_open(int rank, int size, void *shared)
{
    (void)rank, (void)size, (void)shared;
    struct endpoint e;
    endpoint_open(&e, PTL_NI_MATCHING | PTL_NI_PHYSICAL, 0, 8);
    endpoint_close(&e);
}

/* What would hang, or not fit into a command, is refused with the name of the setting. */
static void test_impossible_settings(void **state)
{
    (void)state;
    static const char *const bad[] = {"PARFOCAL_NIC_MATCH_ENGINES=0", "PARFOCAL_NIC_COMMAND_QUEUE=0",
                                      "PARFOCAL_NIC_E2E_ENTRIES=-1",  "PARFOCAL_NIC_PIO_MAX=409",
                                      "PARFOCAL_NIC_INLINE_MAX=409",  "PARFOCAL_NIC_EARLY_SEND=409"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        const char *settings[] = {bad[i], NULL};
        struct world world = {.nodes = 1, .settings = settings};
        char text[2048] = "", name[64];
        snprintf(name, sizeof name, "%.*s", (int)(strchr(bad[i], '=') - bad[i]), bad[i]);
        assert_int_not_equal(world_run_text(&world, program_open, text, sizeof text), 0);
        assert_non_null(strstr(text, name));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_stages),
        cmocka_unit_test(test_loopback),
        cmocka_unit_test(test_memory_levels),
        cmocka_unit_test(test_quick_acks),
        cmocka_unit_test(test_no_commands),
        cmocka_unit_test(test_no_pcie),
        cmocka_unit_test(test_no_e2e),
        cmocka_unit_test(test_no_payload_copy),
        cmocka_unit_test(test_message_rate),
        cmocka_unit_test(test_match_engines),
        cmocka_unit_test(test_target_bus),
        cmocka_unit_test(test_virtual_networks),
        cmocka_unit_test(test_e2e_table),
        cmocka_unit_test(test_flow_control),
        cmocka_unit_test(test_streams),
        cmocka_unit_test(test_observers),
        cmocka_unit_test(test_impossible_settings),
        cmocka_unit_test(test_volatile),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
