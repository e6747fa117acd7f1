/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The five benchmarks of five.h as a Portals program without MPI, for two ranks under pfrun. Rank 0 sends
 * requests to rank 1 and prints one line per size: benchmark,bytes,count,seconds.
 *
 *     request BENCHMARK COUNT
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

int main(int argc, char **argv)
{
    check(PtlInit(), "PtlInit");
    int kind = argc > 2 ? kind_of(argv[1]) : FIVE_KINDS;
    long count = argc > 2 ? atol(argv[2]) : 0;
    if (kind == FIVE_KINDS || count < 1 || pf_portals_size() != 2) {
        fprintf(stderr, "usage: request BENCHMARK COUNT, with two ranks\n");
        PtlFini();
        return 2;
    }
    ptl_size_t sizes[FIVE_SIZES];
    five_sizes(sizes);
    char *memory = calloc(2, FIVE_LARGEST);
    ptl_handle_ni_t ni;
    ptl_process_t map[2];
    struct five f;
    check(memory ? PTL_OK : PTL_NO_SPACE, "calloc");
    check(PtlNIInit(PTL_IFACE_DEFAULT, PTL_NI_MATCHING | PTL_NI_PHYSICAL, PTL_PID_ANY, NULL, NULL, &ni),
          "PtlNIInit");
    check(five_open(&f, ni, true, memory, memory + FIVE_LARGEST, FIVE_LARGEST), "five_open");
    check(pf_portals_map(ni, map), "pf_portals_map");
    for (int i = 0; i < FIVE_SIZES; i++) {
        usleep(10000);        /* simulated: acknowledgements between the NICs may still be on the wire */
        pf_portals_barrier(); /* both are ready, and the network is empty */
        if (pf_portals_rank() != 0)
            continue;
        double begin = now();
        check(five_run(&f, kind, map[1], sizes[i], count), five_names[kind]);
        printf("%s,%llu,%ld,%.9f\n", five_names[kind], (unsigned long long)sizes[i], count, now() - begin);
    }
    pf_portals_barrier();
    check(PtlNIFini(ni), "PtlNIFini");
    PtlFini();
    free(memory);
    return 0;
}
