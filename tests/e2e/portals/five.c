/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The five benchmarks of the thesis (experiments/nic) against the closed forms of docs/accuracy.md, at all 64
 * sizes, and where their curves jump. The constants come from the configuration table: a change of
 * a default needs no change here, a change of the model does.
 */
#include "world.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <simgrid/actor.h>
#include <simgrid/engine.h>

#include "experiments/nic/five.h"

/* The platform of world.h, the peer's "quito": from node to node two links. */
static const double wire_rate = 11.1e9, wire_latency = 2 * 500e-9;

static double setting(const char *name)
{
    static const struct {
        const char *name, *value;
    } defaults[] = {
#define PF_CFG(type, field, value, unit, range, help) {#field, #value},
#include "base/config.def"
#undef PF_CFG
    };
    for (size_t i = 0; i < sizeof defaults / sizeof defaults[0]; i++)
        if (strcmp(defaults[i].name, name) == 0)
            return atof(defaults[i].value);
    fail_msg("no entry %s in the configuration", name);
    return NAN;
}

/* How a payload leaves the memory. */
enum way { INLINE, DMA };

static enum way way_of(double bytes, bool matching)
{
    return bytes <= setting("nic_inline_max") + (matching ? 0 : 8) ? INLINE : DMA;
}

static double pcie(double bytes)
{
    return bytes / setting("nic_pcie_bw");
}

static double posted(double bytes)
{
    return pcie(bytes) + setting("nic_pcie_latency");
}

static double command(void)
{
    return posted(setting("nic_command_bytes"));
}

static double event(void)
{
    return posted(setting("nic_event_bytes"));
}

static double first_packet(double bytes)
{
    return pcie(fmin(bytes, setting("nic_pcie_packet")));
}

static double serialisation(double bytes)
{
    double more =
        bytes > 0 ? floor((bytes - 1) / setting("nic_pcie_packet")) * setting("nic_packet_overhead") : 0;
    return (setting("nic_header_bytes") + bytes + more) / wire_rate;
}

static double read_by_dma(double bytes)
{
    return 2 * setting("nic_pcie_latency") + first_packet(bytes);
}

/* From PtlPut to the wire. */
static double leave(double bytes, bool matching)
{
    double date = command() + setting("nic_tx_time");
    return date + (way_of(bytes, matching) == INLINE ? setting("nic_put_time") : read_by_dma(bytes));
}

/* From the first byte on the wire to the last byte in memory. */
static double deliver(double bytes, bool streams)
{
    double written = streams ? setting("nic_pcie_latency") + first_packet(bytes) : posted(bytes);
    return serialisation(bytes) + wire_latency + setting("nic_rx_time") + written;
}

static double acknowledge(void)
{
    return setting("nic_tx_time") + setting("nic_response_time") + setting("nic_ack_bytes") / wire_rate +
           wire_latency + setting("nic_rx_time");
}

static double put(double bytes, bool matching)
{
    return leave(bytes, matching) + deliver(bytes, way_of(bytes, matching) == DMA) + acknowledge();
}

static double get(double bytes)
{
    return command() + setting("nic_tx_time") + setting("nic_get_time") + serialisation(0) + wire_latency +
           setting("nic_rx_time") + setting("nic_tx_time") + read_by_dma(bytes) + deliver(bytes, true);
}

/* The slowest stage: what one more message costs when the next does not wait for it. With end-to-end
 * reliability its direction of the wire carries an acknowledgement per message too, of what comes back. */
static double period(double bytes, bool e2e)
{
    double more = e2e ? setting("nic_e2e_ack_bytes") / wire_rate : 0;
    return fmax(fmax(setting("nic_tx_gap"), setting("nic_rx_gap")), serialisation(bytes) + more);
}

static double expected(enum five_kind kind, double bytes, bool matching, long count, bool e2e)
{
    bool keeps = bytes <= setting("nic_early_send");
    double n = (double)count;
    switch (kind) {
    case FIVE_PUT_WAIT_ACK: /* above the size that the NIC keeps, the SEND event goes before the ACK event */
        return n * (put(bytes, matching) + event() + (keeps ? 0 : pcie(setting("nic_event_bytes"))));
    case FIVE_PUT_WAIT_SEND:
        return n * ((keeps ? leave(bytes, matching) : put(bytes, matching)) + event());
    case FIVE_GET_WAIT_REPLY:
        return n * (get(bytes) + event());
    case FIVE_PUT_NO_WAIT:
        return put(bytes, matching) + event() + (n - 1) * period(bytes, e2e);
    case FIVE_GET_NO_WAIT:
        return get(bytes) + event() + (n - 1) * period(bytes, e2e);
    default:
        return NAN;
    }
}

