/* SPDX-License-Identifier: BSD-3-Clause */
/* What the NIC makes of a network that loses messages: everything happens exactly once and in order, or the
 * initiator gets an event when it does not. */
#include "world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <simgrid/actor.h>
#include <simgrid/engine.h>

#define NI_OPTIONS (PTL_NI_MATCHING | PTL_NI_PHYSICAL)
#define QUIET      (PTL_ME_EVENT_LINK_DISABLE | PTL_ME_EVENT_UNLINK_DISABLE)
#define ENTRY      (PTL_ME_OP_PUT | PTL_ME_OP_GET | QUIET)
#define MIB        ((size_t)1 << 20)

/* Sizes for each way in which a payload moves. */
static const size_t sizes[] = {8, 64, 65, 400, 2000, 5000, 100000};
enum { SIZES = sizeof sizes / sizeof sizes[0], ROUNDS = 70, PLACES = 100000 };

/* Bits of the entries. */
enum { INBOX = 1, COUNTER, SOURCE, SWAPPED };

struct counts {
    int put, send, ack, reply, undeliverable;
};

static ptl_size_t address(const void *memory)
{
    return (ptl_size_t)(uintptr_t)memory;
}

/* The payload of the put with this number: nothing else looks like it. */
static void paint(unsigned char *to, size_t bytes, int rank, int number)
{
    for (size_t i = 0; i < bytes; i++)
        to[i] = (unsigned char)(i * 7 + (size_t)number * 13 + (size_t)rank * 101 + 1);
}

static int is_painted(const unsigned char *from, size_t bytes, int rank, int number)
{
    for (size_t i = 0; i < bytes; i++)
        if (from[i] != (unsigned char)(i * 7 + (size_t)number * 13 + (size_t)rank * 101 + 1))
            return 0;
    return 1;
}

/* The next event of the queue that is not one of those at the target. Puts must come in order, each with its
 * payload. */
static void take(struct endpoint *e, struct counts *counts, unsigned char *inbox, int peer)
{
    ptl_event_t event;
    CHECK(PtlEQWait(e->eq, &event) == PTL_OK);
    CHECK(event.ni_fail_type == PTL_NI_OK);
    switch (event.type) {
    case PTL_EVENT_PUT:
        CHECK((int)event.hdr_data == counts->put);
        CHECK(event.mlength == sizes[counts->put % SIZES]);
        CHECK(is_painted(inbox + counts->put % SIZES * PLACES, event.mlength, peer, counts->put));
        counts->put++;
        break;
    case PTL_EVENT_SEND:
        counts->send++;
        break;
    case PTL_EVENT_ACK:
        counts->ack++;
        break;
    case PTL_EVENT_REPLY:
        counts->reply++;
        break;
    default:
        CHECK(!"an event of this kind");
    }
}

/*
 * Both ranks put to each other, many at a time, in one channel; the receiver checks number, order, payload.
 * The buffers at both ends belong to their size, so that a late or a second delivery would show.
 */
static void program_puts(int rank, int size, void *shared)
{
    (void)size;
    struct endpoint e;
    endpoint_open(&e, NI_OPTIONS, 0, 4096);
    unsigned char *inbox = calloc(SIZES, PLACES), *outbox = calloc(ROUNDS, PLACES);
    endpoint_append(&e, inbox, SIZES * PLACES, ENTRY, INBOX, PTL_PRIORITY_LIST, NULL);
    world_barrier();
    struct counts counts = {0};
    for (int i = 0; i < ROUNDS; i++) {
        /* One window of each size, so that the receiver has looked before the place is written again. */
        while (i % SIZES == 0 && (counts.ack < i || counts.put < i))
            take(&e, &counts, inbox, 1 - rank);
        unsigned char *payload = outbox + (size_t)i * PLACES;
        paint(payload, sizes[i % SIZES], rank, i);
        CHECK(PtlPut(e.md, address(payload), sizes[i % SIZES], PTL_ACK_REQ, world_address(1 - rank), e.pt,
                     INBOX, (ptl_size_t)(i % SIZES) * PLACES, NULL, (ptl_hdr_data_t)i) == PTL_OK);
    }
    while (counts.put < ROUNDS || counts.send < ROUNDS || counts.ack < ROUNDS)
        take(&e, &counts, inbox, 1 - rank);
    ((double *)shared)[rank] = simgrid_get_clock();
    world_barrier();
    sg_actor_sleep_for(1000); /* what is still sent again must not show */
    ptl_event_t event;
    CHECK(PtlEQGet(e.eq, &event) == PTL_EQ_EMPTY);
    CHECK(counts.put == ROUNDS && counts.send == ROUNDS && counts.ack == ROUNDS);
    endpoint_close(&e);
}

