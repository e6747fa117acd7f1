/* SPDX-License-Identifier: BSD-3-Clause */
#include <malloc.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "lowlevel/engine/heap.h"

enum { COUNT = 5000 };

static struct pf_heap heap;

/* Random insertions and removals; what remains comes out by date and, at one date, by age. */
static void test_order(void **state)
{
    (void)state;
    static struct pf_event events[COUNT];
    srand(7);
    int inside = 0;
    for (int i = 0; i < COUNT; i++) {
        events[i] = (struct pf_event){.date = rand() % 100, .order = (uint64_t)i};
        pf_heap_insert(&heap, &events[i]);
        inside++;
        int victim = rand() % (i + 1);
        if (rand() % 3 == 0 && events[victim].slot) {
            pf_heap_remove(&heap, &events[victim]);
            inside--;
        }
    }
    assert_int_equal(pf_heap_size(&heap), inside);
    double date = -1.0;
    uint64_t order = 0;
    for (struct pf_event *first; (first = pf_heap_first(&heap)); inside--) {
        assert_true(first->date > date || (first->date == date && first->order > order));
        date = first->date;
        order = first->order;
        pf_heap_remove(&heap, first);
        assert_int_equal(first->slot, 0);
    }
    assert_int_equal(inside, 0);
    assert_int_equal(pf_heap_size(&heap), 0);
}

/* As in a queue whose first event leaves: the next one takes its place, now and then much later. */
static void test_replace(void **state)
{
    (void)state;
    enum { QUEUES = 21, LENGTH = 300 };
    static struct pf_event events[QUEUES][LENGTH];
    srand(8);
    for (int i = 0; i < LENGTH; i++)
        for (int q = 0; q < QUEUES; q++)
            events[q][i] = (struct pf_event){.date = i ? events[q][i - 1].date + rand() % (q + 1) : 0.0,
                                             .order = (uint64_t)(i * QUEUES + q)};
    for (int q = 0; q < QUEUES; q++)
        pf_heap_insert(&heap, &events[q][0]);
    const struct pf_event *before = NULL;
    for (int n = 0; n < QUEUES * LENGTH; n++) {
        struct pf_event *first = pf_heap_first(&heap);
        assert_true(!before || first->date > before->date ||
                    (first->date == before->date && first->order > before->order));
        bool last = first->order / QUEUES == LENGTH - 1;
        if (last)
            pf_heap_remove(&heap, first);
        else
            pf_heap_replace(&heap, first, first + 1);
        assert_int_equal(first->slot, 0);
        assert_true(last || first[1].slot != 0);
        before = first;
    }
    assert_int_equal(pf_heap_size(&heap), 0);
}

/* Dates are compared by their bits. */
static void test_zero(void **state)
{
    (void)state;
    struct pf_event early = {.date = -0.0, .order = 1}, late = {.date = 0.0, .order = 2};
    pf_heap_insert(&heap, &late);
    pf_heap_insert(&heap, &early);
    assert_ptr_equal(pf_heap_first(&heap), &early);
    pf_heap_remove(&heap, &early);
    assert_ptr_equal(pf_heap_first(&heap), &late);
    pf_heap_remove(&heap, &late);
    assert_null(pf_heap_first(&heap));
}

int main(void)
{
    mallopt(M_PERTURB, 0xfe); /* memory begins as 0x01...: no leaf, and as a key earlier than any date here */
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_order), cmocka_unit_test(test_replace),
                                       cmocka_unit_test(test_zero)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
