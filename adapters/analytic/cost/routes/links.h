/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "adapters/analytic/cost/routes/route.h"
#include "lowlevel/topology/fabric.h"

/*
 * Until when each link of the network is busy; each direction is a link of its own. A message occupies the
 * links of its path one after the other, as its head reaches them, for its bytes at the link's bandwidth;
 * waiting for a link delays its arrival. One message costs a step per hop; memory is 800 bytes per link, and
 * for the platform's routes a bounded number of lists of links.
 */
struct pf_links;

/* The links of a topology, to which it adds ports, all with the same time per byte. */
struct pf_links *pf_links_by_arithmetic(struct pf_fabric *topology, double byte_time);

/* Links of the platform's routes between so many nodes. Messages wait for all of them (`whole`), or for all
 * but the first and the last of a path; `fn` is called once per pair while its answer is cached. */
struct pf_links *pf_links_of_platform(int nodes, bool whole, pf_cost_links_fn *fn, void *context);
void pf_links_free(struct pf_links *links);

/* A pf_cost_links_fn: the links of a path in a topology, which is the context, without their bandwidths. Its
 * ports have been added. */
int pf_links_of_fabric(void *fabric, int src, int dst, struct pf_cost_link *links, int room);

/* A message leaves node `src` for `dst`, another one, at `start`; the latencies on its way add up to
 * `latency`, and its bytes take `duration` on the slowest link. Returns how long it waits on the way. */
double pf_links_load(struct pf_links *links, int src, int dst, size_t bytes, double start, double latency,
                     double duration);

/* How long a short message waits on the platform's routes for the others of this function, not where `whole`
 * nor at the ends of its path. Its head waits for each link in turn, and it arrives when the slowest link has
 * let it pass, or one that it shares with messages of pf_links_wait(), or the last one behind its head. */
double pf_links_pass(struct pf_links *links, int src, int dst, size_t bytes, double start, double duration);

/* These messages also wait at the ends of their paths, which other nodes use as well. */
void pf_links_count_ends(struct pf_links *links);

/* What acknowledges them takes so many bytes of the links that they wait for. */
void pf_links_owe(struct pf_links *links, int src, int dst, double bytes);

/* How long what acknowledges one, with so many bytes, waits for them. Among their intervals is what it takes
 * itself. */
double pf_links_look(struct pf_links *links, int src, int dst, double bytes, double start);

/* How long a message waits for the others of this function, on the platform's routes, not where `whole`. For
 * links that carry messages from or to a single node none waits: that node's NIC serves them. */
double pf_links_wait(struct pf_links *links, int src, int dst, double bytes, double start, double duration);

/* How much of the time from a date on they take of a link, and that others do from `begun` on. */
double pf_links_taken(const struct pf_links *links, int number, double date);
void pf_links_take(struct pf_links *links, int number, double begun, double work);

/* The number of the last message of pf_links_wait(), and how much longer message `number`, with the arguments
 * that it had there, takes because it shares links that serve several nodes with all that are there now. */
uint64_t pf_links_number(const struct pf_links *links);
double pf_links_late(struct pf_links *links, int src, int dst, uint64_t number, double bytes, double start,
                     double duration, int *at);

/* The link at which the last message has waited longest, if it has waited; above: for which link it is late.
 */
int pf_links_waited_at(const struct pf_links *links);

/* The links of a platform's route by number, and how many there are; and the rate of a link in B/s. */
int pf_links_route(struct pf_links *links, int src, int dst, const int **numbers);
double pf_links_rate(const struct pf_links *links, int number);
