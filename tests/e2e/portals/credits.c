/* SPDX-License-Identifier: BSD-3-Clause */
/* The NIC over a network that the library does not know: packets, credits, losses, a clock of its own
 * (toy.c). Nothing of the NIC is made for it. */
#include "toy.h"
#include "world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <simgrid/engine.h>

#include "experiments/nic/five.h"

enum { BYTES = 20000, COUNT = 200 };

/* What a child reports. */
struct report {
    struct toy_counts counts;
    double times[FIVE_KINDS];
};

static long lose_every;

static void use_toy(int rank)
{
    toy_lose_every = lose_every;
    if (rank == 0)
        pf_network_use(&toy_network);
    world_barrier();
}

static void close_toy(ptl_handle_ni_t ni, int rank, struct report *report)
{
    world_barrier();
    CHECK(PtlNIFini(ni) == PTL_OK);
    PtlFini();
    if (rank == 0)
        report->counts = toy_counts;
}

static ptl_handle_ni_t open_ni(void)
{
    ptl_handle_ni_t ni;
    CHECK(PtlInit() == PTL_OK);
    CHECK(PtlNIInit(PTL_IFACE_DEFAULT, PTL_NI_MATCHING | PTL_NI_PHYSICAL, PTL_PID_ANY, NULL, NULL, &ni) ==
          PTL_OK);
    world_barrier();
    return ni;
}

/* Each of the five benchmarks over every way of moving a payload; what was put or got must be there. */
static void program_five(int rank, int size, void *shared)
{
    static const ptl_size_t sizes[] = {1, 8, 9, 64, 65, 408, 409, 5000, BYTES};
    static char memory[2][BYTES], source[2][BYTES];
    struct report *report = shared;
    struct five f;
    (void)size;
    use_toy(rank);
    ptl_handle_ni_t ni = open_ni();
    CHECK(five_open(&f, ni, true, memory[rank], source[rank], BYTES) == PTL_OK);
    world_barrier();
    for (int kind = 0; rank == 0 && kind < FIVE_KINDS; kind++) {
        bool puts = kind <= FIVE_PUT_WAIT_SEND;
        char *from = puts ? source[0] : memory[1], *to = puts ? memory[1] : source[0];
        double begin = simgrid_get_clock();
        for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
            for (int k = 0; k < BYTES; k++) {
                from[k] = (char)(k * 7 + (int)i + kind + 1);
                to[k] = 0;
            }
            CHECK(five_run(&f, kind, world_address(1), sizes[i], COUNT) == PTL_OK);
            if (kind == FIVE_PUT_WAIT_SEND) /* the last of them may still be on its way */
                CHECK(five_run(&f, FIVE_PUT_WAIT_ACK, world_address(1), sizes[i], 1) == PTL_OK);
            CHECK(memcmp(from, to, sizes[i]) == 0);
            CHECK(sizes[i] == BYTES || to[sizes[i]] == 0);
        }
        report->times[kind] = simgrid_get_clock() - begin;
    }
    close_toy(ni, rank, report);
}

/*
 * All send to all, in an order and of lengths drawn from a fixed seed. The entry for a source
 * packs what it sends one after the other (MANAGE_LOCAL), so that a message out of order lands elsewhere.
 */
enum { RANKS = 4, MESSAGES = 300, LONGEST = 9000, ROOM = MESSAGES * LONGEST };