/* A hundred short ones behind each other without waiting: order over many losses in one flight. */
static void program_burst(int rank, int size, void *shared)
{
    (void)size, (void)shared;
    enum { BURST = 300 };
    struct endpoint e;
    endpoint_open(&e, NI_OPTIONS, 0, 4096);
    uint64_t inbox[4] = {0}, numbers[BURST];
    endpoint_append(&e, inbox, sizeof inbox, ENTRY, INBOX, PTL_PRIORITY_LIST, NULL);
    world_barrier();
    for (int i = 0; rank == 0 && i < BURST; i++) {
        numbers[i] = (uint64_t)i;
        CHECK(PtlPut(e.md, address(&numbers[i]), 8, PTL_NO_ACK_REQ, world_address(1), e.pt, INBOX, 0, NULL,
                     (ptl_hdr_data_t)i) == PTL_OK);
    }
    for (int i = 0; i < BURST; i++) {
        ptl_event_t event = endpoint_expect(&e, rank == 0 ? PTL_EVENT_SEND : PTL_EVENT_PUT);
        CHECK(rank == 0 || (int)event.hdr_data == i);
    }
    world_barrier();
    sg_actor_sleep_for(1000);
    ptl_event_t event;
    CHECK(PtlEQGet(e.eq, &event) == PTL_EQ_EMPTY);
    CHECK(rank == 0 || inbox[0] == BURST - 1);
    endpoint_close(&e);
}

/* Gets, atomics, fetching atomics and swaps: what is applied twice or never gives another sum. */
static void program_others(int rank, int size, void *shared)
{
    (void)size, (void)shared;
    enum { COUNT = 40, GET = 20000 };
    struct endpoint e;
    endpoint_open(&e, NI_OPTIONS, 0, 4096);
    int64_t counter[2] = {0, 0}, swapped = -1, operand = 1, fetched[COUNT], olds[COUNT], news[COUNT];
    unsigned char *source = calloc(1, GET), *got = calloc(COUNT, GET);
    paint(source, GET, rank, 5);
    endpoint_append(&e, counter, sizeof counter, ENTRY | PTL_ME_EVENT_COMM_DISABLE, COUNTER,
                    PTL_PRIORITY_LIST, NULL);
    endpoint_append(&e, source, GET, ENTRY | PTL_ME_EVENT_COMM_DISABLE, SOURCE, PTL_PRIORITY_LIST, NULL);
    endpoint_append(&e, &swapped, sizeof swapped, ENTRY | PTL_ME_EVENT_COMM_DISABLE, SWAPPED,
                    PTL_PRIORITY_LIST, NULL);
    world_barrier();
    ptl_process_t peer = world_address(1 - rank);
    for (int i = 0; i < COUNT; i++) {
        news[i] = i;
        CHECK(PtlAtomic(e.md, address(&operand), 8, PTL_ACK_REQ, peer, e.pt, COUNTER, 0, NULL, 0, PTL_SUM,
                        PTL_INT64_T) == PTL_OK);
        CHECK(PtlFetchAtomic(e.md, address(&fetched[i]), e.md, address(&operand), 8, peer, e.pt, COUNTER, 8,
                             NULL, 0, PTL_SUM, PTL_INT64_T) == PTL_OK);
        CHECK(PtlSwap(e.md, address(&olds[i]), e.md, address(&news[i]), 8, peer, e.pt, SWAPPED, 0, NULL, 0,
                      NULL, PTL_SWAP, PTL_INT64_T) == PTL_OK);
        CHECK(PtlGet(e.md, address(got + (size_t)i * GET), i % 2 ? GET : 100, peer, e.pt, SOURCE, 0, NULL) ==
              PTL_OK);
    }
    struct counts counts = {0};
    while (counts.send < 3 * COUNT || counts.ack < COUNT || counts.reply < 3 * COUNT)
        take(&e, &counts, NULL, 0);
    world_barrier();
    sg_actor_sleep_for(1000);
    CHECK(counts.send == 3 * COUNT && counts.ack == COUNT && counts.reply == 3 * COUNT);
    CHECK(counter[0] == COUNT && counter[1] == COUNT && swapped == COUNT - 1);
    for (int i = 0; i < COUNT; i++) {
        CHECK(fetched[i] == i && olds[i] == i - 1);
        CHECK(is_painted(got + (size_t)i * GET, i % 2 ? GET : 100, 1 - rank, 5));
    }
    ptl_event_t event;
    CHECK(PtlEQGet(e.eq, &event) == PTL_EQ_EMPTY);
    endpoint_close(&e);
}

