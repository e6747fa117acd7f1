/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A token goes round a ring of ranks, by Portals alone: no MPI. Each rank adds its number and puts the token
 * into its right neighbour's memory; a counting event there says that it has come.
 *
 *     ring [LAPS]
 */
#include <parfocal_portals.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define CHECK(call)                                                                                          \
    do {                                                                                                     \
        int status = (call);                                                                                 \
        if (status != PTL_OK) {                                                                              \
            fprintf(stderr, "ring: rank %d: %s returned %d\n", pf_portals_rank(), #call, status);            \
            exit(1);                                                                                         \
        }                                                                                                    \
    } while (0)

/* What a rank needs to take part. */
struct place {
    ptl_handle_ni_t ni;
    ptl_pt_index_t door;      /* where messages for this rank arrive: the same index everywhere */
    ptl_handle_ct_t arrivals; /* counts them */
    ptl_handle_md_t memory;   /* where puts take their bytes from */
    uint64_t token;
};

static void open_interface(struct place *p)
{
    int size = pf_portals_size();
    ptl_process_t *map = malloc((size_t)size * sizeof *map);
    CHECK(PtlNIInit(PTL_IFACE_DEFAULT, PTL_NI_NO_MATCHING | PTL_NI_LOGICAL, PTL_PID_ANY, NULL, NULL, &p->ni));
    CHECK(map ? pf_portals_map(p->ni, map) : PTL_NO_SPACE);
    CHECK(PtlSetMap(p->ni, (ptl_size_t)size, map));
    free(map);
}

static void open_door(struct place *p)
{
    ptl_handle_le_t entry;
    CHECK(PtlCTAlloc(p->ni, &p->arrivals));
    CHECK(PtlPTAlloc(p->ni, 0, PTL_EQ_NONE, 7, &p->door));
    ptl_le_t le = {.start = &p->token,
                   .length = sizeof p->token,
                   .ct_handle = p->arrivals,
                   .uid = PTL_UID_ANY,
                   .options = PTL_LE_OP_PUT | PTL_LE_EVENT_CT_COMM};
    CHECK(PtlLEAppend(p->ni, p->door, &le, PTL_PRIORITY_LIST, NULL, &entry));
    ptl_md_t md = {
        .start = &p->token, .length = sizeof p->token, .eq_handle = PTL_EQ_NONE, .ct_handle = PTL_CT_NONE};
    CHECK(PtlMDBind(p->ni, &md, &p->memory));
}

static void pass_on(struct place *p)
{
    ptl_process_t right = {.rank = (ptl_rank_t)((pf_portals_rank() + 1) % pf_portals_size())};
    p->token += (uint64_t)pf_portals_rank();
    CHECK(PtlPut(p->memory, 0, sizeof p->token, PTL_NO_ACK_REQ, right, p->door, 0, 0, NULL, 0));
}

static double now(void)
{
    struct timespec ts; /* the simulated clock */
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (double)ts.tv_sec + 1e-9 * (double)ts.tv_nsec;
}

int main(int argc, char **argv)
{
    static struct place p;
    int laps = argc > 1 ? atoi(argv[1]) : 10;
    CHECK(PtlInit());
    int rank = pf_portals_rank(), size = pf_portals_size();
    if (laps < 1) {
        if (rank == 0)
            fprintf(stderr, "usage: ring [LAPS], at least 1\n");
        PtlFini();
        return 2;
    }
    open_interface(&p);
    open_door(&p);
    pf_portals_barrier(); /* every door is open */

    double begin = now();
    for (int lap = 0; lap < laps; lap++) {
        ptl_ct_event_t count;
        if (rank == 0)
            pass_on(&p);
        CHECK(PtlCTWait(p.arrivals, (ptl_size_t)lap + 1, &count));
        if (rank != 0)
            pass_on(&p);
    }
    double elapsed = now() - begin;

    pf_portals_barrier(); /* no rank closes while the token is on its way */
    int wrong = 0;
    if (rank == 0) {
        uint64_t expected = (uint64_t)laps * (uint64_t)size * (uint64_t)(size - 1) / 2;
        wrong = p.token != expected;
        printf("ring: %d ranks, %d laps, token %llu (%s)\n", size, laps, (unsigned long long)p.token,
               wrong ? "wrong" : "right");
        printf("T %.3f us from rank to rank\n", 1e6 * elapsed / laps / size);
    }
    CHECK(PtlNIFini(p.ni));
    PtlFini();
    return wrong;
}
