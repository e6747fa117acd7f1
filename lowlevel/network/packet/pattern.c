/* SPDX-License-Identifier: BSD-3-Clause */
/* Patterns of traffic as architects use them (Dally and Towles, "Principles and practices of interconnection
 * networks", 2004, 3.2): most are one destination for each node, kept in a table. */
#include "lowlevel/network/packet/pattern.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "lowlevel/topology/topology.h"

struct arrow {
    int32_t source, destination;
    double weight;
};

struct pf_pattern {
    const struct pf_fabric *fabric;
    int32_t (*destination)(const struct pf_pattern *p, int32_t source, uint64_t random);
    int32_t *to; /* one destination for each node */
    /* hotspot */
    int32_t *hot, hot_count;
    double hot_part;
    /* adversarial */
    int32_t group, shift;
    /* file: by source; those of one source add their weights up */
    struct arrow *arrows;
    size_t arrow_count;
    size_t *first;
};

struct request {
    struct pf_pattern *p;
    const char *argument; /* behind the colon, or NULL */
    uint64_t seed;
    int digits, in_group;
    int32_t extents[PF_FABRIC_DIGITS];
    char *error;
    size_t error_size;
};

static int32_t other_uniform(const struct pf_pattern *p, int32_t source, uint64_t random)
{
    if (p->fabric->nodes < 2)
        return -1;
    int32_t to = (int32_t)pf_topology_below(random, (uint32_t)p->fabric->nodes - 1);
    return to + (to >= source);
}

static int32_t any_uniform(const struct pf_pattern *p, int32_t source, uint64_t random)
{
    return (int32_t)pf_topology_below(random, (uint32_t)p->fabric->nodes);
}

static int32_t from_table(const struct pf_pattern *p, int32_t source, uint64_t random)
{
    return p->to[source];
}

static int32_t to_hot(const struct pf_pattern *p, int32_t source, uint64_t random)
{
    uint64_t again = pf_topology_hash(random);
    if ((double)(again >> 11) * 0x1p-53 >= p->hot_part)
        return other_uniform(p, source, random);
    int32_t to = p->hot[pf_topology_below(random, (uint32_t)p->hot_count)];
    return to == source ? -1 : to;
}

static int32_t to_group(const struct pf_pattern *p, int32_t source, uint64_t random)
{
    int32_t groups = p->fabric->nodes / p->group, to = (source / p->group + p->shift) % groups;
    return to * p->group + (int32_t)pf_topology_below(random, (uint32_t)p->group);
}

static int32_t from_file(const struct pf_pattern *p, int32_t source, uint64_t random)
{
    size_t low = p->first[source], high = p->first[source + 1];
    if (low == high)
        return -1;
    double wanted = (double)(random >> 11) * 0x1p-53 * p->arrows[high - 1].weight;
    while (low + 1 < high && p->arrows[low].weight <= wanted)
        low++;
    return p->arrows[low].destination;
}

static bool refuse(struct request *r, const char *why)
{
    snprintf(r->error, r->error_size, "%s", why);
    return false;
}

static bool no_argument(struct request *r)
{
    return !r->argument || refuse(r, "this pattern has nothing behind a colon");
}

static bool make_uniform(struct request *r)
{
    r->p->destination = other_uniform;
    if (r->argument && strcmp(r->argument, "self") == 0)
        r->p->destination = any_uniform;
    else if (r->argument)
        return refuse(r, "uniform has nothing behind a colon but self");
    return true;
}

static int32_t *table(struct request *r)
{
    r->p->destination = from_table;
    return r->p->to = pf_calloc((size_t)r->p->fabric->nodes, sizeof(int32_t));
}

/* Fisher and Yates. */
static bool make_permutation(struct request *r)
{
    int32_t nodes = r->p->fabric->nodes, *to = table(r);
    for (int32_t i = 0; i < nodes; i++)
        to[i] = i;
    for (int32_t i = nodes - 1; i > 0; i--) {
        uint64_t random = pf_topology_hash(pf_topology_hash(r->seed) + (uint64_t)i);
        int32_t j = (int32_t)pf_topology_below(random, (uint32_t)i + 1), kept = to[i];
        to[i] = to[j];
        to[j] = kept;
    }
    return no_argument(r);
}

/* The bits of a number, or -1. */
static int bits_of(int32_t nodes)
{
    int bits = 0;
    while (nodes >> bits > 1)
        bits++;
    return 1 << bits == nodes ? bits : -1;
}

static bool make_by_bits(struct request *r, int32_t (*map)(int32_t source, int bits), bool even)
{
    int32_t nodes = r->p->fabric->nodes, *to = table(r);
    int bits = bits_of(nodes);
    if (bits < 0 || (even && bits % 2))
        return refuse(r, even ? "this pattern needs 4, 16, 64, ... nodes"
                              : "this pattern needs 2, 4, 8, ... nodes");
    for (int32_t i = 0; i < nodes; i++)
        to[i] = map(i, bits);
    return no_argument(r);
}