static const world_program programs[] = {program_puts, program_burst, program_others};
enum { PROGRAMS = sizeof programs / sizeof programs[0] };

static void run_all(const struct world *world)
{
    for (int i = 0; i < PROGRAMS; i++)
        assert_int_equal(world_run(world, programs[i]), 0);
}

static void test_random_loss(void **state)
{
    (void)state;
    static const char *const losses[] = {"0.05", "0.1", "0.2"};
    for (int i = 0; i < 3; i++)
        for (int seed = 1; seed <= 3; seed++) {
            char loss[64], start[64];
            snprintf(loss, sizeof loss, "PARFOCAL_NET_LOSS=%s", losses[i]);
            snprintf(start, sizeof start, "PARFOCAL_NET_LOSS_SEED=%d", seed);
            const char *settings[] = {loss, start, "PARFOCAL_NIC_RETRIES=30", NULL};
            run_all(&(struct world){.nodes = 2, .settings = settings});
        }
    static const char *const ideal[] = {"PARFOCAL_NET_LOSS=0.2", "PARFOCAL_NIC_RETRIES=30",
                                        "PARFOCAL_NET_MODEL=ideal", NULL};
    run_all(&(struct world){.nodes = 2, .settings = ideal});
}

/* With limits that are always reached: entries and permissions to send come back after losses too. */
static void test_loss_at_the_limits(void **state)
{
    (void)state;
    static const char *const table[] = {"PARFOCAL_NET_LOSS=0.1", "PARFOCAL_NIC_RETRIES=30",
                                        "PARFOCAL_NIC_E2E_ENTRIES=5", NULL};
    run_all(&(struct world){.nodes = 2, .settings = table});
    static const char *const window[] = {"PARFOCAL_NET_LOSS=0.1", "PARFOCAL_NIC_RETRIES=30",
                                         "PARFOCAL_NIC_MAX_IN_FLIGHT=3", "PARFOCAL_NIC_FLOW_CONTROL=process",
                                         NULL};
    run_all(&(struct world){.nodes = 2, .settings = window});
    static const char *const streams[] = {"PARFOCAL_NET_LOSS=0.1", "PARFOCAL_NIC_RETRIES=30",
                                          "PARFOCAL_NIC_STREAMS=3", NULL};
    if (world_packet() <= 0) /* which refuses several streams at once */
        run_all(&(struct world){.nodes = 2, .settings = streams});
    static const char *const short_time[] = {"PARFOCAL_NET_LOSS=0.1", "PARFOCAL_NIC_RETRIES=30",
                                             "PARFOCAL_NIC_RETRY_TIMEOUT=20e-6", NULL};
    run_all(&(struct world){.nodes = 2, .settings = short_time});
    static const char *const quick[] = {"PARFOCAL_NET_LOSS=0.1", "PARFOCAL_NIC_RETRIES=30",
                                        "PARFOCAL_NIC_QUICK_ACKS=yes", "PARFOCAL_NIC_PCIE=no", NULL};
    run_all(&(struct world){.nodes = 2, .settings = quick});
}

