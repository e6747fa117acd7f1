/* SPDX-License-Identifier: BSD-3-Clause */
/* The event engine inside SimGrid: dates, order, waking, deadlocks, and that it has no effect while it has
 * nothing to do. */
#include "world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <simgrid/actor.h>
#include <simgrid/comm.h>
#include <simgrid/engine.h>
#include <simgrid/mailbox.h>
#include <simgrid/semaphore.h>

struct numbered {
    struct pf_event event;
    int number;
};

static int last_number, executed;
static double last_date;
static struct pf_waiter waiter;
static struct numbered late;

static void check_order(struct pf_event *event)
{
    const struct numbered *numbered = pf_container_of(event, struct numbered, event);
    CHECK(pf_engine_inside());
    CHECK(pf_engine_now() == event->date);
    CHECK(event->date > last_date || (event->date == last_date && numbered->number > last_number));
    last_date = event->date;
    last_number = numbered->number;
    executed++;
}

static void wake(struct pf_event *event)
{
    check_order(event);
    pf_waiter_wake(&waiter);
}

/* A part of the events goes through fifos: one is posted in the order of dates, as fifos are meant, one
 * nearly, one not at all. */
static void post_somehow(struct pf_event *event, int number, double date)
{
    static struct pf_event_fifo fifos[3];
    if (number % 4 == 3)
        pf_engine_post(event, date);
    else
        pf_engine_post_in(&fifos[number % 4], event, date);
}

static double date_of(int number)
{
    if (number % 100 == 99)
        return 1.0 + number;
    double random = (rand() % 500) / 7.0;
    return 1.0 + (number % 4 == 0 ? number / 30 : number % 4 == 1 ? number / 30 + random / 20.0 : random);
}

/* Events at random dates, some cancelled, some moved; the rank is woken at exact dates and between them its
 * clock is its own. */
static void program_order(int rank, int size, void *shared)
{
    (void)size, (void)shared;
    enum { COUNT = 2000 };
    static struct numbered events[COUNT];
    if (rank != 0) { /* SimGrid's own events in between */
        for (int i = 0; i < 50; i++)
            sg_actor_sleep_for(0.1);
        return;
    }
    pf_engine_start();
    pf_engine_start();
    pf_waiter_init(&waiter);
    srand(3);
    for (int i = 0; i < COUNT; i++) {
        events[i].number = i;
        pf_event_init(&events[i].event, i % 100 == 99 ? wake : check_order);
        post_somehow(&events[i].event, i, date_of(i));
    }
    for (int i = 0; i < COUNT; i += 5)
        pf_engine_cancel(&events[i].event);
    for (int i = 0; i < COUNT; i += 10) {
        post_somehow(&events[i].event, i / 10, 60.0 + i / 2);
        events[i].number = COUNT + i;
    }
    for (int i = 99; i < COUNT; i += 100) {
        pf_waiter_park(&waiter);
        CHECK(simgrid_get_clock() == 1.0 + i);
        CHECK(pf_engine_now() == simgrid_get_clock() && !pf_engine_inside());
    }
    CHECK(executed == COUNT - COUNT / 5 + COUNT / 10);
    double now = simgrid_get_clock();
    CHECK(!pf_waiter_park_until(&waiter, now + 0.25) && simgrid_get_clock() == now + 0.25);
    events[99].number = 2 * COUNT;
    pf_engine_post(&events[99].event, now + 0.5);
    CHECK(pf_waiter_park_until(&waiter, now + 0.75) && simgrid_get_clock() == now + 0.5);
    events[99].number++;
    pf_engine_post(&events[99].event, now - 100); /* never in the past */
    CHECK(pf_waiter_park_until(&waiter, now + 0.75) && simgrid_get_clock() == now + 0.5);
    CHECK(executed == COUNT - COUNT / 5 + COUNT / 10 + 2);
}

/* The step hook sees every step of SimGrid and may post an event for the present date. */
static int steps;

static void count_step(void)
{
    if (++steps == 5)
        pf_engine_post(&late.event, pf_engine_now());
}

static void wake_waiter(struct pf_event *event)
{
    (void)event;
    pf_waiter_wake(&waiter);
}

static void program_hook(int rank, int size, void *shared)
{
    (void)size, (void)shared;
    if (rank == 0) {
        pf_engine_start();
        pf_waiter_init(&waiter);
        pf_event_init(&late.event, wake_waiter);
        pf_engine_set_step_hook(count_step);
        pf_waiter_park(&waiter);
        pf_engine_set_step_hook(NULL);
        CHECK(steps == 5 && simgrid_get_clock() == 4.0);
    } else {
        for (int i = 0; i < 10; i++)
            sg_actor_sleep_for(1.0);
    }
}

