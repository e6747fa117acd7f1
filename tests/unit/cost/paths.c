/* SPDX-License-Identifier: BSD-3-Clause */
/* A platform's routes: how often it is asked for them. */
#include "adapters/analytic/cost/routes/paths.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

static int asked;

static void route(void *context, int src, int dst, double *latency, double *bandwidth)
{
    (void)context;
    asked++;
    *latency = src + dst * 1e-4;
    *bandwidth = 1e9;
}

/* All send to all, from neighbours to the farthest as exchanges do; twice. */
static int questions(int nodes)
{
    struct pf_cost_paths *paths = pf_cost_paths_new(nodes, route, NULL);
    asked = 0;
    for (int round = 0; round < 2; round++)
        for (int distance = 1; distance < nodes; distance++)
            for (int src = 0; src < nodes; src++) {
                int dst = (src + distance) % nodes;
                if (pf_cost_paths_get(paths, src, dst)->latency != src + dst * 1e-4)
                    fail_msg("the path from %d to %d is another one's", src, dst);
            }
    pf_cost_paths_free(paths);
    return asked;
}

static void once_per_pair(void **state)
{
    (void)state;
    assert_int_equal(questions(3), 3 * 2);
    assert_int_equal(questions(PF_PATHS_TABLE), PF_PATHS_TABLE * (PF_PATHS_TABLE - 1));
    assert_true((size_t)PF_PATHS_TABLE * PF_PATHS_TABLE >=
                PF_PATHS_PLACES); /* as much memory is used anyway */
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(once_per_pair)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