static int32_t complement(int32_t source, int bits)
{
    return ~source & ((1 << bits) - 1);
}

static int32_t reverse(int32_t source, int bits)
{
    int32_t to = 0;
    for (int i = 0; i < bits; i++)
        to |= (source >> i & 1) << (bits - 1 - i);
    return to;
}

static int32_t shuffle(int32_t source, int bits)
{
    return bits ? (source << 1 | source >> (bits - 1)) & ((1 << bits) - 1) : 0;
}

static int32_t transpose(int32_t source, int bits)
{
    int half = bits / 2;
    return source >> half | (source & ((1 << half) - 1)) << half;
}

static bool make_complement(struct request *r)
{
    return make_by_bits(r, complement, false);
}

static bool make_reverse(struct request *r)
{
    return make_by_bits(r, reverse, false);
}

static bool make_shuffle(struct request *r)
{
    return make_by_bits(r, shuffle, false);
}

static bool make_transpose(struct request *r)
{
    return make_by_bits(r, transpose, true);
}

/* Moves each digit above those of a group; where there is none, the whole number. */
static bool make_moved(struct request *r, bool by_half)
{
    const struct pf_fabric *f = r->p->fabric;
    int32_t *to = table(r);
    for (int32_t i = 0; i < f->nodes; i++) {
        int32_t stride = 1, rest = i;
        to[i] = i;
        for (int digit = 0; digit < r->digits; digit++) {
            int32_t k = r->extents[digit], at = rest % k, by = by_half ? (k + 1) / 2 - 1 : 1;
            if (digit >= r->in_group)
                to[i] += ((at + by) % k - at) * stride;
            rest /= k;
            stride *= k;
        }
        if (r->digits == r->in_group)
            to[i] = (i + (by_half ? (f->nodes + 1) / 2 - 1 : 1)) % f->nodes;
    }
    return no_argument(r);
}

static bool make_tornado(struct request *r)
{
    return make_moved(r, true);
}

static bool make_neighbour(struct request *r)
{
    return make_moved(r, false);
}

static bool read_number(const char **text, long least, long most, long *number)
{
    char *end;
    errno = 0;
    *number = strtol(*text, &end, 10);
    if (end == *text || errno || *number < least || *number > most)
        return false;
    *text = end;
    return true;
}

static bool make_adversarial(struct request *r)
{
    long shift = 1;
    const char *text = r->argument;
    r->p->group = 1;
    for (int i = 0; i < r->in_group; i++)
        r->p->group *= r->extents[i];
    int32_t groups = r->p->fabric->nodes / r->p->group;
    if (groups < 2)
        return refuse(r, "there is one group only");
    if (text && (!read_number(&text, 1, groups - 1, &shift) || *text)) {
        snprintf(r->error, r->error_size, "the shift must be from 1 to %d groups", groups - 1);
        return false;
    }
    r->p->shift = (int32_t)shift;
    r->p->destination = to_group;
    return true;
}

/* "NODE,NODE,...[:PART]" */
static bool make_hotspot(struct request *r)
{
    const char *text = r->argument ? r->argument : "0";
    struct pf_pattern *p = r->p;
    p->destination = to_hot;
    p->hot_part = 1;
    for (;; text++) {
        long node;
        if (!read_number(&text, 0, p->fabric->nodes - 1, &node)) {
            snprintf(r->error, r->error_size,
                     "hot nodes are numbers from 0 to %d with commas, such as hotspot:0,5:0.2",
                     p->fabric->nodes - 1);
            return false;
        }
        p->hot = pf_reallocarray(p->hot, (size_t)p->hot_count + 1, sizeof *p->hot);
        p->hot[p->hot_count++] = (int32_t)node;
        if (*text != ',')
            break;
    }
    if (*text == ':') {
        char *end;
        p->hot_part = strtod(text + 1, &end);
        text = end;
        if (!(p->hot_part > 0 && p->hot_part <= 1))
            return refuse(r, "the part of the traffic that goes to hot nodes must be above 0 and at most 1");
    }
    return !*text || refuse(r, "hotspot is NODE,NODE,... or NODE,NODE,...:PART");
}

static int by_source(const void *a, const void *b)
{
    const struct arrow *x = a, *y = b;
    if (x->source != y->source)
        return x->source < y->source ? -1 : 1;
    return (x->destination > y->destination) - (x->destination < y->destination);
}

/* What is wrong with a line, or NULL. */
static const char *read_line(struct pf_pattern *p, char *line)
{
    int source, destination, used = 0;
    double weight = 1;
    line[strcspn(line, "#\n")] = 0;
    if (!line[strspn(line, " \t\r")])
        return NULL;
    int read = sscanf(line, "%d %d %n%lf %n", &source, &destination, &used, &weight, &used);
    if (read < 2 || line[used])
        return "is not 'source destination [weight]'";
    if (source < 0 || destination < 0 || source >= p->fabric->nodes || destination >= p->fabric->nodes)
        return "names a node that there is not";
    if (!(weight > 0 && weight < 1e12))
        return "has a weight that is not above 0";
    p->arrows = pf_reallocarray(p->arrows, p->arrow_count + 1, sizeof *p->arrows);
    p->arrows[p->arrow_count++] = (struct arrow){source, destination, weight};
    return NULL;
}