/* One actor wakes another at the present date. */
static void program_wake(int rank, int size, void *shared)
{
    (void)size, (void)shared;
    if (rank == 0) {
        pf_engine_start();
        pf_waiter_init(&waiter);
        pf_waiter_park(&waiter);
        CHECK(simgrid_get_clock() == 2.0);
    } else {
        sg_actor_sleep_for(2.0);
        pf_waiter_wake(&waiter);
        pf_waiter_wake(&waiter);
        CHECK(simgrid_get_clock() == 2.0);
        sg_actor_sleep_for(1.0);
    }
}

/* Left-over events do not prolong the simulation; *shared = its end. */
static void do_nothing(struct pf_event *event)
{
    (void)event;
}

static void program_leftover(int rank, int size, void *shared)
{
    (void)size;
    if (rank == 0) {
        pf_engine_start();
        pf_event_init(&late.event, do_nothing);
        pf_engine_post(&late.event, 1000.0);
    }
    sg_actor_sleep_for(rank);
    *(double *)shared = simgrid_get_clock();
}

/* Ranks that nothing will wake are a deadlock, also after events that woke none. */
static void program_deadlock(int rank, int size, void *shared)
{
    (void)rank, (void)size, (void)shared;
    pf_engine_start();
    struct numbered useless;
    pf_event_init(&useless.event, do_nothing);
    pf_engine_post(&useless.event, 3.0);
    struct pf_waiter forever;
    pf_waiter_init(&forever);
    pf_waiter_park(&forever);
}

/* SimGrid traffic whose end dates are compared to the last digit, with and without an idle engine. */
static bool with_engine;
static void program_traffic(int rank, int size, void *shared)
{
    if (with_engine)
        pf_engine_start();
    double *dates = shared;
    char name[32];
    static int payload;
    for (int i = 0; i < 20; i++) {
        snprintf(name, sizeof name, "box-%d-%d", (rank + (rank % 2 ? -1 : 1)) % size, i);
        sg_comm_t out = sg_mailbox_put_async(sg_mailbox_by_name(name), &payload, 1000 + 977 * rank * i);
        snprintf(name, sizeof name, "box-%d-%d", rank, i);
        sg_mailbox_get(sg_mailbox_by_name(name));
        sg_comm_wait(out);
        sg_actor_sleep_for(1e-7 / (1 + rank + i));
    }
    dates[rank] = simgrid_get_clock();
}

/* Ranks that park, and between that do all that SimGrid has to see: which was where at which date. */
struct history {
    uint64_t hash;
    int entries;
};
static struct history *history;
static sg_sem_t signal_to_last;

static void note(int rank)
{
    double date = simgrid_get_clock();
    uint64_t bits;
    memcpy(&bits, &date, sizeof bits);
    history->hash = (history->hash ^ bits) * 0x9e3779b97f4a7c15U + (uint64_t)rank;
    history->entries++;
}

/* A helper that parks for ever, as a daemon or until it is killed. */
static void helper_main(int argc, char *argv[])
{
    (void)argc, (void)argv;
    struct pf_waiter own;
    pf_waiter_init(&own);
    note(100);
    pf_waiter_park_until(&own, 1e6);
    note(101);
}

static void brief_main(int argc, char *argv[])
{
    (void)argc, (void)argv;
    struct pf_waiter own;
    pf_waiter_init(&own);
    pf_waiter_park_until(&own, simgrid_get_clock() + 0.125);
    note(102);
}

static void note_event(struct pf_event *event)
{
    (void)event;
    note(103);
}

static sg_actor_t start_helper(xbt_main_func_t code)
{
    sg_actor_t helper = sg_actor_init("helper", sg_host_self());
    sg_actor_set_data(helper, NULL);
    sg_actor_start_(helper, code, 0, NULL);
    return helper;
}

static void be_busy(int rank, int step)
{
    static sg_actor_t ranks[4], victim;
    static int payload;
    ranks[rank] = sg_actor_self();
    if (rank == 3) { /* waits for SimGrid, not for us */
        sg_sem_acquire(signal_to_last);
        return;
    }
    if (rank == 1 && step == 5)
        sg_actor_suspend(ranks[2]); /* it is parked, and its timer rings before ... */
    if (rank == 1 && step == 7)
        sg_actor_resume(ranks[2]); /* ... it may run */
    if (rank == 0 && step % 3 == 0)
        sg_sem_release(signal_to_last);
    if (rank == 0 && step == 4)
        victim = start_helper(helper_main);
    if (rank == 1 && step == 9)
        sg_actor_kill(victim);
    if (rank == 0 && step == 8)
        sg_actor_daemonize(start_helper(helper_main));
    if (rank == 0 && step == 10)
        sg_actor_join(start_helper(brief_main), -1.0);
    if (rank == 0 && step == 12)
        sg_comm_unref(sg_mailbox_put_async(sg_mailbox_by_name("box"), &payload, 5e8));
    if (rank == 1 && step == 13)
        sg_mailbox_get(sg_mailbox_by_name("box"));
    if (rank == 2 && step % 4 == 0) {
        pf_engine_post(&late.event, simgrid_get_clock()); /* when all actors have run */
        sg_actor_yield();
    }
    if (rank == 2 && step == 15)
        sg_actor_sleep_for(0.375);
}

