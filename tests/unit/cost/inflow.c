/* SPDX-License-Identifier: BSD-3-Clause */
/* How late a message is because of those that share its target's NIC. */
#include "adapters/analytic/cost/routes/inflow.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void near(double expected, double value)
{
    assert_true(fabs(value - expected) < 1e-12);
}

/* Three that begin together end together; those that begin later take what is left of the first. */
static void test_late(void **state)
{
    struct pf_inflow inflow = {0};
    (void)state;
    uint32_t first = pf_inflow_add(&inflow, 0, 1, 1);
    near(0, pf_inflow_late(&inflow, first, 1, 1));
    uint32_t second = pf_inflow_add(&inflow, 0, 1, 2);
    uint32_t third = pf_inflow_add(&inflow, 0, 1, 3);
    near(2, pf_inflow_late(&inflow, first, 1, 1));
    near(1, pf_inflow_late(&inflow, second, 1, 2));
    near(0, pf_inflow_late(&inflow, third, 1, 3));
    pf_inflow_add(&inflow, 2.75, 5, 8); /* the first has a twelfth of its work left */
    near(2 + 1.0 / 12, pf_inflow_late(&inflow, first, 1, 1));
    pf_inflow_add(&inflow, 9, 1, 10);
    near(2 + 1.0 / 12, pf_inflow_late(&inflow, first, 1, 1));
}

/* It is not later than when the NIC has nothing left. */
static void test_until(void **state)
{
    struct pf_inflow inflow = {0};
    (void)state;
    uint32_t first = pf_inflow_add(&inflow, 0, 1, 1);
    pf_inflow_add(&inflow, 0.5, 0.25, 1.125);
    near(0.125, pf_inflow_late(&inflow, first, 1, 1));
    near(0, pf_inflow_late(&inflow, first, 1, 4));
}

/* More than are kept: the last ones count. */
static void test_many(void **state)
{
    struct pf_inflow inflow = {0};
    (void)state;
    uint32_t first = pf_inflow_add(&inflow, 0, 1, 1);
    for (int i = 0; i < 3 * PF_INFLOW_KEPT; i++)
        pf_inflow_add(&inflow, 0, 1, 2 + i);
    near(PF_INFLOW_KEPT, pf_inflow_late(&inflow, first, 1, 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_late), cmocka_unit_test(test_until),
                                       cmocka_unit_test(test_many)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
