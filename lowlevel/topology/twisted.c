/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Twisted torus: a wrap in dimension i also moves dimension (i + degree) mod n by jump[i] positions (Camara
 * et al., "Twisted torus topologies for enhanced interconnection networks", 2010). It looks the same from no
 * two positions, so that distances are searched and kept. Each hop of a way has a class of its own.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "lowlevel/topology/topology.h"

enum { DIMENSIONS = 8, POSITIONS = 4096 /* 32 MiB of distances */ };

struct twisted {
    int dimensions, degree, diameter;
    int32_t positions, terminals;
    int32_t k[DIMENSIONS], jump[DIMENSIONS], wraps[DIMENSIONS];
    int32_t *next;      /* [position][port]; -1: none */
    uint16_t *distance; /* [to][from] */
};

/* One step along a dimension; -1: an end that does not wrap. */
static int32_t neighbour(const struct twisted *t, int32_t position, int dimension, int step)
{
    int32_t x[DIMENSIONS], result = 0;
    for (int i = 0; i < t->dimensions; i++) {
        x[i] = position % t->k[i];
        position /= t->k[i];
    }
    x[dimension] += step;
    if (x[dimension] < 0 || x[dimension] == t->k[dimension]) {
        int other = (dimension + t->degree) % t->dimensions;
        if (!t->wraps[dimension])
            return -1;
        x[dimension] = x[dimension] < 0 ? t->k[dimension] - 1 : 0;
        if (other != dimension)
            x[other] = (x[other] + step * t->jump[dimension] + t->k[other]) % t->k[other];
    }
    for (int i = t->dimensions - 1; i >= 0; i--)
        result = result * t->k[i] + x[i];
    return result;
}

static void search(struct twisted *t, int32_t to, int32_t *queue)
{
    uint16_t *distance = t->distance + (size_t)to * (size_t)t->positions;
    int32_t tail = 0;
    memset(distance, 0xff, (size_t)t->positions * sizeof *distance);
    distance[to] = 0;
    queue[tail++] = to;
    for (int32_t head = 0; head < tail; head++)
        for (int port = 0; port < 2 * t->dimensions; port++) {
            int32_t at = queue[head], next = t->next[at * 2 * t->dimensions + port];
            if (next < 0 || distance[next] != UINT16_MAX)
                continue;
            distance[next] = (uint16_t)(distance[at] + 1);
            t->diameter = distance[next] > t->diameter ? distance[next] : t->diameter;
            queue[tail++] = next;
        }
}

/* The tables, in the block of the shape. */
static struct twisted *with_tables(struct twisted *t)
{
    size_t size = (size_t)t->positions, ports = 2 * size * (size_t)t->dimensions;
    t = pf_realloc(t, sizeof *t + ports * sizeof *t->next + size * size * sizeof *t->distance);
    t->next = (int32_t *)(t + 1);
    t->distance = (uint16_t *)(t->next + ports);
    for (size_t i = 0; i < ports; i++) {
        int port = (int)(i % (2 * (size_t)t->dimensions));
        t->next[i] = neighbour(t, (int32_t)(i / (2 * (size_t)t->dimensions)), port / 2, port % 2 ? -1 : 1);
    }
    int32_t *queue = pf_calloc(size, sizeof *queue);
    for (int32_t to = 0; to < t->positions; to++)
        search(t, to, queue);
    free(queue);
    return t;
}

static int distance(const struct twisted *t, int32_t from, int32_t to)
{
    return t->distance[(size_t)to * (size_t)t->positions + (size_t)from];
}

static int twisted_hops(const struct pf_fabric *f, int32_t router, int32_t node)
{
    const struct twisted *t = f->shape;
    return distance(t, router, node / t->terminals);
}

static int twisted_choices(const struct pf_fabric *f, int32_t router, int32_t node, int32_t *ports)
{
    const struct twisted *t = f->shape;
    int32_t target = node / t->terminals, behind[2 * DIMENSIONS];
    int count = 0, left = distance(t, router, target);
    for (int port = 0; port < 2 * t->dimensions; port++) {
        int32_t next = t->next[router * 2 * t->dimensions + port];
        if (next < 0 || distance(t, next, target) != left - 1)
            continue;
        if (f->down && (!pf_fabric_is_up(f, router, t->terminals + port) ||
                        (next != target && !twisted_choices(f, next, node, behind))))
            continue;
        ports[count++] = t->terminals + port;
    }
    return count;
}

/* `way`: hops of this leg so far. */
static bool twisted_step(const struct pf_fabric *f, uint64_t key, int32_t router, int32_t node, uint8_t way,
                         struct pf_packet_hop *hop)
{
    int32_t ports[2 * DIMENSIONS];
    if (!twisted_choices(f, router, node, ports))
        return false;
    hop->port = ports[0];
    hop->vc = way;
    hop->way = (uint8_t)(way + 1);
    return true;
}