/* What a child measures: seconds of `count` requests for each of these sizes. */
enum { MOST_SIZES = 500 };
static ptl_size_t sizes[MOST_SIZES];
static int size_count;
static long count;
static enum five_kind kind;
static bool matching;

static void program(int rank, int size, void *shared)
{
    (void)size;
    static char *memory;
    if (!memory)
        memory = calloc(1, FIVE_LARGEST);
    ptl_handle_ni_t ni;
    struct five f;
    CHECK(PtlInit() == PTL_OK);
    CHECK(PtlNIInit(PTL_IFACE_DEFAULT, (matching ? PTL_NI_MATCHING : PTL_NI_NO_MATCHING) | PTL_NI_PHYSICAL,
                    PTL_PID_ANY, NULL, NULL, &ni) == PTL_OK);
    CHECK(five_open(&f, ni, matching, memory, memory, FIVE_LARGEST) == PTL_OK);
    for (int i = 0; i < size_count; i++) {
        sg_actor_sleep_for(1e-3); /* until nothing is on its way */
        world_barrier();
        double begin = simgrid_get_clock();
        if (rank == 0)
            CHECK(five_run(&f, kind, world_address(1), sizes[i], count) == PTL_OK);
        if (rank == 0)
            ((double *)shared)[i] = simgrid_get_clock() - begin;
    }
    world_barrier();
    CHECK(PtlNIFini(ni) == PTL_OK);
    PtlFini();
}

static bool without_e2e;

static const double *measure(enum five_kind of, bool with_matching, long requests)
{
    static const char *const no_e2e[] = {"PARFOCAL_NIC_E2E=no", NULL};
    struct world world = {.nodes = 2, .settings = without_e2e ? no_e2e : NULL};
    kind = of;
    matching = with_matching;
    count = requests;
    assert_int_equal(world_run(&world, program), 0);
    return world_shared();
}

static bool in_flight_alone(enum five_kind of)
{
    return of != FIVE_PUT_NO_WAIT && of != FIVE_GET_NO_WAIT;
}

/* The largest relative difference from the closed form over all sizes. */
static double largest_error(enum five_kind of, bool with_matching, long requests)
{
    const double rounding = 1e-13; /* s, of the clock when it adds up some hundred messages */
    const double *times = measure(of, with_matching, requests);
    double largest = 0.0;
    for (int i = 0; i < FIVE_SIZES; i++) {
        double value = expected(of, (double)sizes[i], with_matching, requests, false);
        double error = fabs(times[i] - value);
        if (error > 1e-9 * value + rounding)
            print_message("%s, %zu B: %.15g s instead of %.15g s\n", five_names[of], (size_t)sizes[i],
                          times[i], value);
        largest = fmax(largest, (error - rounding) / value);
    }
    print_message("%-13s %s, reliability %s: %s\n", five_names[of],
                  with_matching ? "matching" : "non-matching", without_e2e ? "off" : "on",
                  largest <= 1e-9 ? "as the closed form" : "NOT as the closed form");
    return largest;
}

/* Reliability costs nothing while one message is in flight. Streams have the closed form without it. */
static void check_closed_forms(bool with_matching)
{
    enum { COUNT = 300 };
    double worst = 0.0;
    five_sizes(sizes);
    size_count = FIVE_SIZES;
    for (int of = 0; of < FIVE_KINDS; of++) {
        without_e2e = true;
        worst = fmax(worst, largest_error(of, with_matching, COUNT));
        without_e2e = false;
        if (in_flight_alone(of))
            worst = fmax(worst, largest_error(of, with_matching, COUNT));
    }
    assert_true(worst <= 1e-9);
}

static void test_closed_forms(void **state)
{
    (void)state;
    check_closed_forms(true);
}

static void test_closed_forms_without_matching(void **state)
{
    (void)state;
    check_closed_forms(false);
}

/* Where the time of one request jumps from a size to the next one, by more than bytes on the slowest way
 * cost. */
