/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The flow-control experiment of the S4BXI thesis (section 7.1) as a Portals program without MPI.
 *
 *     flood PROCESSES BYTES WATCHED MESSAGES WINDOW
 *
 * The ranks come in blocks of PROCESSES: senders on one side of the shared link, their partners on the other,
 * and so on for each pair of nodes; the last two ranks watch. Senders put BYTES to their partner as often as
 * they can, with up to WINDOW puts under way, until they are stopped. They print how many it were and how
 * long it took until the last one was acknowledged. The first watcher puts WATCHED bytes to the second
 * MESSAGES times, one at a time, prints the mean time until the acknowledgement, and stops the others:
 *
 *     latency SECONDS
 *     flood MESSAGES SECONDS
 */
#include <parfocal_portals.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { DATA = 4, STOP = 5, WARM_UP = 4 };

static ptl_handle_ni_t ni;
static ptl_handle_eq_t eq;
static ptl_handle_ct_t acks, stop;
static ptl_handle_md_t quiet, counted;

static void check(int status, const char *what)
{
    if (status == PTL_OK)
        return;
    fprintf(stderr, "flood: rank %d: %s returned %d\n", pf_portals_rank(), what, status);
    exit(1);
}

/* The simulated clock. */
static double now(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (double)ts.tv_sec + 1e-9 * (double)ts.tv_nsec;
}

static void expose(ptl_pt_index_t index, void *memory, ptl_size_t bytes, ptl_handle_ct_t counter)
{
    ptl_pt_index_t pt;
    ptl_handle_me_t entry;
    ptl_me_t me = {.start = memory,
                   .length = bytes,
                   .ct_handle = counter,
                   .uid = PTL_UID_ANY,
                   .options = PTL_ME_OP_PUT | PTL_ME_EVENT_LINK_DISABLE | PTL_ME_EVENT_UNLINK_DISABLE |
                              PTL_ME_EVENT_COMM_DISABLE | PTL_ME_EVENT_CT_COMM,
                   .match_id.phys = {PTL_NID_ANY, PTL_PID_ANY}};
    check(PtlPTAlloc(ni, 0, PTL_EQ_NONE, index, &pt), "PtlPTAlloc");
    check(PtlMEAppend(ni, pt, &me, PTL_PRIORITY_LIST, NULL, &entry), "PtlMEAppend");
}

static ptl_handle_md_t bind(void *memory, ptl_size_t bytes, ptl_handle_eq_t queue, ptl_handle_ct_t counter)
{
    ptl_md_t md = {.start = memory, .length = bytes, .eq_handle = queue, .ct_handle = counter};
    ptl_handle_md_t handle;
    if (queue == PTL_EQ_NONE)
        md.options = PTL_MD_EVENT_CT_ACK;
    check(PtlMDBind(ni, &md, &handle), "PtlMDBind");
    return handle;
}

static ptl_size_t count_of(ptl_handle_ct_t counter)
{
    ptl_ct_event_t value;
    check(PtlCTGet(counter, &value), "PtlCTGet");
    return value.success;
}

/* Sends until a message says stop, and lets the last ones arrive. */
static void flood(ptl_process_t partner, ptl_size_t bytes, long window)
{
    long sent = 0;
    double begin = now();
    ptl_ct_event_t value;
    while (count_of(stop) == 0) {
        check(PtlPut(quiet, 0, bytes, PTL_CT_ACK_REQ, partner, DATA, 0, 0, NULL, 0), "PtlPut");
        if (++sent >= window)
            check(PtlCTWait(acks, (ptl_size_t)(sent - window + 1), &value), "PtlCTWait");
    }
    check(PtlCTWait(acks, (ptl_size_t)sent, &value), "PtlCTWait");
    if (value.failure)
        check(PTL_FAIL, "PtlCTWait");
    printf("flood %ld %.9f\n", sent, now() - begin);
}

static void put_and_wait(ptl_process_t to, ptl_size_t bytes)
{
    ptl_event_t event;
    check(PtlPut(counted, 0, bytes, PTL_ACK_REQ, to, DATA, 0, 0, NULL, 0), "PtlPut");
    do
        check(PtlEQWait(eq, &event), "PtlEQWait");
    while (event.type != PTL_EVENT_ACK);
}

static double watch(ptl_process_t partner, ptl_size_t bytes, long messages)
{
    for (int i = 0; i < WARM_UP; i++)
        put_and_wait(partner, bytes);
    double begin = now();
    for (long i = 0; i < messages; i++)
        put_and_wait(partner, bytes);
    return (now() - begin) / (double)messages;
}

int main(int argc, char **argv)
{
    check(PtlInit(), "PtlInit");
    int rank = pf_portals_rank(), size = pf_portals_size();
    int processes = argc > 5 ? atoi(argv[1]) : 0;
    long bytes = argc > 5 ? atol(argv[2]) : 0, watched = argc > 5 ? atol(argv[3]) : 0;
    long messages = argc > 5 ? atol(argv[4]) : 0, window = argc > 5 ? atol(argv[5]) : 0;
    if (processes < 1 || bytes < 1 || watched < 1 || messages < 1 || window < 1 || size < 2 ||
        (size - 2) % (2 * processes) != 0) {
        fprintf(
            stderr,
            "usage: flood PROCESSES BYTES WATCHED MESSAGES WINDOW, with 2 x PAIRS x PROCESSES + 2 ranks\n");
        PtlFini();
        return 2;
    }
    ptl_size_t memory_bytes = (ptl_size_t)(bytes > watched ? bytes : watched);
    ptl_process_t *map = calloc((size_t)size, sizeof *map);
    char *memory = calloc(2, memory_bytes);
    check(map && memory ? PTL_OK : PTL_NO_SPACE, "calloc");
    check(PtlNIInit(PTL_IFACE_DEFAULT, PTL_NI_MATCHING | PTL_NI_PHYSICAL, PTL_PID_ANY, NULL, NULL, &ni),
          "PtlNIInit");
    check(PtlEQAlloc(ni, 64, &eq), "PtlEQAlloc");
    check(PtlCTAlloc(ni, &acks), "PtlCTAlloc");
    check(PtlCTAlloc(ni, &stop), "PtlCTAlloc");
    expose(DATA, memory, memory_bytes, PTL_CT_NONE);
    expose(STOP, memory, memory_bytes, stop);
    quiet = bind(memory + memory_bytes, memory_bytes, PTL_EQ_NONE, acks);
    counted = bind(memory + memory_bytes, memory_bytes, eq, PTL_CT_NONE);
    check(pf_portals_map(ni, map), "pf_portals_map");
    pf_portals_barrier();
    if (rank == size - 2) {
        printf("latency %.9f\n", watch(map[size - 1], (ptl_size_t)watched, messages));
        for (int other = 0; other < rank; other++)
            check(PtlPut(quiet, 0, 0, PTL_CT_ACK_REQ, map[other], STOP, 0, 0, NULL, 0), "PtlPut");
    } else if (rank < size - 2 && rank / processes % 2 == 0) {
        flood(map[rank + processes], (ptl_size_t)bytes, window);
    }
    pf_portals_barrier();
    check(PtlNIFini(ni), "PtlNIFini");
    PtlFini();
    free(memory);
    free(map);
    return 0;
}
