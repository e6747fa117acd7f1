/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PF_TEST_TRAFFIC_H
#define PF_TEST_TRAFFIC_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "lowlevel/network/packet/sim.h"

/* A simulator with its fabric and routing, and traffic from nodes to nodes. */
struct world;
typedef int32_t traffic_pattern(struct world *w, int32_t source);

struct world {
    struct pf_fabric_speeds links;
    struct pf_fabric *fabric;
    struct pf_routing routing;
    struct pf_packet_settings settings;
    struct pf_routing_settings routing_settings;
    struct pf_packet_sim *sim;
    uint64_t random; /* state of the generator */

    /* Of traffic_open(). */
    traffic_pattern *pattern;
    double bytes, gap; /* of a message; mean time between two of a node; 0: there is always a next one */
    double end;        /* nothing is sent any more from this date on */
    /* Of those that have arrived from `begin` on. */
    double begin;
    double delivered; /* bytes */
    uint64_t count;
    double *delivered_from; /* per source */
    double *batch_sum;      /* of times, by the date of sending */
    uint64_t *batch_count;
    uint64_t lost;
};

enum { TRAFFIC_BATCHES = 30 };

/* Links of rate 1 and latency 0, routers without latency, messages of one packet of 1 B: slots of 1 s. */
void world_init(struct world *w);
/* Makes fabric, routing, simulator. What the caller changes in the fabric it does between the two. */
void world_fabric(struct world *w, const char *fabric);
void world_sim(struct world *w, const char *routing);
void world_close(struct world *w);

/* One message; its time when the network has become empty. */
double world_send_one(struct world *w, int32_t source, int32_t destination, double bytes);

double world_draw(struct world *w); /* from 0 to 1 */
int32_t world_draw_below(struct world *w, int32_t limit);

/* Poisson arrivals (gap > 0), or always a next message, at every node until w->end; then drains, and asserts
 * that nothing is left. A node whose destination is negative sends nothing. */
void traffic_run(struct world *w);

/* Bytes per second and sending node from begin to end. */
double traffic_throughput(const struct world *w, int32_t nodes);
/* Mean time of a message, and half of its 99 % interval by batches. */
double traffic_latency(const struct world *w, double *interval);

traffic_pattern traffic_uniform; /* all nodes, oneself too */
traffic_pattern traffic_others;

/* a and b are the same to 1e-6 of b. */
void assert_close(double a, double b);
void assert_between(double low, double a, double high);

#endif
