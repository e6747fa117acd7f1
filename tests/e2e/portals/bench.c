/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages per second of wall-clock time; not a test. Usage: portals-bench [messages] */
#include "world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <simgrid/engine.h>

#define NI_OPTIONS (PTL_NI_MATCHING | PTL_NI_PHYSICAL)
#define ENTRY      (PTL_ME_OP_PUT | PTL_ME_EVENT_LINK_DISABLE | PTL_ME_EVENT_UNLINK_DISABLE)

struct result {
    double wall;
    double simulated;
    long messages;
};

static size_t bytes;
static long rounds;

static double wall_clock(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void put(struct endpoint *e, ptl_handle_md_t md, char *buffer, ptl_process_t to, ptl_ack_req_t ack)
{
    CHECK(PtlPut(md, (ptl_size_t)(uintptr_t)buffer, bytes, ack, to, e->pt, 1, 0, NULL, 0) == PTL_OK);
}

/* An endpoint with a receive entry; `quiet` gets no events for its sends. */
static char *open_bench(struct endpoint *e, unsigned int options, ptl_size_t events, ptl_handle_md_t *quiet)
{
    endpoint_open(e, NI_OPTIONS, 0, events);
    char *buffer = calloc(2, bytes + 1);
    ptl_md_t md = {.length = PTL_SIZE_MAX, .eq_handle = PTL_EQ_NONE, .ct_handle = PTL_CT_NONE};
    CHECK(PtlMDBind(e->ni, &md, quiet) == PTL_OK);
    endpoint_append(e, buffer + bytes, bytes + 1, ENTRY | options, 1, PTL_PRIORITY_LIST, NULL);
    world_barrier();
    return buffer;
}

static void finish(struct endpoint *e, struct result *result, double wall, double simulated, long messages)
{
    world_barrier();
    if (pf_self()->rank == 0)
        *result = (struct result){wall_clock() - wall, simgrid_get_clock() - simulated, messages};
    endpoint_close(e);
}

static void ping_pong(int rank, int size, void *shared)
{
    (void)size;
    struct endpoint e;
    ptl_handle_md_t quiet;
    char *buffer = open_bench(&e, 0, 64, &quiet);
    ptl_process_t peer = world_address(1 - rank);
    double wall = wall_clock(), simulated = simgrid_get_clock();
    for (long i = 0; i < rounds; i++) {
        if (rank == 0)
            put(&e, quiet, buffer, peer, PTL_NO_ACK_REQ);
        endpoint_expect(&e, PTL_EVENT_PUT);
        if (rank == 1)
            put(&e, quiet, buffer, peer, PTL_NO_ACK_REQ);
    }
    finish(&e, shared, wall, simulated, 2 * rounds);
}

static void wait_ack(int rank, int size, void *shared)
{
    (void)size;
    struct endpoint e;
    ptl_handle_md_t quiet;
    char *buffer = open_bench(&e, PTL_ME_EVENT_COMM_DISABLE, 64, &quiet);
    ptl_process_t peer = world_address(1 - rank);
    double wall = wall_clock(), simulated = simgrid_get_clock();
    for (long i = 0; rank == 0 && i < rounds; i++) {
        put(&e, e.md, buffer, peer, PTL_ACK_REQ);
        endpoint_expect(&e, PTL_EVENT_SEND);
        endpoint_expect(&e, PTL_EVENT_ACK);
    }
    finish(&e, shared, wall, simulated, rounds);
}

static void no_wait(int rank, int size, void *shared)
{
    (void)size;
    struct endpoint e;
    ptl_handle_md_t quiet;
    char *buffer = open_bench(&e, PTL_ME_EVENT_COMM_DISABLE, 2 * (ptl_size_t)rounds, &quiet);
    ptl_process_t peer = world_address(1 - rank);
    double wall = wall_clock(), simulated = simgrid_get_clock();
    for (long i = 0; rank == 0 && i < rounds; i++)
        put(&e, e.md, buffer, peer, PTL_ACK_REQ);
    ptl_event_t event;
    for (long i = 0; rank == 0 && i < 2 * rounds; i++)
        CHECK(PtlEQWait(e.eq, &event) == PTL_OK);
    finish(&e, shared, wall, simulated, rounds);
}

static void ring(int rank, int size, void *shared)
{
    struct endpoint e;
    ptl_handle_md_t quiet;
    char *buffer = open_bench(&e, 0, 64, &quiet);
    ptl_process_t next = world_address((rank + 1) % size);
    double wall = wall_clock(), simulated = simgrid_get_clock();
    ptl_event_t event;
    for (long i = 0; i < rounds; i++) {
        put(&e, e.md, buffer, next, PTL_ACK_REQ);
        for (int k = 0; k < 3; k++) /* SEND, ACK, PUT in any order */
            CHECK(PtlEQWait(e.eq, &event) == PTL_OK);
    }
    finish(&e, shared, wall, simulated, rounds * size);
}

static void measure(const char *name, world_program program, int nodes, size_t size, long count)
{
    struct world world = {.nodes = nodes};
    bytes = size;
    rounds = count;
    if (world_run(&world, program) != 0) {
        printf("%-24s failed\n", name);
        return;
    }
    const struct result *r = world_shared();
    printf("%-24s %8zu B %9ld messages: %8.0f k/s of wall-clock, %10.3f us simulated each\n", name, size,
           r->messages, (double)r->messages / r->wall * 1e-3, r->simulated / (double)count * 1e6);
}

int main(int argc, char *argv[])
{
    long count = argc > 1 ? atol(argv[1]) : 100000;
    measure("put ping-pong", ping_pong, 2, 8, count);
    measure("put ping-pong", ping_pong, 2, 1 << 20, count / 100);
    measure("Put-WaitAck", wait_ack, 2, 8, count);
    measure("Put-NoWait", no_wait, 2, 8, 1000);
    measure("Put-NoWait", no_wait, 2, 8, 30000);
    measure("Put-NoWait", no_wait, 2, 8, count);
    measure("Put-NoWait", no_wait, 2, 1 << 20, count / 50);
    measure("ring of 64, put + ack", ring, 64, 8, count / 100);
    measure("ring of 256, put + ack", ring, 256, 8, count / 400);
    measure("ring of 256, put + ack", ring, 256, 1 << 20, count / 4000);
    return 0;
}