/* The same seed gives the same run, another seed another one. */
static void test_repeatable(void **state)
{
    (void)state;
    static const char *const first[] = {"PARFOCAL_NET_LOSS=0.1", "PARFOCAL_NIC_RETRIES=30",
                                        "PARFOCAL_NET_LOSS_SEED=7", NULL};
    static const char *const second[] = {"PARFOCAL_NET_LOSS=0.1", "PARFOCAL_NIC_RETRIES=30",
                                         "PARFOCAL_NET_LOSS_SEED=8", NULL};
    struct world world = {.nodes = 2, .settings = first};
    assert_int_equal(world_run(&world, program_puts), 0);
    double end = *(double *)world_shared();
    assert_true(end > 10.0); /* something was lost, and cost a time-out */
    assert_int_equal(world_run(&world, program_puts), 0);
    assert_true(*(double *)world_shared() == end);
    world.settings = second;
    assert_int_equal(world_run(&world, program_puts), 0);
    assert_true(*(double *)world_shared() != end);
}

/* The link's own property, on one of two ways. */
static void test_link_property(void **state)
{
    (void)state;
    static const char zones[] =
        "<zone id=\"world\" routing=\"Full\">\n"
        "<host id=\"node-0\" speed=\"1Gf\"/><host id=\"node-1\" speed=\"1Gf\"/>\n"
        "<link id=\"good\" bandwidth=\"11.1GBps\" latency=\"500ns\"/>\n"
        "<link id=\"bad\" bandwidth=\"11.1GBps\" latency=\"500ns\"><prop id=\"loss\" value=\"%s\"/></link>\n"
        "<route src=\"node-0\" dst=\"node-1\" symmetrical=\"NO\"><link_ctn id=\"bad\"/></route>\n"
        "<route src=\"node-1\" dst=\"node-0\" symmetrical=\"NO\"><link_ctn id=\"good\"/></route>\n"
        "</zone>\n";
    static const char *const patient[] = {"PARFOCAL_NIC_RETRIES=30", NULL};
    char text[2000], errors[1000];
    snprintf(text, sizeof text, zones, "0.15");
    struct world world = {.nodes = 2, .platform = text, .settings = patient};
    run_all(&world);
    assert_int_equal(world_run(&world, program_puts), 0);
    assert_true(*(double *)world_shared() > 10.0);
    snprintf(text, sizeof text, zones, "0");
    assert_int_equal(world_run(&world, program_puts), 0);
    assert_true(*(double *)world_shared() < 1.0);
    snprintf(text, sizeof text, zones, "often");
    assert_int_not_equal(world_run_text(&world, program_puts, errors, sizeof errors), 0);
    assert_non_null(strstr(errors, "link bad"));
}

/* A link that is down now and then, while messages wait, stream and are acknowledged. */
static void test_link_down(void **state)
{
    (void)state;
    static const char *const patient[] = {"PARFOCAL_NIC_RETRIES=30", "PARFOCAL_NIC_RETRY_TIMEOUT=1e-3", NULL};
    struct world world = {.nodes = 2, .settings = patient};
    static const char *const profiles[] = {
        "0.000001 0\n0.000003 1\n",
        "0.0000021 0\n0.02 1\n",
        "0.000012 0\n0.000020 1\n0.000031 0\n0.002 1\n0.0020203 0\n0.003 1\n0.00301 0\n0.02 1\n",
    };
    for (size_t i = 0; i < sizeof profiles / sizeof profiles[0]; i++) {
        world.down_link = profiles[i];
        run_all(&world);
    }
    enum { PERIODS = 200, LINE = 40 };
    static char often[PERIODS * LINE];
    size_t used = 0;
    for (int i = 0; i < PERIODS; i++)
        used += (size_t)snprintf(often + used, sizeof often - used, "%.6f 0\n%.6f 1\n", 5e-6 + i * 23e-6,
                                 7e-6 + i * 23e-6);
    world.down_link = often;
    run_all(&world);
    static const char *const at_once[] = {"PARFOCAL_NIC_RETRIES=30", "PARFOCAL_NIC_RETRY_TIMEOUT=1e-3",
                                          "PARFOCAL_NIC_STREAMS=0", NULL};
    if (world_packet() <= 0)
        run_all(&(struct world){.nodes = 2, .settings = at_once, .down_link = often});
    assert_int_equal(world_run(&world, program_puts), 0);
    assert_true(*(double *)world_shared() > 1e-3); /* a time-out was among it */
}

