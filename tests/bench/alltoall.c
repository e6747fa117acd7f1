/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * All nodes of a fat tree put 8 bytes into the memory of all others, by Portals alone: what the simulator
 * costs over flows and over packets. It decides nothing. `--quick`: only that it runs.
 *
 *     alltoall [--quick | NODES]      (a square; 1024)
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include <simgrid/engine.h>

#include "lowlevel/network/packet/described.h"
#include "tests/e2e/portals/world.h"

struct result {
    double wall, processor, simulated;
    long peak; /* kB, of the process */
};

static char platform[400], description[40];

static double read_clock(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static struct result read_clocks(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (struct result){read_clock(CLOCK_MONOTONIC), read_clock(CLOCK_PROCESS_CPUTIME_ID),
                           simgrid_get_clock(), usage.ru_maxrss};
}

static void describe_fabric(void)
{
    struct pf_fabric_speeds links;
    pf_fabric_equal_links(&links, 11.1e9, 2e-7, 0.0);
    pf_network_describe(description, &links);
}

/* Where the puts of all others are counted. */
static ptl_handle_ct_t open_door(struct endpoint *e, uint64_t *word)
{
    ptl_handle_ct_t arrivals;
    ptl_handle_me_t entry;
    endpoint_open(e, PTL_NI_MATCHING | PTL_NI_PHYSICAL, 0, 16);
    CHECK(PtlCTAlloc(e->ni, &arrivals) == PTL_OK);
    ptl_me_t me = {.start = word,
                   .length = sizeof *word,
                   .ct_handle = arrivals,
                   .uid = PTL_UID_ANY,
                   .options = PTL_ME_OP_PUT | PTL_ME_EVENT_CT_COMM | PTL_ME_EVENT_COMM_DISABLE |
                              PTL_ME_EVENT_LINK_DISABLE | PTL_ME_EVENT_UNLINK_DISABLE,
                   .match_id.phys = {PTL_NID_ANY, PTL_PID_ANY},
                   .match_bits = 1};
    CHECK(PtlMEAppend(e->ni, e->pt, &me, PTL_PRIORITY_LIST, NULL, &entry) == PTL_OK);
    return arrivals;
}

static void put_to_all(int rank, int size, void *shared)
{
    struct endpoint e;
    struct result *result = shared, begin;
    uint64_t words[2] = {0};
    ptl_handle_md_t quiet;
    ptl_ct_event_t count;
    if (rank == 0)
        describe_fabric();
    ptl_handle_ct_t arrivals = open_door(&e, &words[1]);
    ptl_md_t md = {.length = PTL_SIZE_MAX, .eq_handle = PTL_EQ_NONE, .ct_handle = PTL_CT_NONE};
    CHECK(PtlMDBind(e.ni, &md, &quiet) == PTL_OK);
    world_barrier();
    begin = read_clocks();
    for (int i = 1; i < size; i++)
        CHECK(PtlPut(quiet, (ptl_size_t)(uintptr_t)words, sizeof words[0], PTL_NO_ACK_REQ,
                     world_address((rank + i) % size), e.pt, 1, 0, NULL, 0) == PTL_OK);
    CHECK(PtlCTWait(arrivals, (ptl_size_t)size - 1, &count) == PTL_OK);
    world_barrier();
    if (rank == 0) {
        struct result end = read_clocks();
        *result = (struct result){end.wall - begin.wall, end.processor - begin.processor,
                                  end.simulated - begin.simulated, end.peak};
    }
    endpoint_close(&e);
}

static int measure(const char *network, int nodes)
{
    char setting[60];
    snprintf(setting, sizeof setting, "PARFOCAL_NET_MODEL=%s", network);
    const char *settings[] = {setting, NULL};
    struct world world = {.nodes = nodes, .platform = platform, .settings = settings};
    const struct result *r = world_shared();
    int status = world_run(&world, put_to_all);
    long messages = (long)nodes * (nodes - 1);
    if (status == 0)
        printf("%-8s %10ld messages: %7.2f s of processor time, %7.2f s of wall-clock time, %5.2f us each; "
               "simulated %.2f us, %ld MB\n",
               network, messages, r->processor, r->wall, 1e6 * r->processor / (double)messages,
               1e6 * r->simulated, r->peak / 1024);
    else
        printf("%s: the run has ended with status %d\n", network, status);
    fflush(stdout);
    return status;
}

int main(int argc, char *argv[])
{
    int nodes = argc < 2 ? 1024 : strcmp(argv[1], "--quick") == 0 ? 16 : atoi(argv[1]);
    int side = (int)lround(sqrt(nodes));
    if (nodes < 4 || side * side != nodes) {
        fprintf(stderr, "usage: alltoall [--quick | NODES], a square of at least 4\n");
        return 2;
    }
    snprintf(description, sizeof description, "fattree:2;%d,%d;1,%d;1,1", side, side, side);
    snprintf(platform, sizeof platform,
             "<cluster id=\"cluster\" prefix=\"node-\" radical=\"0-%d\" suffix=\"\" speed=\"1Gf\" "
             "bw=\"11.1GBps\" lat=\"200ns\" sharing_policy=\"SPLITDUPLEX\" topology=\"FAT_TREE\" "
             "topo_parameters=\"2;%d,%d;1,%d;1,1\"/>\n",
             nodes - 1, side, side, side);
    int flow = measure("flow", nodes);
    return measure("packet", nodes) || flow;
}
