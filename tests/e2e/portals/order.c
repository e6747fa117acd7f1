/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages from one node to another by several networks, of which one is congested: each overtakes those of
 * the others, and nothing above the NIC may see it (lowlevel/nic/order.h). */
#include "world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <simgrid/actor.h>
#include <simgrid/engine.h>

#define NI_OPTIONS (PTL_NI_MATCHING | PTL_NI_PHYSICAL)
#define QUIET      (PTL_ME_OP_PUT | PTL_ME_EVENT_LINK_DISABLE | PTL_ME_EVENT_UNLINK_DISABLE)

/* Sizes for each way in which a payload moves. */
static const size_t sizes[] = {0, 8, 65, 400, 5000, 100000};
static const char *const networks[] = {"flow", "ideal", "packet"};
enum { SENDER, RECEIVER, RIVAL, RANKS };
enum { SIZES = sizeof sizes / sizeof sizes[0], COUNT = 400, LARGEST = 100000 };
enum { INBOX = 1, BIN }; /* bits of the entries */

static unsigned int used; /* so many of the networks */
static int in_turn;       /* a message is complete before the next one */

static unsigned int draw(unsigned int below)
{
    static uint64_t state = 1;
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned int)(state >> 33) % below;
}

static void put(struct endpoint *e, unsigned char *from, size_t bytes, unsigned int network,
                ptl_match_bits_t bits, int number)
{
    int found = pf_portals_network(networks[network]);
    CHECK(found >= 0);
    pf_portals_enter(pf_self(), found);
    CHECK(PtlPut(e->md, (ptl_size_t)(uintptr_t)from, bytes, PTL_ACK_REQ, world_address(RECEIVER), e->pt, bits,
                 0, NULL, (ptl_hdr_data_t)number) == PTL_OK);
}

/* The rival loads the receiver's link in the first network only. */
static void send(struct endpoint *e, int rank)
{
    unsigned char *data = calloc(1, LARGEST);
    for (int i = 0; rank == RIVAL && i < COUNT / 4; i++)
        put(e, data, LARGEST, 0, BIN, i);
    for (int i = 0; rank == SENDER && i < COUNT; i++) {
        unsigned int size = draw(SIZES), network = draw(used);
        put(e, data, sizes[size], network, INBOX, i);
    }
}

/* Each message takes the next entry of the inbox, so that entries show the order in which headers were
 * matched. */
static void open_all(struct endpoint *e, unsigned char *inbox, unsigned char *bin)
{
    endpoint_open(e, NI_OPTIONS, 0, 4096);
    for (int i = 0; i < COUNT; i++)
        endpoint_append(e, inbox, LARGEST, QUIET | PTL_ME_USE_ONCE, INBOX, PTL_PRIORITY_LIST,
                        (void *)(intptr_t)i);
    endpoint_append(e, bin, LARGEST, QUIET | PTL_ME_EVENT_COMM_DISABLE, BIN, PTL_PRIORITY_LIST, NULL);
    world_barrier();
}

/* Everything comes once, in order; the date is that of the whole. */
static void program_all(int rank, int size, void *shared)
{
    (void)size;
    struct endpoint e;
    static unsigned char inbox[LARGEST], bin[LARGEST];
    open_all(&e, inbox, bin);
    send(&e, rank);
    for (int i = 0; rank == RECEIVER && i < COUNT; i++) {
        ptl_event_t event = endpoint_expect(&e, PTL_EVENT_PUT);
        CHECK((intptr_t)event.user_ptr == (intptr_t)event.hdr_data);
        CHECK((int)event.hdr_data == i || !in_turn);
    }
    if (rank == RECEIVER)
        *(double *)shared = simgrid_get_clock();
    world_barrier();
    endpoint_close(&e);
}

/* Without end-to-end reliability, some do not come, or only their header does. */
static void program_some(int rank, int size, void *shared)
{
    (void)size, (void)shared;
    struct endpoint e;
    static unsigned char inbox[LARGEST], bin[LARGEST];
    open_all(&e, inbox, bin);
    send(&e, rank);
    sg_actor_sleep_for(1000);
    int of_entry[COUNT], newest = -1, count = 0;
    memset(of_entry, -1, sizeof of_entry);
    ptl_event_t event;
    while (rank == RECEIVER && PtlEQGet(e.eq, &event) == PTL_OK) {
        CHECK(event.type == PTL_EVENT_PUT);
        of_entry[(intptr_t)event.user_ptr] = (int)event.hdr_data;
        count++;
    }
    for (int i = 0; i < COUNT; i++) {
        CHECK(of_entry[i] < 0 || of_entry[i] > newest);
        newest = of_entry[i] < 0 ? newest : of_entry[i];
    }
    CHECK(rank != RECEIVER || (count < COUNT && count > COUNT / 2));
    world_barrier();
    endpoint_close(&e);
}

/* Streams that leave at once: short messages are complete before long ones. The packet network refuses it. */
#define STREAMS "PARFOCAL_NIC_STREAMS=0"

/* A network that loses nothing has nothing sent again: what waits for its turn is not refused. */
static void nothing_is_lost(void **state)
{
    (void)state;
    static const struct {
        unsigned int networks;
        const char *settings[4];
    } cases[] = {
        {3, {NULL}},
        {2, {STREAMS, NULL}},
        {3, {"PARFOCAL_NIC_E2E=no", NULL}},
        {2, {"PARFOCAL_NIC_E2E=no", STREAMS, NULL}},
        {3, {"PARFOCAL_NET_MODEL=packet", NULL}},
        {2, {"PARFOCAL_NIC_MAX_IN_FLIGHT=3", "PARFOCAL_NIC_FLOW_CONTROL=process", STREAMS, NULL}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        used = cases[i].networks;
        in_turn = used == 3;
        assert_int_equal(
            world_run(&(struct world){.nodes = RANKS, .settings = cases[i].settings}, program_all), 0);
        assert_true(*(double *)world_shared() < 1.0); /* a time-out takes ten seconds */
    }
}

static void some_are_lost(void **state)
{
    (void)state;
    for (int seed = 1; seed <= 6; seed++) {
        char start[64];
        snprintf(start, sizeof start, "PARFOCAL_NET_LOSS_SEED=%d", seed);
        const char *again[] = {"PARFOCAL_NET_LOSS=0.1", "PARFOCAL_NIC_RETRIES=30", start, NULL, NULL};
        const char *never[] = {"PARFOCAL_NET_LOSS=0.1", "PARFOCAL_NIC_E2E=no", start, NULL, NULL};
        used = seed % 2 ? 3 : 2;
        in_turn = used == 3;
        if (used == 2)
            again[3] = never[3] = STREAMS;
        assert_int_equal(world_run(&(struct world){.nodes = RANKS, .settings = again}, program_all), 0);
        assert_int_equal(world_run(&(struct world){.nodes = RANKS, .settings = never}, program_some), 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(nothing_is_lost), cmocka_unit_test(some_are_lost)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
