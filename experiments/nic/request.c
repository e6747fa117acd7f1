/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The five benchmarks of five.h as a Portals program without MPI, for two ranks under pfrun. Rank 0 sends
 * requests to rank 1 and prints one line per size: benchmark,bytes,count,seconds. Without sizes it takes the
 * 64 of five.h.
 *
 *     request BENCHMARK COUNT matching|non-matching [SIZE...]
 */
#include "five.h"

#include <parfocal_portals.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static void check(int status, const char *what)
{
    if (status == PTL_OK)
        return;
    fprintf(stderr, "request: rank %d: %s returned %d\n", pf_portals_rank(), what, status);
    exit(1);
}

/* The simulated clock. */
static double now(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (double)ts.tv_sec + 1e-9 * (double)ts.tv_nsec;
}

static int kind_of(const char *name)
{
    int kind = 0;
    while (kind < FIVE_KINDS && strcmp(five_names[kind], name) != 0)
        kind++;
    return kind;
}

struct list {
    ptl_size_t sizes[FIVE_SIZES];
    int count;
    ptl_size_t largest;
};

static void read_sizes(struct list *list, char **arguments, int count)
{
    five_sizes(list->sizes);
    list->count = FIVE_SIZES;
    if (count > 0)
        list->count = count < FIVE_SIZES ? count : FIVE_SIZES;
    for (int i = 0; i < list->count; i++) {
        if (count > 0)
            list->sizes[i] = strtoull(arguments[i], NULL, 10);
        if (list->sizes[i] > list->largest)
            list->largest = list->sizes[i];
    }
}

int main(int argc, char **argv)
{
    check(PtlInit(), "PtlInit");
    int kind = argc > 3 ? kind_of(argv[1]) : FIVE_KINDS;
    long count = argc > 3 ? atol(argv[2]) : 0;
    if (kind == FIVE_KINDS || count < 1 || pf_portals_size() != 2) {
        fprintf(stderr, "usage: request BENCHMARK COUNT matching|non-matching [SIZE...], with two ranks\n");
        PtlFini();
        return 2;
    }
    bool matching = strcmp(argv[3], "matching") == 0;
    static struct list list;
    read_sizes(&list, argv + 4, argc - 4);
    char *memory = calloc(2, list.largest);
    ptl_handle_ni_t ni;
    ptl_process_t map[2];
    struct five f;
    check(memory ? PTL_OK : PTL_NO_SPACE, "calloc");
    check(PtlNIInit(PTL_IFACE_DEFAULT, (matching ? PTL_NI_MATCHING : PTL_NI_NO_MATCHING) | PTL_NI_PHYSICAL,
                    PTL_PID_ANY, NULL, NULL, &ni),
          "PtlNIInit");
    check(five_open(&f, ni, matching, memory, memory + list.largest, list.largest), "five_open");
    check(pf_portals_map(ni, map), "pf_portals_map");
    for (int i = 0; i < list.count; i++) {
        usleep(10000);        /* simulated: acknowledgements between the NICs may still be on the wire */
        pf_portals_barrier(); /* both are ready, and the network is empty */
        if (pf_portals_rank() != 0)
            continue;
        double begin = now();
        check(five_run(&f, kind, map[1], list.sizes[i], count), five_names[kind]);
        printf("%s,%llu,%ld,%.9f\n", five_names[kind], (unsigned long long)list.sizes[i], count,
               now() - begin);
    }
    pf_portals_barrier();
    check(PtlNIFini(ni), "PtlNIFini");
    PtlFini();
    free(memory);
    return 0;
}
