/* SPDX-License-Identifier: BSD-3-Clause */
/* Traces of Portals programs: dates that add up, and a simulation that does not notice that it is traced. */
#include "world.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <simgrid/engine.h>

#include "base/config.h"
#include "lowlevel/trace/trace.h"

#define ME_OPTIONS (PTL_ME_OP_PUT | PTL_ME_EVENT_LINK_DISABLE | PTL_ME_EVENT_UNLINK_DISABLE)

enum { SMALL = 8, LARGE = 1 << 20 };

/* What the programs leave in the shared page. */
struct seen {
    double small, large, sent; /* when events were visible */
    double end[8];             /* of each rank */
    unsigned int nid[8];
};

static void put(struct endpoint *e, char *buffer, size_t bytes, int to, ptl_ack_req_t ack)
{
    CHECK(PtlPut(e->md, (ptl_size_t)(uintptr_t)buffer, bytes, ack, world_address(to), e->pt, 1, 0, NULL, 0) ==
          PTL_OK);
}

/* Rank 0 puts 8 B at date 0, and 1 MiB when rank 1 has seen them. */
static void two_puts(int rank, int size, void *shared)
{
    (void)size;
    struct seen *seen = shared;
    struct endpoint e;
    endpoint_open(&e, PTL_NI_MATCHING | PTL_NI_PHYSICAL, 0, 64);
    char *buffer = calloc(1, LARGE);
    pf_portals_free_mode(pf_self(), true);
    endpoint_append(&e, buffer, LARGE, ME_OPTIONS, 1, PTL_PRIORITY_LIST, NULL);
    pf_portals_free_mode(pf_self(), false);
    seen->nid[rank] = world_address(rank).phys.nid;
    world_barrier();
    if (rank == 0)
        put(&e, buffer, SMALL, 1, PTL_NO_ACK_REQ);
    endpoint_expect(&e, rank == 0 ? PTL_EVENT_SEND : PTL_EVENT_PUT);
    if (rank == 1)
        seen->small = simgrid_get_clock();
    world_barrier();
    if (rank == 0)
        put(&e, buffer, LARGE, 1, PTL_NO_ACK_REQ);
    endpoint_expect(&e, rank == 0 ? PTL_EVENT_SEND : PTL_EVENT_PUT);
    *(rank == 0 ? &seen->sent : &seen->large) = simgrid_get_clock();
    endpoint_close(&e);
    if (rank == 0)
        pf_trace_finish();
}

struct line {
    char type[32];
    int from_nid, from, to_nid, to; /* ranks without nid */
    double start, end;
    unsigned long bytes;
    char wire[32], attempt[8], outcome[16];
};

/* A node has one rank in these runs, so that no rank is unknown. */
static int read_lines(const char *path, struct line *lines, int most)
{
    char text[300];
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    assert_non_null(fgets(text, sizeof text, file));
    assert_string_equal(text, "type,initiator_nid,initiator_rank,target_nid,target_rank,start,end,bytes,"
                              "wire_bytes,attempt,outcome,model,phase,call,from_model\n");
    int count = 0;
    while (fgets(text, sizeof text, file)) {
        assert_true(count < most);
        struct line *l = &lines[count++];
        char *rest = text, *fields[11];
        for (int i = 0; i < 11; i++) {
            fields[i] = strsep(&rest, ",\n");
            assert_non_null(fields[i]);
        }
        snprintf(l->type, sizeof l->type, "%s", fields[0]);
        l->from_nid = atoi(fields[1]), l->from = atoi(fields[2]);
        l->to_nid = atoi(fields[3]), l->to = atoi(fields[4]);
        l->start = atof(fields[5]), l->end = atof(fields[6]);
        l->bytes = strtoul(fields[7], NULL, 10);
        snprintf(l->wire, sizeof l->wire, "%s", fields[8]);
        snprintf(l->attempt, sizeof l->attempt, "%s", fields[9]);
        snprintf(l->outcome, sizeof l->outcome, "%s", fields[10]);
    }
    fclose(file);
    return count;
}

/* The trace of the two puts, from the figures of the configuration. */
static struct line expected[32];
static int expected_count;

static double add(const char *type, int from, int to, double start, double duration, unsigned long bytes)
{
    struct line *l = &expected[expected_count++];
    snprintf(l->type, sizeof l->type, "%s", type);
    l->from = from;
    l->to = to;
    l->start = start;
    l->end = start + duration;
    l->bytes = bytes;
    return l->end;
}