static struct pf_topology_classes twisted_classes(const struct pf_fabric *f)
{
    const struct twisted *t = f->shape;
    return (struct pf_topology_classes){t->diameter ? t->diameter : 1, "one class per hop", false};
}

static int twisted_extents(const struct pf_fabric *f, int32_t *extents, int *in_group)
{
    const struct twisted *t = f->shape;
    *in_group = 1;
    extents[0] = t->terminals;
    memcpy(extents + 1, t->k, (size_t)t->dimensions * sizeof *extents);
    return t->dimensions + 1;
}

static int32_t twisted_ports(const void *shape, int32_t router)
{
    const struct twisted *t = shape;
    return t->terminals + 2 * t->dimensions;
}

/* The link upwards arrives where the neighbour's port downwards leads back. */
static void twisted_wire(struct pf_fabric *f, const struct pf_fabric_speeds *links)
{
    const struct twisted *t = f->shape;
    for (int32_t v = 0; v < f->routers; v++)
        for (int port = 0; port < 2 * t->dimensions; port += 2) {
            int32_t next = t->next[v * 2 * t->dimensions + port];
            if (next >= 0 && next != v)
                pf_fabric_connect(f, v, t->terminals + port, next, t->terminals + port + 1, PF_LINK_LOCAL,
                                  links);
        }
}

static const struct pf_fabric_ops ops = {
    .size = sizeof(struct pf_fabric_ops),
    .family = "grid",
    .ports = twisted_ports,
    .wire = twisted_wire,
    .extents = twisted_extents,
    .hops = twisted_hops,
    .step = twisted_step,
    .step_classes = twisted_classes,
    .choices = twisted_choices,
    .choice_classes = twisted_classes,
    .choice_class = pf_topology_class_hop,
    PF_TOPOLOGY_WITHOUT_GROUPS,
    .may_turn = pf_topology_may_turn_once,
    .turn_classes = twisted_classes,
};

/* "AxB[,T][,jump=1x1][,degree=1][,wrap=1x1]". Returns what is wrong, or NULL. */
static const char *read_shape(struct twisted *t, const char *text)
{
    const char *end = text;
    t->terminals = 1;
    t->dimensions = pf_fabric_read_numbers(text, 'x', t->k, DIMENSIONS, POSITIONS, &end);
    if (t->dimensions < 1 || (*end == ',' && end[1] >= '0' && end[1] <= '9' &&
                              pf_fabric_read_numbers(end + 1, 0, &t->terminals, 1, 100, &end) != 1))
        return "dimensions, such as 4x4 or 8x8,jump=4x4";
    t->degree = t->dimensions > 1;
    for (int i = 0; i < t->dimensions; i++)
        t->jump[i] = t->wraps[i] = 1;
    int jumps = pf_fabric_read_option(&end, "jump", t->jump, DIMENSIONS);
    int degrees = pf_fabric_read_option(&end, "degree", &t->degree, 1);
    int wraps = pf_fabric_read_option(&end, "wrap", t->wraps, DIMENSIONS);
    if (degrees < 0 || t->degree >= t->dimensions + (t->dimensions == 1) || *end ||
        (jumps && jumps != t->dimensions) || (wraps && wraps != t->dimensions))
        return "jump and wrap have a number for each dimension, degree one below their number";
    t->positions = 1;
    for (int i = 0; i < t->dimensions; i++) {
        if (t->positions * t->k[i] > POSITIONS)
            return "it has more than 4096 routers, whose distances are searched and not computed";
        t->positions *= t->k[i];
        if (t->jump[i] > 1 && t->jump[i] >= t->k[(i + t->degree) % t->dimensions])
            return "a jump is not below the positions of the dimension that it moves";
    }
    return NULL;
}

static struct pf_fabric *read_twisted(const char *text, char *error, size_t error_size)
{
    struct twisted *t = pf_calloc(1, sizeof *t);
    const char *wrong = read_shape(t, text);
    if (wrong) {
        snprintf(error, error_size, "'%.60s' is no twisted torus: %s", text, wrong);
        free(t);
        return NULL;
    }
    t = with_tables(t);
    struct pf_fabric *f = pf_fabric_outline(&ops, t->positions * t->terminals, t->terminals, t->positions, t);
    f->is_direct = t->terminals == 1;
    return f;
}

static void fit_twisted(int64_t hosts, char *numbers, size_t size)
{
    int32_t side[2];
    pf_fabric_fit_grid(hosts, side, 2);
    snprintf(numbers, size, "%dx%d", side[0], side[1]);
}

const struct pf_fabric_kind pf_fabric_kind_twisted = {
    .size = sizeof(struct pf_fabric_kind),
    .name = "twisted",
    .numbers = "AxB[,T][,jump=1x1][,degree=1][,wrap=1x1]",
    .help = "torus whose wraps also move the dimension that is `degree` further on by `jump`",
    .read = read_twisted,
    .fit = fit_twisted,
    .most_hosts = POSITIONS - 63, /* of which a grid fits */
    .cluster = pf_fabric_no_cluster,
};