static int find_jumps(enum five_kind of, bool with_matching, ptl_size_t up_to, ptl_size_t *jumps, int most)
{
    int found = 0;
    const double one_byte = 1 / wire_rate + 2 * pcie(1);
    for (ptl_size_t first = 1; first < up_to; first += MOST_SIZES - 1) {
        for (size_count = 0; size_count < MOST_SIZES; size_count++)
            sizes[size_count] = first + (ptl_size_t)size_count;
        const double *times = measure(of, with_matching, 1);
        for (int i = 0; i + 1 < MOST_SIZES && sizes[i] < up_to; i++) {
            assert_true(times[i + 1] >= times[i] - 1e-15); /* rounding of the clock */
            if (times[i + 1] - times[i] < 2 * one_byte)
                continue;
            assert_true(found < most);
            jumps[found++] = sizes[i];
        }
    }
    return found;
}

static void assert_jumps(enum five_kind of, bool with_matching, const ptl_size_t *expected_jumps, int number)
{
    ptl_size_t jumps[16];
    int found = find_jumps(of, with_matching, 1100, jumps, 16);
    for (int i = 0; i < found; i++)
        print_message("%s, %s: jumps above %zu B\n", five_names[of],
                      with_matching ? "matching" : "non-matching", (size_t)jumps[i]);
    assert_int_equal(found, number);
    assert_memory_equal(jumps, expected_jumps, (size_t)number * sizeof *jumps);
}

/* Inline and DMA, the NIC's own copy (64 B), and a little (a header) at each further packet of 512 B. */
static void test_jumps(void **state)
{
    (void)state;
    static const ptl_size_t put_matching[] = {8, 64, 512, 1024}, put_plain[] = {16, 64, 512, 1024},
                            gets[] = {512, 1024};
    assert_jumps(FIVE_PUT_WAIT_ACK, true, put_matching, 4);
    assert_jumps(FIVE_PUT_WAIT_SEND, true, put_matching, 4);
    assert_jumps(FIVE_GET_WAIT_REPLY, true, gets, 2);
    assert_jumps(FIVE_PUT_WAIT_ACK, false, put_plain, 4);
    assert_jumps(FIVE_PUT_WAIT_SEND, false, put_plain, 4);
    assert_jumps(FIVE_GET_WAIT_REPLY, false, gets, 2);
}

/* All long messages come close to the rate of the wire, and none above it. */
static void test_asymptote(void **state)
{
    (void)state;
    enum { COUNT = 20 };
    sizes[0] = FIVE_LARGEST;
    size_count = 1;
    for (int of = 0; of < FIVE_KINDS; of++) {
        double rate = COUNT * (double)FIVE_LARGEST / measure(of, true, COUNT)[0];
        assert_true(rate < wire_rate);
        assert_true(rate > 0.96 * wire_rate);
    }
}

/*
 * With reliability the wire also carries acknowledgements of what comes back: at most one per message, and
 * fewer when the processor gives commands faster than the wire takes them, because those queue up first.
 */
static void test_stream_with_reliability(void **state)
{
    (void)state;
    enum { COUNT = 3000 };
    static const ptl_size_t some[] = {1, 8, 9, 64, 65, 408, 409, 512, 513, 4096, 4097, 65536};
    double first[sizeof some / sizeof some[0]];
    size_count = sizeof some / sizeof some[0];
    memcpy(sizes, some, sizeof some);
    for (int of = 0; of < FIVE_KINDS; of++) {
        if (in_flight_alone(of))
            continue;
        memcpy(first, measure(of, true, COUNT), sizeof first);
        const double *times = measure(of, true, 2 * COUNT);
        for (int i = 0; i < size_count; i++) {
            double slope = (times[i] - first[i]) / COUNT, bytes = (double)sizes[i];
            print_message("%s, %zu B: %.4g ns per message, of %.4g to %.4g\n", five_names[of],
                          (size_t)sizes[i], 1e9 * slope, 1e9 * period(bytes, false),
                          1e9 * period(bytes, true));
            assert_true(slope >= period(bytes, false) * (1 - 1e-6));
            assert_true(slope <= period(bytes, true) * (1 + 1e-3));
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_jumps),
        cmocka_unit_test(test_asymptote),
        cmocka_unit_test(test_stream_with_reliability),
        cmocka_unit_test(test_closed_forms),
        cmocka_unit_test(test_closed_forms_without_matching),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
