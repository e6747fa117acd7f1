/* SPDX-License-Identifier: BSD-3-Clause */
/* Background traffic: at a node it takes turns with the program's messages as one, however much of it
 * waits. */
#include "traffic.h"

#include "base/config.h"
#include "lowlevel/network/packet/background.h"

static double arrival;

static void nothing(struct pf_packet_message *m, double date)
{
    (void)m, (void)date;
}

static void arrives(struct pf_packet_message *m, double date)
{
    (void)m;
    arrival = date;
}

/* Node 0 has a message of 400 packets for node 1 when the background has sent all of its link's rate to node
 * 2 for a while: from then on half of the packets are the message's. If each packet of the background took
 * turns for itself, the message would get less, the longer it takes. */
static void it_takes_turns_as_one(void **state)
{
    enum { PACKETS = 400, BEGIN = 200 };
    static const struct pf_packet_message_ops ops = {sizeof ops, nothing, nothing, arrives, nothing};
    struct world w;
    struct pf_packet_message m = {.ops = &ops, .bytes = PACKETS, .source = 0, .destination = 1};
    (void)state;
    world_init(&w);
    w.settings.packet_bytes = 1;
    world_fabric(&w, "star:3");
    world_sim(&w, "minimal");
    pf_config.net_packet_bytes = 1;
    pf_config.net_packet_header = 0;
    pf_config.net_seed = 1;
    pf_config.background = "hotspot:2:1.0:0";
    assert_true(pf_packet_background_open(w.sim, w.fabric));
    pf_packet_sim_advance(w.sim, BEGIN);
    pf_packet_sim_send(w.sim, &m, BEGIN);
    for (double date = BEGIN; arrival == 0.0 && date < 100.0 * PACKETS; date++)
        pf_packet_sim_advance(w.sim, date);
    assert_true(arrival > 0.0);
    assert_in_range((int)(arrival - BEGIN), 2 * PACKETS - 20, 2 * PACKETS + 2);
    pf_packet_sim_free(w.sim); /* it would go on */
    pf_fabric_free(w.fabric);
    free(w.delivered_from);
    free(w.batch_sum);
    free(w.batch_count);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(it_takes_turns_as_one)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
