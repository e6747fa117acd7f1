/* SPDX-License-Identifier: BSD-3-Clause */
/* The flow solver against the definition of max-min fairness, on random networks. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/config.h"
#include "base/memory.h"
#include "fake_engine.h"
#include "lowlevel/network/sharing.h"

enum { RESOURCES = 12, FLOWS = 40, HOPS = 4, NETWORKS = 200, MANY = 600 };

static struct pf_resource resources[RESOURCES];
static struct pf_path *paths[FLOWS];
static struct pf_resource *hops[FLOWS][HOPS];
static struct pf_flow *flows[FLOWS];
static int ended;

static void count_end(void *arg)
{
    *(struct pf_flow **)arg = NULL;
    ended++;
}

static struct pf_path *new_path(int count, struct pf_resource **way)
{
    size_t bytes = (size_t)count * sizeof *way;
    struct pf_path *path = pf_calloc_lines(1, sizeof *path + bytes);
    path->count = count;
    memcpy(path->resources, way, bytes);
    return path;
}

static void random_network(void)
{
    for (int i = 0; i < RESOURCES; i++)
        resources[i] =
            (struct pf_resource){.capacity = 1 + rand() % 10, .shared = rand() % 5 != 0, .on = true};
    resources[0].shared = true;
    for (int i = 0; i < FLOWS; i++) {
        int count = 1 + rand() % HOPS;
        bool used[RESOURCES] = {true};
        hops[i][0] = &resources[0];
        if (rand() % 2) { /* not all flows meet */
            hops[i][0] = &resources[1];
            used[0] = false;
            used[1] = true;
        }
        for (int hop = 1; hop < count; hop++) {
            int pick;
            do
                pick = rand() % RESOURCES;
            while (used[pick]);
            used[pick] = true;
            hops[i][hop] = &resources[pick];
        }
        free(paths[i]);
        paths[i] = new_path(count, hops[i]);
    }
}

static double load(const struct pf_resource *resource, double *fastest)
{
    double sum = 0.0;
    *fastest = 0.0;
    for (int i = 0; i < FLOWS; i++)
        for (int hop = 0; flows[i] && hop < paths[i]->count; hop++)
            if (hops[i][hop] == resource) {
                double rate = pf_sharing_rate(flows[i]);
                sum += rate;
                if (rate > *fastest)
                    *fastest = rate;
            }
    return sum;
}

/* Max-min: no resource is overloaded, and each flow crosses one that is full and where no flow is faster. */
static void assert_fair(void)
{
    for (int i = 0; i < RESOURCES; i++) {
        double fastest;
        double sum = load(&resources[i], &fastest);
        assert_true((resources[i].shared ? sum : fastest) <= resources[i].capacity * (1 + 1e-9));
    }
    for (int i = 0; i < FLOWS; i++) {
        bool limited = false;
        for (int hop = 0; flows[i] && hop < paths[i]->count; hop++) {
            double fastest, rate = pf_sharing_rate(flows[i]);
            double sum = load(hops[i][hop], &fastest);
            double capacity = hops[i][hop]->capacity;
            limited |= hops[i][hop]->shared ? sum >= capacity * (1 - 1e-9) && rate >= fastest * (1 - 1e-9)
                                            : rate >= capacity * (1 - 1e-9);
        }
        assert_true(limited || !flows[i]);
    }
}

static void test_random_networks(void **state)
{
    (void)state;
    srand(11);
    for (int network = 0; network < NETWORKS; network++) {
        random_network();
        ended = 0;
        for (int i = 0; i < FLOWS; i++) {
            flows[i] = pf_sharing_start(paths[i], 1 + rand() % 100, count_end, &flows[i]);
            fake_engine_run_at(pf_engine_now() + 0.01 * (rand() % 3));
            if (i % 7 == 0)
                assert_fair();
        }
        resources[rand() % RESOURCES].capacity *= 2;
        for (int i = 0; i < RESOURCES; i++)
            pf_sharing_changed(&resources[i]);
        fake_engine_run_at(pf_engine_now());
        assert_fair();
        while (fake_engine_step())
            ;
        assert_int_equal(ended, FLOWS);
        for (int i = 0; i < RESOURCES; i++)
            assert_int_equal(resources[i].flow_count, 0);
    }
}

/* How long 600 flows take that start at different dates over 24 links, in the mean, and the last one. */
static double mean_end, last_end;

static void note_end(void *arg)
{
    (void)arg;
    mean_end += pf_engine_now() / MANY;
    last_end = pf_engine_now();
    ended++;
}

static void run_many(long long exact)
{
    static struct pf_resource links[24];
    double start = pf_engine_now();
    pf_config.net_exact_flows = exact;
    mean_end = -start;
    ended = 0;
    srand(5);
    for (int i = 0; i < 24; i++)
        links[i] = (struct pf_resource){.capacity = 8 + rand() % 4, .shared = true, .on = true};
    for (int i = 0; i < MANY; i++) {
        int first = rand() % 8, second = 8 + rand() % 8, third = 16 + rand() % 8;
        struct pf_path *path =
            new_path(3, (struct pf_resource *[]){&links[first], &links[second], &links[third]});
        pf_sharing_start(path, 1000 + rand() % 1000, note_end, NULL);
        free(path);
        fake_engine_run_at(start + i * 0.01);
    }
    while (fake_engine_step())
        ;
    assert_int_equal(ended, MANY);
    last_end -= start;
}

/* Where many share, changes wait for each other: it makes little of the dates, and something. */
static void test_many(void **state)
{
    (void)state;
    run_many(MANY);
    double mean = mean_end, last = last_end;
    run_many(0);
    assert_true(mean_end != mean);
    assert_true(fabs(mean_end - mean) < 2e-3 * mean);
    assert_true(fabs(last_end - last) < 2e-3 * last);
}

/* A flow alone, then two, one of them cancelled: exact dates. */
static void test_dates(void **state)
{
    (void)state;
    struct pf_resource link = {.capacity = 10, .shared = true, .on = true};
    struct pf_path *path = new_path(1, (struct pf_resource *[]){&link});
    double start = pf_engine_now();
    ended = 0;
    flows[0] = pf_sharing_start(path, 100, count_end, &flows[0]);
    pf_sharing_changed(&link);     /* while it has no rate yet */
    fake_engine_run_at(start + 4); /* 60 left */
    flows[1] = pf_sharing_start(path, 1000, count_end, &flows[1]);
    fake_engine_run_at(start + 8); /* 40 left */
    pf_sharing_cancel(flows[1]);
    fake_engine_run_at(start + 8);
    pf_sharing_charge(&link, 20); /* 60 left */
    fake_engine_run_at(start + 13.999);
    assert_int_equal(ended, 0);
    fake_engine_run_at(start + 14.001);
    assert_int_equal(ended, 1);
    free(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random_networks), cmocka_unit_test(test_dates),
                                       cmocka_unit_test(test_many)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
