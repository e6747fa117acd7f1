/* SPDX-License-Identifier: BSD-3-Clause */
/* Searches and single packets in a fabric. */
#include "tests/unit/packet/walk.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

const struct pf_routing_settings walk_settings = {
    .seed = 1, .ugal_bias = 1, .ugal_candidates = 1, .ugal_threshold = 0};

struct pf_fabric *walk_fabric(const char *text)
{
    char error[300];
    struct pf_fabric_speeds links;
    pf_fabric_equal_links(&links, 1e9, 1e-7, 0);
    struct pf_fabric *f = pf_fabric_make(text, &links, error, sizeof error);
    if (!f)
        fail_msg("%s", error);
    return f;
}

void walk_open(struct pf_routing *r, const char *name, const struct pf_fabric *f,
               const struct pf_routing_settings *s)
{
    char error[300];
    if (!pf_routing_open(r, name, f, s, error, sizeof error))
        fail_msg("%s", error);
}

void walk_search(const struct pf_fabric *f, int32_t from, int32_t group, int globals, int *distance)
{
    /* States are (router, globals taken). */
    int layers = group ? globals + 1 : 1;
    size_t states = (size_t)f->routers * (size_t)layers;
    int *at = malloc(states * sizeof *at), *d = malloc(states * sizeof *d);
    assert_non_null(at);
    assert_non_null(d);
    size_t head = 0, tail = 0;
    for (size_t i = 0; i < states; i++)
        d[i] = -1;
    d[from] = 0;
    at[tail++] = from;
    while (head < tail) {
        int state = at[head++], router = state % f->routers, layer = state / f->routers;
        for (int32_t port = 0; port < pf_fabric_port_count(f, router); port++) {
            int32_t peer = pf_fabric_port(f, router, port)->peer;
            if (peer < 0 || peer >= f->routers || !pf_fabric_is_up(f, router, port))
                continue;
            int next = layer + (group && peer / group != router / group);
            if (next >= layers || d[next * f->routers + peer] >= 0)
                continue;
            d[next * f->routers + peer] = d[state] + 1;
            at[tail++] = next * f->routers + peer;
        }
    }
    for (int32_t v = 0; v < f->routers; v++) {
        distance[v] = -1;
        for (int layer = 0; layer < layers; layer++) {
            int x = d[layer * f->routers + v];
            if (x >= 0 && (distance[v] < 0 || x < distance[v]))
                distance[v] = x;
        }
    }
    free(at);
    free(d);
}

int walk_packet(const struct pf_routing *r, int32_t source, int32_t destination, uint64_t id, int most,
                const struct pf_packet_load *load, walk_seen_fn *seen, void *context)
{
    const struct pf_fabric *f = r->fabric;
    int32_t router = pf_fabric_router_of(f, source);
    struct pf_packet_path p;
    struct pf_packet_hop hop;
    pf_routing_start(&p, source, destination, id);
    r->ops->begin(r, load, &p);
    for (;;) {
        if (seen)
            seen(context, router, &p);
        if (!r->ops->next(r, router, load, &p, &hop))
            return -1;
        assert_true(pf_fabric_is_up(f, router, hop.port));
        assert_in_range(hop.port, 0, pf_fabric_port_count(f, router) - 1);
        assert_in_range(hop.vc, 0, r->classes - 1);
        router = pf_fabric_port(f, router, hop.port)->peer;
        assert_true(router >= 0);
        if (router >= f->routers) {
            assert_int_equal(router - f->routers, destination);
            return p.hops;
        }
        pf_routing_take(&hop, &p);
        if (p.hops > most)
            fail_msg("%s on %s: packet %llu from %d to %d takes more than %d links", r->ops->name, f->text,
                     (unsigned long long)id, source, destination, most);
    }
}
