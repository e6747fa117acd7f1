/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "lowlevel/engine/heap.h"

enum { COUNT = 5000 };

/* Random insertions and removals; what remains comes out by date and, at one date, by age. */
static void test_order(void **state)
{
    (void)state;
    static struct pf_event events[COUNT];
    srand(7);
    int inside = 0;
    for (int i = 0; i < COUNT; i++) {
        events[i] = (struct pf_event){.date = rand() % 100, .order = (uint64_t)i};
        pf_heap_insert(&events[i]);
        inside++;
        int victim = rand() % (i + 1);
        if (rand() % 3 == 0 && events[victim].slot) {
            pf_heap_remove(&events[victim]);
            inside--;
        }
    }
    assert_int_equal(pf_heap_size(), inside);
    double date = -1.0;
    uint64_t order = 0;
    for (struct pf_event *first; (first = pf_heap_first()); inside--) {
        assert_true(first->date > date || (first->date == date && first->order > order));
        date = first->date;
        order = first->order;
        pf_heap_remove(first);
        assert_int_equal(first->slot, 0);
    }
    assert_int_equal(inside, 0);
    assert_int_equal(pf_heap_size(), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_order)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