/* All tries are in vain: the initiator of every operation gets an event, once, and in order. */
static void program_broken(int rank, int size, void *shared)
{
    (void)size;
    enum { COUNT = 5 };
    struct endpoint e;
    endpoint_open(&e, NI_OPTIONS, 0, 64);
    static unsigned char data[100000];
    if (rank == 0) {
        sg_actor_sleep_for(1.0);
        ptl_process_t peer = world_address(1);
        ptl_event_t event;
        for (int i = 0; i < COUNT; i++)
            CHECK(PtlPut(e.md, address(data), sizes[i + 2], PTL_ACK_REQ, peer, e.pt, 1, 0,
                         (void *)(uintptr_t)i, 0) == PTL_OK);
        for (int i = 0; i < COUNT; i++) {
            CHECK(PtlEQWait(e.eq, &event) == PTL_OK && event.ni_fail_type == PTL_NI_UNDELIVERABLE);
            CHECK(event.type == PTL_EVENT_SEND && event.user_ptr == (void *)(uintptr_t)i);
            CHECK(PtlEQWait(e.eq, &event) == PTL_OK && event.ni_fail_type == PTL_NI_UNDELIVERABLE);
            CHECK(event.type == PTL_EVENT_ACK && event.user_ptr == (void *)(uintptr_t)i);
        }
        *(double *)shared = simgrid_get_clock() - 1.0;
        CHECK(PtlGet(e.md, address(data), 100, peer, e.pt, 1, 0, NULL) == PTL_OK);
        CHECK(PtlEQWait(e.eq, &event) == PTL_OK && event.type == PTL_EVENT_REPLY);
        CHECK(event.ni_fail_type == PTL_NI_UNDELIVERABLE);
        CHECK(PtlFetchAtomic(e.md, address(data), e.md, address(data + 8), 8, peer, e.pt, 1, 0, NULL, 0,
                             PTL_SUM, PTL_INT64_T) == PTL_OK);
        endpoint_expect(&e, PTL_EVENT_SEND); /* the NIC has kept the operand */
        CHECK(PtlEQWait(e.eq, &event) == PTL_OK && event.type == PTL_EVENT_REPLY);
        CHECK(event.ni_fail_type == PTL_NI_UNDELIVERABLE);
    }
    endpoint_close(&e);
}

static void test_undeliverable(void **state)
{
    (void)state;
    struct world world = {.nodes = 2, .down_link = "0.0001 0\n"};
    assert_int_equal(world_run(&world, program_broken), 0);
    double time = *(double *)world_shared();
    assert_true(time > 60.0 && time < 60.001); /* one try and five more, ten seconds each */
    static const char *const twice[] = {"PARFOCAL_NIC_RETRIES=1", "PARFOCAL_NIC_RETRY_TIMEOUT=3", NULL};
    world.settings = twice;
    assert_int_equal(world_run(&world, program_broken), 0);
    time = *(double *)world_shared();
    assert_true(time > 6.0 && time < 6.001);
}

