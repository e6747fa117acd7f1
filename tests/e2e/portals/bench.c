/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the simulated NIC costs; not a test. tests/bench/nic.py runs it and compares.
 *
 *     portals-bench [WORKLOAD [MESSAGES]]     (without: all)
 *
 * One line per workload: BENCH name, messages, wall-clock and processor seconds, simulated seconds per round,
 * peak memory of the process in kB.
 */
#include "world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include <simgrid/engine.h>

#define NI_OPTIONS (PTL_NI_MATCHING | PTL_NI_PHYSICAL)
#define ENTRY      (PTL_ME_OP_PUT | PTL_ME_EVENT_LINK_DISABLE | PTL_ME_EVENT_UNLINK_DISABLE)

struct result {
    double wall, processor;
    double simulated; /* per round */
    long messages, peak;
};

static size_t bytes;
static long rounds;

static double read_clock(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

struct start {
    double wall, processor, simulated;
};

static struct start begin(void)
{
    return (struct start){read_clock(CLOCK_MONOTONIC), read_clock(CLOCK_PROCESS_CPUTIME_ID),
                          simgrid_get_clock()};
}

static void put(struct endpoint *e, ptl_handle_md_t md, char *buffer, ptl_process_t to, ptl_ack_req_t ack)
{
    CHECK(PtlPut(md, (ptl_size_t)(uintptr_t)buffer, bytes, ack, to, e->pt, 1, 0, NULL, 0) == PTL_OK);
}

/* An endpoint with a receive entry; `quiet` gets no events for its sends. All ranks use the same memory, so
 * that the memory of the process is the simulator's. */
static char *open_bench(struct endpoint *e, unsigned int options, ptl_size_t events, ptl_handle_md_t *quiet)
{
    static char *buffer;
    if (!buffer)
        buffer = calloc(2, bytes + 1);
    endpoint_open(e, NI_OPTIONS, 0, events);
    ptl_md_t md = {.length = PTL_SIZE_MAX, .eq_handle = PTL_EQ_NONE, .ct_handle = PTL_CT_NONE};
    CHECK(PtlMDBind(e->ni, &md, quiet) == PTL_OK);
    endpoint_append(e, buffer + bytes, bytes + 1, ENTRY | options, 1, PTL_PRIORITY_LIST, NULL);
    world_barrier();
    return buffer;
}

static void finish(struct endpoint *e, struct result *result, const struct start *start, long repeated,
                   long messages)
{
    world_barrier();
    if (pf_self()->rank == 0) {
        struct rusage usage;
        getrusage(RUSAGE_SELF, &usage);
        *result = (struct result){.wall = read_clock(CLOCK_MONOTONIC) - start->wall,
                                  .processor = read_clock(CLOCK_PROCESS_CPUTIME_ID) - start->processor,
                                  .simulated = (simgrid_get_clock() - start->simulated) / (double)repeated,
                                  .messages = messages,
                                  .peak = usage.ru_maxrss};
    }
    endpoint_close(e);
}

static void ping_pong(int rank, int size, void *shared)
{
    (void)size;
    struct endpoint e;
    ptl_handle_md_t quiet;
    char *buffer = open_bench(&e, 0, 64, &quiet);
    ptl_process_t peer = world_address(1 - rank);
    struct start start = begin();
    for (long i = 0; i < rounds; i++) {
        if (rank == 0)
            put(&e, quiet, buffer, peer, PTL_NO_ACK_REQ);
        endpoint_expect(&e, PTL_EVENT_PUT);
        if (rank == 1)
            put(&e, quiet, buffer, peer, PTL_NO_ACK_REQ);
    }
    finish(&e, shared, &start, rounds, 2 * rounds);
}

static void wait_ack(int rank, int size, void *shared)
{
    (void)size;
    struct endpoint e;
    ptl_handle_md_t quiet;
    char *buffer = open_bench(&e, PTL_ME_EVENT_COMM_DISABLE, 64, &quiet);
    ptl_process_t peer = world_address(1 - rank);
    struct start start = begin();
    for (long i = 0; rank == 0 && i < rounds; i++) {
        put(&e, e.md, buffer, peer, PTL_ACK_REQ);
        endpoint_expect(&e, PTL_EVENT_SEND);
        endpoint_expect(&e, PTL_EVENT_ACK);
    }
    finish(&e, shared, &start, rounds, rounds);
}

/* `rounds` are in flight at once; repeated, so that few in flight are measured as long as many. */
#define NO_WAIT_MESSAGES 200000

static void no_wait(int rank, int size, void *shared)
{
    (void)size;
    struct endpoint e;
    ptl_handle_md_t quiet;
    char *buffer = open_bench(&e, PTL_ME_EVENT_COMM_DISABLE, 2 * (ptl_size_t)rounds, &quiet);
    ptl_process_t peer = world_address(1 - rank);
    long batches = rounds < NO_WAIT_MESSAGES ? NO_WAIT_MESSAGES / rounds : 1;
    struct start start = begin();
    ptl_event_t event;
    for (long batch = 0; rank == 0 && batch < batches; batch++) {
        for (long i = 0; i < rounds; i++)
            put(&e, e.md, buffer, peer, PTL_ACK_REQ);
        for (long i = 0; i < 2 * rounds; i++)
            CHECK(PtlEQWait(e.eq, &event) == PTL_OK);
    }
    finish(&e, shared, &start, batches * rounds, batches * rounds);
}

static void ring(int rank, int size, void *shared)
{
    struct endpoint e;
    ptl_handle_md_t quiet;
    char *buffer = open_bench(&e, 0, 64, &quiet);
    ptl_process_t next = world_address((rank + 1) % size);
    struct start start = begin();
    ptl_event_t event;
    for (long i = 0; i < rounds; i++) {
        put(&e, e.md, buffer, next, PTL_ACK_REQ);
        for (int k = 0; k < 3; k++) /* SEND, ACK, PUT in any order */
            CHECK(PtlEQWait(e.eq, &event) == PTL_OK);
    }
    finish(&e, shared, &start, rounds, rounds * size);
}

struct workload {
    const char *name;
    world_program program;
    int nodes;
    size_t bytes;
    long rounds;
    const char *setting;
};

static const struct workload workloads[] = {
    {"put ping-pong, 8 B", ping_pong, 2, 8, 100000, NULL},
    {"put ping-pong, 1 MiB", ping_pong, 2, 1 << 20, 5000, NULL},
    {"Put-WaitAck, 8 B", wait_ack, 2, 8, 200000, NULL},
    {"Put-NoWait, 8 B, 1,000 in flight", no_wait, 2, 8, 1000, NULL},
    {"Put-NoWait, 8 B, 10,000 in flight", no_wait, 2, 8, 10000, NULL},
    {"Put-NoWait, 8 B, 30,000 in flight", no_wait, 2, 8, 30000, NULL},
    {"Put-NoWait, 8 B, 100,000 in flight", no_wait, 2, 8, 100000, NULL},
    {"Put-NoWait, 1 MiB", no_wait, 2, 1 << 20, 10000, NULL},
    {"Put-NoWait, 1 MiB, no payload copies", no_wait, 2, 1 << 20, 10000, "PARFOCAL_PAYLOAD_COPY=no"},
    {"ring of 256, put + ack, 8 B", ring, 256, 8, 400, NULL},
    {"ring of 256, put + ack, 1 MiB", ring, 256, 1 << 20, 20, NULL},
    {"ring of 256, put + ack, 1 MiB, no payload copies", ring, 256, 1 << 20, 40, "PARFOCAL_PAYLOAD_COPY=no"},
};

static void measure(const struct workload *w, long count)
{
    const char *settings[] = {w->setting, NULL};
    struct world world = {.nodes = w->nodes, .settings = settings};
    bytes = w->bytes;
    rounds = count ? count : w->rounds;
    memset(world_shared(), 0, sizeof(struct result));
    int status = world_run(&world, w->program);
    const struct result *r = world_shared();
    if (status == 0)
        printf("BENCH %s: %ld %.6f %.6f %.9e %ld\n", w->name, r->messages, r->wall, r->processor,
               r->simulated, r->peak);
    else
        printf("FAILED %s: status %d\n", w->name, status);
    fflush(stdout);
}

int main(int argc, char *argv[])
{
    int found = 0;
    for (size_t i = 0; i < sizeof workloads / sizeof workloads[0]; i++) {
        if (argc > 1 && strcmp(argv[1], workloads[i].name) != 0)
            continue;
        found++;
        measure(&workloads[i], argc > 2 ? atol(argv[2]) : 0);
    }
    return found ? 0 : 2;
}
