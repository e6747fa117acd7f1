/* SPDX-License-Identifier: BSD-3-Clause */
/* The gaps between reservations of a link, at the number from which on it forgets the earliest one. */
#include <malloc.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/memory.h"
#include "fake_engine.h"
#include "lowlevel/network/loss.h"
#include "lowlevel/network/network.h"
#include "lowlevel/network/path.h"

enum { GAPS = 4096, OVER_BOTH = 0, OVER_SECOND = 1 };

/* A second of the first link is a tenth of a second of the second one. */
static struct pf_resource bus = {.capacity = 1.0, .on = true},
                          first = {.capacity = 0.1, .shared = true, .on = true},
                          second = {.capacity = 1.0, .shared = true, .on = true};
static struct pf_path *paths[2];
static double arrival;

/* ---- What flow.c needs of others. */
int pf_path_links_down;

struct pf_path *pf_path_get(struct pf_network_paths *among, int src, int dst)
{
    (void)among, (void)dst;
    return paths[src];
}

bool pf_path_look_up(const struct pf_path *path)
{
    (void)path;
    return true;
}

void pf_path_on_change(void (*changed)(struct pf_resource *resource))
{
    (void)changed;
}

bool pf_loss_draw(double probability)
{
    (void)probability;
    return false;
}

void pf_engine_post_in(struct pf_event_fifo *fifo, struct pf_event *event, double date)
{
    (void)fifo;
    pf_engine_post(event, date);
}

/* ---- The test. */
static void nothing(struct pf_transfer *t)
{
    (void)t;
}

static void arrived(struct pf_transfer *t)
{
    (void)t;
    arrival = pf_engine_now();
}

static void send(struct pf_transfer *t, int path)
{
    *t = (struct pf_transfer){
        .src = path, .bytes = 1.0, .first = nothing, .sent = nothing, .last = arrived, .lost = nothing};
    pf_network_flow.inject(t);
}

static struct pf_path *new_path(int count, struct pf_resource *a, struct pf_resource *b)
{
    struct pf_path *path = pf_calloc_lines(1, sizeof *path + 4 * sizeof(struct pf_resource *));
    path->resources[path->count++] = &bus;
    path->resources[path->count++] = a;
    if (count == 2)
        path->resources[path->count++] = b;
    path->resources[path->count++] = &bus;
    return path;
}

static void divides_the_earliest_of_all(void **state)
{
    (void)state;
    struct pf_transfer *over_both = pf_calloc(GAPS + 1, sizeof *over_both), dividing, behind;
    paths[OVER_BOTH] = new_path(2, &first, &second);
    paths[OVER_SECOND] = new_path(1, &second, NULL);
    for (int i = 0; i <= GAPS; i++) /* the second link is busy from 10 i to 10 i + 1 */
        send(&over_both[i], OVER_BOTH);
    assert_int_equal(second.gap_end - second.gap_first, GAPS);

    fake_engine_run_at(1.5);
    send(&dividing, OVER_SECOND); /* there from 1.5 to 2.5: what is left of this gap is forgotten */
    assert_int_equal(second.gap_end - second.gap_first, GAPS - 1);
    for (int i = second.gap_first; i < second.gap_end; i++) {
        assert_true(second.gaps[i].begin == 10.0 * (i - second.gap_first + 1) + 1.0);
        assert_true(second.gaps[i].end == 10.0 * (i - second.gap_first + 2));
    }
    size_t usable = malloc_usable_size(second.gaps), needed = (size_t)second.gap_room * sizeof *second.gaps;
    assert_in_range(usable, needed, 2 * needed); /* nothing was written before the list */
    fake_engine_run_at(2.5);
    assert_true(arrival == 2.5);

    send(&behind, OVER_SECOND);
    fake_engine_run_at(12.0);
    assert_true(arrival == 12.0);

    fake_engine_run_at(1e6);
    free(second.gaps);
    free(over_both);
    free(paths[OVER_BOTH]);
    free(paths[OVER_SECOND]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(divides_the_earliest_of_all)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
