/* SPDX-License-Identifier: BSD-3-Clause */
#include "plan.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <simgrid/engine.h>

static const struct exchange *plan;

static size_t largest_message(void)
{
    size_t largest = 1;
    for (const struct exchange *x = plan; x->count; x++)
        if (x->bytes > largest)
            largest = x->bytes;
    return largest;
}

/* What lies in memory does not matter here: all ranks use the same. */
static char *common_memory(void)
{
    static char *memory;
    if (!memory)
        memory = calloc(1, largest_message());
    return memory;
}

static void program_plan(int rank, int size, void *shared)
{
    (void)size;
    struct endpoint e;
    endpoint_open(&e, PTL_NI_MATCHING | PTL_NI_PHYSICAL, 0, 4096);
    char *data = common_memory();
    endpoint_append(&e, data, largest_message(),
                    PTL_ME_OP_PUT | PTL_ME_EVENT_LINK_DISABLE | PTL_ME_EVENT_UNLINK_DISABLE |
                        PTL_ME_EVENT_COMM_DISABLE,
                    1, PTL_PRIORITY_LIST, NULL);
    world_barrier();
    double start = simgrid_get_clock();
    int acks = 0;
    for (const struct exchange *x = plan; x->count; x++)
        for (int i = 0; x->from == rank && i < x->count; i++, acks++)
            CHECK(PtlPut(e.md, (ptl_size_t)(uintptr_t)data, x->bytes, PTL_ACK_REQ, world_address(x->to), e.pt,
                         1, 0, NULL, 0) == PTL_OK);
    while (acks > 0) {
        ptl_event_t event;
        CHECK(PtlEQWait(e.eq, &event) == PTL_OK && event.ni_fail_type == PTL_NI_OK);
        acks -= event.type == PTL_EVENT_ACK;
    }
    ((double *)shared)[rank] = simgrid_get_clock() - start;
    endpoint_close(&e);
}

const double *plan_run(const struct world *world, const struct exchange *exchanges)
{
    plan = exchanges;
    memset(world_shared(), 0, PLAN_RANKS * sizeof(double));
    assert_int_equal(world_run(world, program_plan), 0);
    return world_shared();
}

const double *plan_run_star(const struct exchange *exchanges, int nodes, int ranks_per_node)
{
    struct world world = {.nodes = nodes, .ranks_per_node = ranks_per_node};
    return plan_run(&world, exchanges);
}

void plan_assert_between(double value, double low, double high)
{
    if (!(value >= low && value <= high))
        fail_msg("%.9f s is not between %.9f s and %.9f s", value, low, high);
}

void plan_assert_near(double value, double expected, double tolerance)
{
    if (!(fabs(value - expected) <= tolerance * expected))
        fail_msg("%.12f s instead of %.12f s +- %g %%", value, expected, 100 * tolerance);
}