static uint32_t draw(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

static size_t draw_length(uint32_t *state)
{
    static const size_t longest[] = {8, 64, 408, 4096, LONGEST};
    return 1 + draw(state) % longest[draw(state) % 5];
}

/* The bytes of a message: by its source, its number and the place in it. */
static void fill(char *data, size_t length, int source, int number)
{
    for (size_t i = 0; i < length; i++)
        data[i] = (char)(source * 31 + number * 7 + (int)(i * 3 % 251));
}

struct random_rank {
    struct endpoint e;
    char *from[RANKS], *outgoing, *fetched;
    ptl_handle_md_t md;
    uint64_t sum;
    int sent[RANKS];
};

static void append(struct random_rank *r, void *start, size_t length, unsigned int options,
                   ptl_match_bits_t bits)
{
    endpoint_append(&r->e, start, length, options | PTL_ME_EVENT_LINK_DISABLE | PTL_ME_EVENT_UNLINK_DISABLE,
                    bits, PTL_PRIORITY_LIST, NULL);
}

/* A put to one's own place in the target's memory, an atomic sum, and now and then a get of what was put. */
static int send_one(struct random_rank *r, int rank, int to, uint32_t *state)
{
    size_t length = draw_length(state);
    int number = r->sent[to]++, operations = 2;
    char *data = r->outgoing + ((size_t)to * MESSAGES + (size_t)number) * LONGEST;
    static const uint64_t one = 1;
    ptl_process_t target = world_address(to);
    fill(data, length, rank, number);
    CHECK(PtlPut(r->md, (ptl_size_t)(uintptr_t)data, length, PTL_ACK_REQ, target, r->e.pt,
                 (ptl_match_bits_t)rank, 0, NULL, (ptl_hdr_data_t)number) == PTL_OK);
    CHECK(PtlAtomic(r->md, (ptl_size_t)(uintptr_t)&one, sizeof one, PTL_ACK_REQ, target, r->e.pt, RANKS, 0,
                    NULL, 0, PTL_SUM, PTL_UINT64_T) == PTL_OK);
    if (number % 10 == 0) {
        CHECK(PtlGet(r->md, (ptl_size_t)(uintptr_t)r->fetched, LONGEST, target, r->e.pt, RANKS + 1, 0,
                     NULL) == PTL_OK);
        operations++;
    }
    return operations;
}

/* The messages of one source lie one behind the other, each complete. */
static void check_from(const struct random_rank *r, int source, int rank)
{
    uint32_t state = 12345u + (uint32_t)source;
    size_t place = 0;
    int number = 0;
    char *expected = malloc(LONGEST);
    for (int i = 0; i < RANKS * MESSAGES; i++) {
        int to = (int)(draw(&state) % RANKS);
        size_t length = draw_length(&state);
        if (to != rank)
            continue;
        if (number == MESSAGES)
            break;
        fill(expected, length, source, number++);
        CHECK(memcmp(r->from[source] + place, expected, length) == 0);
        place += length;
    }
    free(expected);
}

static void program_random(int rank, int size, void *shared)
{
    struct random_rank *r = calloc(1, sizeof *r);
    static char pattern[LONGEST];
    use_toy(rank);
    endpoint_open(&r->e, PTL_NI_MATCHING | PTL_NI_PHYSICAL, 0, 16 * RANKS * MESSAGES);
    r->md = r->e.md;
    r->outgoing = malloc((size_t)RANKS * ROOM);
    r->fetched = calloc(1, LONGEST);
    memset(pattern, 'p', sizeof pattern);
    unsigned int silent = PTL_ME_EVENT_COMM_DISABLE;
    for (int source = 0; source < size; source++) {
        r->from[source] = malloc(ROOM);
        append(r, r->from[source], ROOM, PTL_ME_OP_PUT | PTL_ME_MANAGE_LOCAL | silent,
               (ptl_match_bits_t)source);
    }
    append(r, &r->sum, sizeof r->sum, PTL_ME_OP_PUT | silent, RANKS);
    append(r, pattern, sizeof pattern, PTL_ME_OP_GET | silent, RANKS + 1);
    world_barrier();
    uint32_t state = 12345u + (uint32_t)rank;
    int due = 0;
    for (int i = 0; i < RANKS * MESSAGES; i++) {
        int to = (int)(draw(&state) % RANKS);
        if (r->sent[to] < MESSAGES)
            due += send_one(r, rank, to, &state);
        else
            draw_length(&state);
    }
    while (due > 0) {
        ptl_event_t event;
        CHECK(PtlEQWait(r->e.eq, &event) == PTL_OK && event.ni_fail_type == PTL_NI_OK);
        due -= event.type == PTL_EVENT_ACK || event.type == PTL_EVENT_REPLY;
    }
    CHECK(memcmp(r->fetched, pattern, LONGEST) == 0);
    static uint64_t sent, received;
    for (int to = 0; to < size; to++)
        sent += (uint64_t)r->sent[to];
    world_barrier();
    for (int source = 0; source < size; source++)
        check_from(r, source, rank);
    received += r->sum;
    world_barrier();
    CHECK(received == sent);
    close_toy(r->e.ni, rank, shared);
}

static struct report run(world_program program, int nodes, long lose)
{
    static const char *const quick[] = {"PARFOCAL_NIC_RETRY_TIMEOUT=0.0001", "PARFOCAL_NIC_RETRIES=20", NULL};
    struct world world = {.nodes = nodes, .settings = quick};
    lose_every = lose;
    memset(world_shared(), 0, sizeof(struct report));
    assert_int_equal(world_run(&world, program), 0);
    return *(struct report *)world_shared();
}

static void assert_limited(const struct toy_counts *counts)
{
    assert_int_equal(counts->unasked, 0);
    assert_true(counts->refused > 0 && counts->refused == counts->credits);
    assert_true(counts->stalls > 0);
    assert_int_equal(counts->most_in_flight, TOY_CREDITS);
}

static void test_five(void **state)
{
    (void)state;
    struct report r = run(program_five, 2, 0);
    assert_limited(&r.counts);
    assert_int_equal(r.counts.lost, 0);
    /* The credits bound the rate: the buffer drains one packet after the other. */
    double slowest = COUNT * (BYTES / TOY_PACKET) * TOY_DRAIN_TIME;
    for (int kind = 0; kind < FIVE_KINDS; kind++)
        assert_true(r.times[kind] > slowest);
}

static void test_five_with_losses(void **state)
{
    (void)state;
    struct report r = run(program_five, 2, 41);
    assert_limited(&r.counts);
    assert_true(r.counts.lost > 100);
}

static void test_random(void **state)
{
    (void)state;
    struct report r = run(program_random, RANKS, 0);
    assert_limited(&r.counts);
}

/* Each message is delivered once, and in its turn. */
static void test_random_with_losses(void **state)
{
    (void)state;
    struct report r = run(program_random, RANKS, 37);
    assert_limited(&r.counts);
    assert_true(r.counts.lost > 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_five),
        cmocka_unit_test(test_five_with_losses),
        cmocka_unit_test(test_random),
        cmocka_unit_test(test_random_with_losses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