/* The way back is broken: the operation has happened, once, and the initiator cannot know. */
static void program_no_way_back(int rank, int size, void *shared)
{
    (void)size, (void)shared;
    struct endpoint e;
    endpoint_open(&e, NI_OPTIONS, 0, 64);
    int64_t counter = 0, operand = 1;
    endpoint_append(&e, &counter, 8, ENTRY | PTL_ME_EVENT_COMM_DISABLE, 1, PTL_PRIORITY_LIST, NULL);
    world_barrier();
    sg_actor_sleep_for(1.0);
    if (rank == 1) { /* the last node: what comes to it is lost */
        ptl_event_t event;
        CHECK(PtlAtomic(e.md, address(&operand), 8, PTL_ACK_REQ, world_address(0), e.pt, 1, 0, NULL, 0,
                        PTL_SUM, PTL_INT64_T) == PTL_OK);
        endpoint_expect(&e, PTL_EVENT_SEND);
        CHECK(PtlEQWait(e.eq, &event) == PTL_OK && event.type == PTL_EVENT_ACK);
        CHECK(event.ni_fail_type == PTL_NI_UNDELIVERABLE);
    }
    sg_actor_sleep_for(1000);
    CHECK(counter == (rank == 0));
    endpoint_close(&e);
}

static void test_no_way_back(void **state)
{
    (void)state;
    struct world world = {.nodes = 2, .down_link = "0.0001 0\n"};
    assert_int_equal(world_run(&world, program_no_way_back), 0);
}

/* Without end-to-end reliability what is lost is lost: no event, and the rest goes on. */
static void program_unreliable(int rank, int size, void *shared)
{
    (void)size, (void)shared;
    enum { COUNT = 400 };
    struct endpoint e;
    endpoint_open(&e, NI_OPTIONS, 0, 4096);
    unsigned char *inbox = calloc(1, PLACES), *outbox = calloc(1, PLACES);
    endpoint_append(&e, inbox, PLACES, ENTRY, INBOX, PTL_PRIORITY_LIST, NULL);
    world_barrier();
    for (int i = 0; rank == 0 && i < COUNT; i++)
        CHECK(PtlPut(e.md, address(outbox), sizes[i % SIZES], PTL_ACK_REQ, world_address(1), e.pt, INBOX, 0,
                     NULL, (ptl_hdr_data_t)i) == PTL_OK);
    sg_actor_sleep_for(1000);
    ptl_event_t event;
    int puts = 0, acks = 0, number = -1;
    while (PtlEQGet(e.eq, &event) == PTL_OK) {
        CHECK(event.ni_fail_type == PTL_NI_OK);
        puts += event.type == PTL_EVENT_PUT;
        acks += event.type == PTL_EVENT_ACK;
        CHECK(event.type != PTL_EVENT_PUT || (int)event.hdr_data > number);
        if (event.type == PTL_EVENT_PUT)
            number = (int)event.hdr_data;
    }
    static int arrived;
    if (rank == 1)
        arrived = puts;
    world_barrier();
    struct pf_portals_counters counters;
    pf_portals_counters(pf_self(), &counters);
    if (rank == 0) {
        CHECK(arrived < COUNT && arrived > COUNT / 2 && acks < arrived);
        CHECK((int)counters.vanished == COUNT - acks);
    }
    endpoint_close(&e);
}

static void test_unreliable(void **state)
{
    (void)state;
    static const char *const settings[] = {"PARFOCAL_NIC_E2E=no", "PARFOCAL_NET_LOSS=0.1", NULL};
    struct world world = {.nodes = 2, .settings = settings};
    assert_int_equal(world_run(&world, program_unreliable), 0);
    static const char *const window[] = {"PARFOCAL_NIC_E2E=no", "PARFOCAL_NET_LOSS=0.1",
                                         "PARFOCAL_NIC_MAX_IN_FLIGHT=2", NULL};
    world.settings = window;
    assert_int_equal(world_run(&world, program_unreliable), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_loss), cmocka_unit_test(test_loss_at_the_limits),
        cmocka_unit_test(test_repeatable),  cmocka_unit_test(test_link_property),
        cmocka_unit_test(test_link_down),   cmocka_unit_test(test_undeliverable),
        cmocka_unit_test(test_no_way_back), cmocka_unit_test(test_unreliable),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