static double pcie(double bytes)
{
    return bytes / pf_config.nic_pcie_bw + pf_config.nic_pcie_latency;
}

static const double wire_bw = 11.1e9, wire_latency = 2 * 500e-9; /* of the default world */

static double wire(double bytes)
{
    return bytes / wire_bw + wire_latency;
}

static double bxi_ack(int from, int to, double date)
{
    return add("BXI ACK", from, to, date, wire((double)pf_config.nic_e2e_ack_bytes), 0);
}

/* Returns when rank 1 sees the event. */
static double expect_small(double date)
{
    double event = pcie((double)pf_config.nic_event_bytes);
    date = add("PCIe command", 0, 0, date, pcie((double)pf_config.nic_command_bytes),
               pf_config.nic_command_bytes);
    date += pf_config.nic_tx_time + pf_config.nic_put_time;
    add("PCIe event", 0, 0, date, event, pf_config.nic_event_bytes);
    date = add("put", 0, 1, date, wire((double)pf_config.nic_header_bytes + SMALL), SMALL);
    bxi_ack(1, 0, date);
    date = add("PCIe payload write", 1, 1, date + pf_config.nic_rx_time, pcie(SMALL), SMALL);
    return add("PCIe event", 1, 1, date, event, pf_config.nic_event_bytes);
}

/* Returns when rank 0 sees its event. */
static double expect_large(double date, double *target_sees)
{
    double event = pcie((double)pf_config.nic_event_bytes);
    double packets = (LARGE - 1) / pf_config.nic_pcie_packet; /* after the first */
    double bytes =
        (double)pf_config.nic_header_bytes + LARGE + packets * (double)pf_config.nic_packet_overhead;
    date = add("PCIe command", 0, 0, date, pcie((double)pf_config.nic_command_bytes),
               pf_config.nic_command_bytes);
    date = add("DMA request", 0, 0, date + pf_config.nic_tx_time, pf_config.nic_pcie_latency, 0);
    double read = date, start = date + pcie((double)pf_config.nic_pcie_packet);
    add("DMA payload", 0, 0, read, start + bytes / wire_bw - read, LARGE);
    double arrived = add("put", 0, 1, start, wire(bytes), LARGE);
    bxi_ack(1, 0, arrived);
    double matched = start + wire_latency + pf_config.nic_rx_time;
    double written = arrived + pf_config.nic_rx_time + pcie((double)pf_config.nic_pcie_packet);
    add("PCIe payload write", 1, 1, matched, written - matched, LARGE);
    *target_sees = add("PCIe event", 1, 1, written, event, pf_config.nic_event_bytes);
    date = add("Portals ACK", 1, 0, *target_sees + pf_config.nic_tx_time + pf_config.nic_response_time,
               wire((double)pf_config.nic_ack_bytes), 0);
    bxi_ack(0, 1, date);
    return add("PCIe event", 0, 0, date + pf_config.nic_rx_time, event, pf_config.nic_event_bytes);
}

static int by_end(const void *a, const void *b)
{
    const struct line *x = a, *y = b;
    return x->end < y->end ? -1 : x->end > y->end;
}

static void assert_date(const char *what, double value, double wanted)
{
    if (fabs(value - wanted) > 2e-12)
        fail_msg("%s: %.12f s instead of %.12f s", what, value, wanted);
}

static char csv_setting[200], csv_path[128];

static const char *const *trace_to(const char *directory, const char *more)
{
    static const char *settings[3];
    snprintf(csv_path, sizeof csv_path, "%s/run.csv", directory);
    snprintf(csv_setting, sizeof csv_setting, "PARFOCAL_TRACE=csv:%s", csv_path);
    settings[0] = csv_setting;
    settings[1] = more;
    return settings;
}

static char directory[] = "/tmp/pf-test-trace-XXXXXX";

