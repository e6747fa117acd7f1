/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages of one channel over several networks: processed in the order in which they entered, whatever
 * overtakes. */
#include "lowlevel/nic/order.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MESSAGES = 40, ROUNDS = 2000 };

static struct pf_nic_channel channel;
static struct pf_nic_message messages[MESSAGES];
static int processed[MESSAGES], processed_count; /* in this order */

static void process(const struct pf_nic_message *m)
{
    processed[processed_count++] = (int)(m - messages);
}

static void release(void)
{
    struct pf_nic_message *m;
    while ((m = pf_order_next(&channel)))
        process(m);
}

static void enter(int i, int network)
{
    messages[i] = (struct pf_nic_message){.channel = &channel, .transfer.network = (uint8_t)network};
    pf_order_enter(&channel, &messages[i]);
}

static void arrive(int i)
{
    if (pf_order_header(&messages[i])) {
        process(&messages[i]);
        release();
    }
}

static void lose(int i)
{
    pf_order_lost(&messages[i]);
    release();
}

static void start(void)
{
    memset(&channel, 0, sizeof channel);
    processed_count = 0;
}

static void overtaken(void **state)
{
    (void)state;
    start();
    enter(0, 0);
    enter(1, 1);
    arrive(1);
    assert_int_equal(processed_count, 0); /* it waits */
    assert_false(pf_order_tail(&messages[1]));
    arrive(0);
    assert_int_equal(processed_count, 2);
    assert_int_equal(processed[0], 0);
    assert_true(messages[1].held_tail);
}

static void lost_before_it(void **state)
{
    (void)state;
    start();
    enter(0, 0);
    enter(1, 1);
    enter(2, 0);
    arrive(1);
    lose(0);
    assert_int_equal(processed_count, 1); /* no message waits for what is lost */
    lose(2);
    enter(3, 1);
    arrive(3);
    assert_int_equal(processed_count, 2);
    assert_null(channel.early);
}

static void one_network(void **state)
{
    (void)state;
    start();
    for (int i = 0; i < 4; i++)
        enter(i, 1);
    lose(2);
    for (int i = 0; i < 4; i++)
        if (i != 2)
            arrive(i);
    assert_int_equal(processed_count, 3);
    assert_false(channel.mixed);
}

/* Each network keeps its own order; headers come and are lost in any other. */
static void any_order(void **state)
{
    (void)state;
    srand(1);
    for (int round = 0; round < ROUNDS; round++) {
        int entered = 0, next[3] = {0}, open = 0;
        bool gone[MESSAGES] = {false};
        start();
        while (entered < MESSAGES || open > 0) {
            int network = rand() % 3;
            if (entered < MESSAGES && rand() % 2) {
                enter(entered++, network);
                open++;
                continue;
            }
            int *i = &next[network];
            while (*i < entered && messages[*i].transfer.network != network)
                ++*i;
            if (*i == entered)
                continue;
            open--;
            gone[*i] = rand() % 8 == 0;
            if (gone[*i])
                lose((*i)++);
            else
                arrive((*i)++);
        }
        int at = 0;
        for (int i = 0; i < MESSAGES; i++)
            if (!gone[i])
                assert_int_equal(processed[at++], i);
        assert_int_equal(at, processed_count);
        assert_null(channel.early);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(overtaken), cmocka_unit_test(lost_before_it),
                                       cmocka_unit_test(one_network), cmocka_unit_test(any_order)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
