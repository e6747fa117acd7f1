/* SPDX-License-Identifier: BSD-3-Clause */
/* Intervals: Student's t against tables, batch means of a queue whose mean is known, quantiles. */
#include "tools/pfnet/statistic.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "lowlevel/topology/topology.h"

static void near(double a, double b, double relative)
{
    if (!(fabs(a - b) <= relative * fabs(b)))
        fail_msg("%.9g is not %.9g", a, b);
}

/* With two values that differ by 2, half the width of the interval is the quantile of Student's t for one
 * degree of freedom (Abramowitz and Stegun, table 26.10). */
static void test_student(void **state)
{
    static const double confidence[] = {0.9, 0.95, 0.99}, quantile[] = {6.314, 12.706, 63.657};
    (void)state;
    for (int i = 0; i < 3; i++) {
        double half;
        near(statistic_mean_of((const double[]){3, 5}, 2, confidence[i], &half), 4, 1e-15);
        near(half, quantile[i], 1e-4);
    }
}

static double part(uint64_t *counter)
{
    return ((double)(pf_topology_hash((*counter)++) >> 11) + 1) * 0x1p-53;
}

/* The waiting times of M/D/1 by Lindley's recursion are correlated; their mean is rho / (2 (1 - rho)). The
 * interval must hold it nearly as often as it says. */
static void test_coverage(void **state)
{
    enum { RUNS = 400, BATCHES = 20, LENGTH = 1000 };
    struct statistic *s = malloc(sizeof *s);
    const double rho = 0.7, truth = rho / (2 * (1 - rho));
    int held = 0;
    uint64_t counter = 1;
    (void)state;
    for (int run = 0; run < RUNS; run++) {
        double wait = 0, half;
        statistic_start(s, BATCHES, 0.01);
        for (int i = 0; i < 500 + BATCHES * LENGTH; i++) {
            if (i >= 500)
                statistic_add(s, (i - 500) / LENGTH, wait);
            wait = fmax(0, wait + 1 + log(part(&counter)) / rho);
        }
        double mean = statistic_mean(s, 0.95, &half);
        held += fabs(mean - truth) <= half;
    }
    free(s);
    print_message("the interval of 95 %% held the mean in %.1f %% of the runs\n", 100.0 * held / RUNS);
    assert_in_range(held, RUNS * 90 / 100, RUNS * 98 / 100);
}

static void test_quantiles(void **state)
{
    struct statistic *s = malloc(sizeof *s);
    double half;
    (void)state;
    statistic_start(s, 2, 0.1);
    for (int i = 1; i <= 1000; i++)
        statistic_add(s, i % 2, i);
    near(statistic_quantile(s, 0.5), 500, 0.02);
    near(statistic_quantile(s, 0.99), 990, 0.02);
    near(statistic_mean(s, 0.95, &half), 500.5, 1e-12);
    near(half, 12.706 * 0.5, 1e-3); /* two means, 500 and 501 */
    assert_true(statistic_count(s) == 1000 && s->most == 1000);
    free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_student), cmocka_unit_test(test_coverage),
                                       cmocka_unit_test(test_quantiles)};
    return cmocka_run_group_tests_name("pfnet statistic", tests, NULL, NULL);
}