static void test_two_puts(void **state)
{
    (void)state;
    struct line lines[32];
    struct world world = {.nodes = 2, .settings = trace_to(directory, NULL)};
    assert_int_equal(world_run(&world, two_puts), 0);
    const struct seen *seen = world_shared();
    double target_sees;
    double small = expect_small(0.0), sent = expect_large(small, &target_sees);
    qsort(expected, (size_t)expected_count, sizeof *expected, by_end);
    int count = read_lines(csv_path, lines, 32);
    for (int i = 0; i < count && i < expected_count; i++) {
        const struct line *l = &lines[i], *e = &expected[i];
        assert_string_equal(l->type, e->type);
        assert_int_equal(l->from, e->from);
        assert_int_equal(l->from_nid, seen->nid[e->from]);
        assert_int_equal(l->to, e->to);
        assert_int_equal(l->to_nid, seen->nid[e->to]);
        assert_int_equal(l->bytes, e->bytes);
        assert_date(l->type, l->start, e->start);
        assert_date(l->type, l->end, e->end);
        assert_string_equal(l->outcome, "done");
        assert_string_equal(l->attempt, l->from == l->to ? "" : "1");
    }
    assert_int_equal(count, expected_count);
    /* The program sees the events when the trace says that they are there. */
    assert_date("8 B at the target", seen->small, small);
    assert_date("1 MiB at the target", seen->large, target_sees);
    assert_date("1 MiB at the initiator", seen->sent, sent);
}

enum { NODES = 4, ROUNDS = 40 };

/* All put to all, of all sizes, and waits for all acknowledgements now and then. */
static void storm(int rank, int size, void *shared)
{
    struct seen *seen = shared;
    static const size_t sizes[] = {8, 100, 600, 5000, 70000};
    struct endpoint e;
    endpoint_open(&e, PTL_NI_MATCHING | PTL_NI_PHYSICAL, 0, 4096);
    char *buffer = calloc(2, 70000);
    endpoint_append(&e, buffer + 70000, 70000, ME_OPTIONS | PTL_ME_EVENT_COMM_DISABLE, 1, PTL_PRIORITY_LIST,
                    NULL);
    world_barrier();
    for (int round = 0; round < ROUNDS; round++) {
        for (int to = 0; to < size; to++)
            put(&e, buffer, sizes[(round + rank * 3 + to) % 5], to, PTL_ACK_REQ);
        for (int events = 0; events < 2 * size; events++) {
            ptl_event_t event;
            CHECK(PtlEQWait(e.eq, &event) == PTL_OK);
        }
    }
    seen->end[rank] = simgrid_get_clock();
    endpoint_close(&e);
    if (rank == 0)
        pf_trace_finish();
}

/* Messages get lost, and their acknowledgements: each transmission is a line, and the dates of the program
 * are those of a run without a trace. */
static void test_losses(void **state)
{
    (void)state;
    static struct line lines[40000];
    static char loss[] = "PARFOCAL_NET_LOSS=0.02";
    const char *plain[] = {loss, NULL};
    struct world world = {.nodes = NODES, .settings = plain};
    assert_int_equal(world_run(&world, storm), 0);
    struct seen untraced = *(struct seen *)world_shared();
    world.settings = trace_to(directory, loss);
    assert_int_equal(world_run(&world, storm), 0);
    assert_memory_equal(untraced.end, ((struct seen *)world_shared())->end, sizeof untraced.end);
    int count = read_lines(csv_path, lines, 40000), lost = 0, again = 0, arrived = 0, acks_lost = 0;
    double end = 0.0;
    for (int i = 0; i < count; i++) {
        const struct line *l = &lines[i];
        bool is_lost = strcmp(l->outcome, "lost") == 0, is_put = strcmp(l->type, "put") == 0;
        assert_true(l->start <= l->end && l->end >= end);
        end = l->end;
        lost += is_put && is_lost;
        arrived += is_put && !is_lost;
        acks_lost += strcmp(l->type, "BXI ACK") == 0 && is_lost;
        again += is_put && atoi(l->attempt) > 1;
    }
    assert_true(lost > 0 && acks_lost > 0);
    assert_true(again >= lost); /* a message whose acknowledgement is lost is sent again too */
    assert_true(arrived >= NODES * NODES * ROUNDS);
}

/* The next event of this type; those for a free buffer come before or after it. */
static void await(struct endpoint *e, ptl_event_kind_t type)
{
    ptl_event_t event = {.type = PTL_EVENT_LINK};
    while (event.type != type) {
        CHECK(PtlEQWait(e->eq, &event) == PTL_OK);
        CHECK(event.ni_fail_type == PTL_NI_OK);
    }
}