static bool make_file(struct request *r)
{
    char *line = NULL;
    size_t size = 0;
    const char *wrong = NULL;
    struct pf_pattern *p = r->p;
    FILE *file = r->argument ? fopen(r->argument, "r") : NULL;
    int number = 0;
    if (!file) {
        snprintf(r->error, r->error_size, "cannot read the file '%.100s'", r->argument ? r->argument : "");
        return false;
    }
    while (!wrong && getline(&line, &size, file) >= 0) {
        number++;
        wrong = read_line(p, line);
    }
    free(line);
    fclose(file);
    if (wrong || !p->arrow_count) {
        snprintf(r->error, r->error_size, "'%.100s', line %d %s", r->argument, number,
                 wrong ? wrong : "is empty");
        return false;
    }
    qsort(p->arrows, p->arrow_count, sizeof *p->arrows, by_source);
    p->first = pf_calloc((size_t)p->fabric->nodes + 1, sizeof *p->first);
    for (size_t i = 0; i < p->arrow_count; i++) {
        if (i && p->arrows[i].source == p->arrows[i - 1].source)
            p->arrows[i].weight += p->arrows[i - 1].weight;
        p->first[p->arrows[i].source + 1] = i + 1;
    }
    for (int32_t n = 0; n < p->fabric->nodes; n++)
        if (p->first[n + 1] < p->first[n])
            p->first[n + 1] = p->first[n];
    p->destination = from_file;
    return true;
}

static const struct {
    const char *name, *help;
    bool (*make)(struct request *r);
} patterns[] = {
    {"uniform", "uniform  every other node alike; uniform:self  the node itself too", make_uniform},
    {"permutation", "permutation  one random destination for each node, by the seed", make_permutation},
    {"complement", "complement  all bits of the number turned round", make_complement},
    {"reverse", "reverse  the bits in reverse order", make_reverse},
    {"shuffle", "shuffle  the bits rotated by one", make_shuffle},
    {"transpose", "transpose  the upper half of the bits for the lower", make_transpose},
    {"tornado", "tornado  half way round, less one, in each dimension", make_tornado},
    {"neighbour", "neighbour  one further in each dimension", make_neighbour},
    {"adversarial", "adversarial[:N]  a random node of the N-th next group (dragonfly) or router (1)",
     make_adversarial},
    {"hotspot", "hotspot:NODE,..[:PART]  that part (1) of the traffic to these nodes, the rest uniform",
     make_hotspot},
    {"file", "file:PATH  lines 'source destination [weight]'; nodes that are no source are silent",
     make_file},
};

#define PATTERNS ((int)(sizeof patterns / sizeof patterns[0]))

const char *pf_pattern_help(int index)
{
    return index < PATTERNS ? patterns[index].help : NULL;
}

static int find(const char *text)
{
    size_t length = strcspn(text, ":");
    for (int i = 0; i < PATTERNS; i++)
        if (strlen(patterns[i].name) == length && strncmp(text, patterns[i].name, length) == 0)
            return i;
    return -1;
}

struct pf_pattern *pf_pattern_make(const char *text, const struct pf_fabric *fabric, uint64_t seed,
                                   char *error, size_t error_size)
{
    int index = find(text), at = 0;
    char why[200] = "";
    if (index < 0) {
        at = snprintf(error, error_size, "'%.60s' is no pattern; there are", text);
        for (int i = 0; i < PATTERNS && at > 0 && (size_t)at < error_size; i++)
            at += snprintf(error + at, error_size - (size_t)at, "%s %s", i ? "," : "", patterns[i].name);
        return NULL;
    }
    struct pf_pattern *p = pf_calloc(1, sizeof *p);
    struct request r = {
        .p = p, .argument = strchr(text, ':'), .seed = seed, .error = why, .error_size = sizeof why};
    r.argument += r.argument != NULL;
    p->fabric = fabric;
    r.digits = pf_fabric_extents(fabric, r.extents, &r.in_group);
    if (patterns[index].make(&r))
        return p;
    snprintf(error, error_size, "pattern '%.60s': %s", text, why);
    pf_pattern_free(p);
    return NULL;
}

void pf_pattern_free(struct pf_pattern *pattern)
{
    free(pattern->to);
    free(pattern->hot);
    free(pattern->arrows);
    free(pattern->first);
    free(pattern);
}

int32_t pf_pattern_destination(const struct pf_pattern *pattern, int32_t source, uint64_t random)
{
    return pattern->destination(pattern, source, random);
}