static void program_rounds(int rank, int size, void *shared)
{
    (void)size;
    enum { STEPS = 30 };
    history = shared;
    if (rank == 0)
        signal_to_last = sg_sem_init(0);
    pf_event_init(&late.event, note_event);
    world_barrier();
    pf_engine_start();
    struct pf_waiter own;
    pf_waiter_init(&own);
    int steps_of_rank = rank == 3 ? STEPS / 3 : STEPS - rank;
    for (int step = 0; step < steps_of_rank; step++) {
        if (rank != 3)
            pf_waiter_park_until(&own, 1.0 + step + (step % 2 ? 0.1 * rank : 0.0));
        note(rank);
        be_busy(rank, step);
        note(10 + rank);
    }
}

/* Ranks that work, many for the same time or nearly so. */
static bool by_engine;

static void program_work(int rank, int size, void *shared)
{
    (void)size;
    enum { STEPS = 60 };
    history = shared;
    world_barrier();
    pf_engine_start();
    for (int step = 0; step < STEPS; step++) {
        double seconds = 1e-9 * (1 + (rank * 5 + step) % 4 * 0.3 + (step % 3 ? 0 : 0.7 * rank)), owed = 0;
        if (by_engine)
            pf_engine_pay(&owed, seconds);
        else
            sg_actor_sleep_for(seconds);
        note(rank);
    }
}

static const char *const single_steps[] = {"PARFOCAL_ENGINE_RUN_AHEAD=no", NULL};
static const char *const semaphores[] = {"PARFOCAL_ENGINE_ANSWERS=no", NULL};
static const char *const whole_rounds[] = {"PARFOCAL_ENGINE_SHORT_ROUNDS=no", NULL};

static void run(world_program program, int status)
{
    struct world world = {.nodes = 2};
    assert_int_equal(world_run(&world, program), status);
    world.settings = single_steps;
    assert_int_equal(world_run(&world, program), status);
    world.settings = semaphores;
    assert_int_equal(world_run(&world, program), status);
    world.settings = whole_rounds;
    assert_int_equal(world_run(&world, program), status);
}

/* The same actors at the same dates in the same order, however they are woken. */
static void test_rounds(void **state)
{
    (void)state;
    struct world world = {.nodes = 4};
    struct history first;
    char text[4096];
    const char *const *const settings[] = {whole_rounds, NULL, single_steps};
    for (int round = 0; round < 3; round++) {
        memset(world_shared(), 0, sizeof first);
        world.settings = settings[round];
        assert_int_equal(world_run_text(&world, program_rounds, text, sizeof text), 0);
        assert_null(strstr(text, "Oops")); /* SimGrid's complaint of a daemon that is left */
        if (round == 0)
            memcpy(&first, world_shared(), sizeof first);
        assert_memory_equal(world_shared(), &first, sizeof first);
    }
    assert_true(first.entries > 100);
}

/* As if they slept in SimGrid, to the last digit and in the same order. */
static void test_work(void **state)
{
    (void)state;
    struct world world = {.nodes = 4};
    struct history first;
    const char *const *const settings[] = {NULL, NULL, whole_rounds, single_steps};
    for (int round = 0; round < 4; round++) {
        memset(world_shared(), 0, sizeof first);
        world.settings = settings[round];
        by_engine = round > 0;
        assert_int_equal(world_run(&world, program_work), 0);
        if (round == 0)
            memcpy(&first, world_shared(), sizeof first);
        assert_memory_equal(world_shared(), &first, sizeof first);
    }
    assert_int_equal(first.entries, 4 * 60);
}

static void test_order(void **state)
{
    (void)state;
    run(program_order, 0);
}

static void test_wake(void **state)
{
    (void)state;
    run(program_wake, 0);
}

static void test_hook(void **state)
{
    (void)state;
    run(program_hook, 0);
}

static void test_leftover(void **state)
{
    (void)state;
    run(program_leftover, 0);
    assert_true(*(double *)world_shared() == 1.0);
}

static void test_deadlock(void **state)
{
    (void)state;
    run(program_deadlock, 4);
}

static void test_purity(void **state)
{
    (void)state;
    struct world world = {.nodes = 8};
    double without[8];
    with_engine = false;
    assert_int_equal(world_run(&world, program_traffic), 0);
    memcpy(without, world_shared(), sizeof without);
    with_engine = true;
    const char *const *const settings[] = {NULL, single_steps, semaphores, whole_rounds};
    for (int round = 0; round < 4; round++) {
        world.settings = settings[round];
        memset(world_shared(), 0, sizeof without);
        assert_int_equal(world_run(&world, program_traffic), 0);
        assert_memory_equal(world_shared(), without, sizeof without);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order),    cmocka_unit_test(test_wake),     cmocka_unit_test(test_hook),
        cmocka_unit_test(test_leftover), cmocka_unit_test(test_deadlock), cmocka_unit_test(test_purity),
        cmocka_unit_test(test_rounds),   cmocka_unit_test(test_work),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