/* One of each operation of Portals, from rank 0; every line of the trace is counted. */
static void all_operations(int rank, int size, void *shared)
{
    (void)size;
    struct endpoint e;
    endpoint_open(&e, PTL_NI_MATCHING | PTL_NI_PHYSICAL, 0, 64);
    static char buffer[2][4096];
    endpoint_append(&e, buffer[rank], sizeof buffer[rank],
                    ME_OPTIONS | PTL_ME_OP_GET | PTL_ME_EVENT_COMM_DISABLE, 1, PTL_PRIORITY_LIST, NULL);
    world_barrier();
    if (rank == 0) {
        ptl_process_t to = world_address(1);
        uint64_t operand = 5;
        ptl_size_t at = (ptl_size_t)(uintptr_t)buffer[0];
        CHECK(PtlGet(e.md, at, 3000, to, e.pt, 1, 0, NULL) == PTL_OK);
        await(&e, PTL_EVENT_REPLY);
        CHECK(PtlAtomic(e.md, at, 64, PTL_ACK_REQ, to, e.pt, 1, 0, NULL, 0, PTL_SUM, PTL_INT64_T) == PTL_OK);
        await(&e, PTL_EVENT_ACK);
        CHECK(PtlFetchAtomic(e.md, at, e.md, at, 16, to, e.pt, 1, 0, NULL, 0, PTL_SUM, PTL_INT64_T) ==
              PTL_OK);
        await(&e, PTL_EVENT_REPLY);
        CHECK(PtlSwap(e.md, at, e.md, at, 8, to, e.pt, 1, 0, NULL, 0, &operand, PTL_CSWAP, PTL_INT64_T) ==
              PTL_OK);
        await(&e, PTL_EVENT_REPLY);
        put(&e, buffer[0], 800, 1, PTL_ACK_REQ);
        await(&e, PTL_EVENT_ACK);
        pf_portals_counters(pf_self(), shared);
    }
    endpoint_close(&e);
    if (rank == 0)
        pf_trace_finish();
}

static int count_lines(const struct line *lines, int count, const char *type, int from, unsigned long *bytes)
{
    int found = 0;
    for (int i = 0; i < count; i++) {
        if (strcmp(lines[i].type, type) != 0 || lines[i].from != from)
            continue;
        found++;
        *bytes += lines[i].bytes;
    }
    return found;
}

static void test_all_operations(void **state)
{
    (void)state;
    static const struct {
        const char *type;
        int from, count;
        unsigned long bytes;
    } wanted[] = {
        {"get", 0, 1, 0},
        {"get response", 1, 1, 3000},
        {"atomic", 0, 1, 64},
        {"fetch-atomic", 0, 1, 16},
        {"fetch-atomic response", 1, 1, 16},
        {"swap", 0, 1, 8},
        {"swap response", 1, 1, 8},
        {"put", 0, 1, 800},
        {"Portals ACK", 1, 2, 0},
        {"BXI ACK", 0, 5, 0},
        {"BXI ACK", 1, 5, 0},
        {"PIO payload", 0, 0, 0},
        {"DMA request", 0, 3, 0},
        {"DMA payload", 0, 3, 64 + 16 + 800},
        {"DMA request", 1, 3, 0},
        {"DMA payload", 1, 3, 3000 + 16 + 8},
        {"PCIe payload write", 0, 3, 3000 + 16 + 8},
        {"PCIe payload write", 1, 4, 64 + 16 + 8 + 800},
        {"PCIe event", 1, 0, 0},
        {"compute", 0, 0, 0},
    };
    struct line lines[100];
    struct world world = {.nodes = 2, .settings = trace_to(directory, NULL)};
    assert_int_equal(world_run(&world, all_operations), 0);
    int count = read_lines(csv_path, lines, 100);
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
        unsigned long bytes = 0;
        int found = count_lines(lines, count, wanted[i].type, wanted[i].from, &bytes);
        if (found != wanted[i].count || bytes != wanted[i].bytes)
            fail_msg("%s from rank %d: %d lines and %lu B instead of %d and %lu B", wanted[i].type,
                     wanted[i].from, found, bytes, wanted[i].count, wanted[i].bytes);
    }
    const struct pf_portals_counters *counters = world_shared();
    assert_int_equal(counters->bytes_put, 64 + 16 + 8 + 800);
    assert_int_equal(counters->bytes_got, 3000 + 16 + 8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_two_puts),
        cmocka_unit_test(test_losses),
        cmocka_unit_test(test_all_operations),
    };
    if (!mkdtemp(directory))
        return 1;
    int failures = cmocka_run_group_tests(tests, NULL, NULL);
    unlink(csv_path);
    rmdir(directory);
    return failures;
}
