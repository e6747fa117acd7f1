/* SPDX-License-Identifier: BSD-3-Clause */
/* A topology as users write it, and back. */
#include "adapters/analytic/cost/topology.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "adapters/analytic/cost/quantity.h"
#include "base/config.h"
#include "base/memory.h"

/* More positions than anybody simulates; keeps products of dimensions inside an int. */
#define MAX_SIZE 100000000

static const char *const kinds[] = {"star",    "ring", "mesh",    "torus",
                                    "twisted", "tree", "fattree", "dragonfly"};
#define KIND_COUNT (sizeof kinds / sizeof kinds[0])

/* Whole numbers between `separator`s; returns how many, 0 when it is not such a list. */
static int read_list(const char *text, char separator, int lowest, int *out)
{
    for (int n = 0; n < PF_TOPOLOGY_DIMENSIONS; n++) {
        char *end;
        long value = strtol(text, &end, 10);
        if (end == text || value < lowest || value > MAX_SIZE)
            return 0;
        out[n] = (int)value;
        if (!*end)
            return n + 1;
        if (*end != separator)
            return 0;
        text = end + 1;
    }
    return 0;
}

static const char *read_flags(const char *word, int dimensions, bool *out)
{
    int values[PF_TOPOLOGY_DIMENSIONS];
    if (read_list(word, ',', 0, values) != dimensions)
        return pf_problem_write("wrap '%s': one 0 or 1 per dimension is needed, such as 1,0", word);
    for (int i = 0; i < dimensions; i++) {
        if (values[i] > 1)
            return pf_problem_write("wrap '%s': only 0 and 1 have a meaning", word);
        out[i] = values[i];
    }
    return NULL;
}

static const char *set_size(struct pf_cost_topology *t, const char *kind, int nodes)
{
    double product = 1;
    for (int i = 0; i < t->dimensions; i++)
        product *= t->extent[i];
    if (product > MAX_SIZE)
        return pf_problem_write("%s with %g positions is too large", kind, product);
    if (product < nodes)
        return pf_problem_write("%s has %g positions, %d are needed", kind, product, nodes);
    t->size = (int)product;
    return NULL;
}

static const char *parse_shape(struct pf_cost_topology *t, const char *kind, const char *word, int nodes)
{
    if (!word)
        return pf_problem_write("%s needs its extents, such as '%s 4x4x8'", kind, kind);
    t->dimensions = read_list(word, 'x', 1, t->extent);
    if (!t->dimensions)
        return pf_problem_write("%s '%s': up to %d whole numbers from 1 are needed, such as 4x4x8", kind,
                                word, PF_TOPOLOGY_DIMENSIONS);
    return set_size(t, kind, nodes);
}

static const char *parse_option(struct pf_cost_topology *t, const char *kind, const char *name,
                                const char *value)
{
    bool twisted = t->kind == PF_TOPOLOGY_TWISTED, torus = twisted || strcmp(kind, "torus") == 0;
    if (torus && strcmp(name, "wrap") == 0)
        return value ? read_flags(value, t->dimensions, t->wraps)
                     : pf_problem_write("wrap needs a value, such as 1,0");
    if (twisted && strcmp(name, "jump") == 0) {
        if (!value || read_list(value, ',', 0, t->jump) != t->dimensions)
            return pf_problem_write("jump needs one whole number per dimension, such as 1,1");
        return NULL;
    }
    if (twisted && strcmp(name, "degree") == 0) {
        if (!value || read_list(value, ',', 0, &t->twist) != 1)
            return pf_problem_write("degree needs one whole number");
        if (t->twist >= t->dimensions)
            return pf_problem_write("degree %d, but there are only %d dimensions", t->twist, t->dimensions);
        return NULL;
    }
    return pf_problem_write("%s has no option '%s'", kind, name);
}

static const char *parse_grid(struct pf_cost_topology *t, const char *kind, char **save, int nodes)
{
    t->kind = strcmp(kind, "twisted") == 0 ? PF_TOPOLOGY_TWISTED : PF_TOPOLOGY_MESH;
    const char *wrong = parse_shape(t, kind, strtok_r(NULL, " \t", save), nodes);
    if (wrong)
        return wrong;
    for (int i = 0; i < t->dimensions; i++) {
        t->wraps[i] = strcmp(kind, "mesh") != 0;
        t->jump[i] = 1;
    }
    t->twist = t->dimensions > 1;
    for (const char *name; (name = strtok_r(NULL, " \t", save));) {
        wrong = parse_option(t, kind, name, strtok_r(NULL, " \t", save));
        if (wrong)
            return wrong;
    }
    if (t->kind != PF_TOPOLOGY_TWISTED)
        return NULL;
    if (t->size > PF_TOPOLOGY_TWISTED_MAX)
        return pf_problem_write(
            "twisted: %d positions, at most %d (its distances are searched, not computed)", t->size,
            PF_TOPOLOGY_TWISTED_MAX);
    for (int i = 0; i < t->dimensions; i++) {
        int other = (i + t->twist) % t->dimensions;
        if (t->twist == 0) /* into itself: an ordinary torus, as in xSim */
            t->jump[i] = 0;
        if (t->jump[i] >= t->extent[other] && t->jump[i] > 1)
            return pf_problem_write(
                "twisted: jump %d of dimension %d is not below the %d positions of dimension %d", t->jump[i],
                i, t->extent[other], other);
    }
    t->rows = pf_calloc((size_t)t->size, sizeof *t->rows);
    return NULL;
}

static const char *parse_ring(struct pf_cost_topology *t, const char *word)
{
    if (!word || strcmp(word, "oneway") == 0)
        t->kind = PF_TOPOLOGY_RING;
    else if (strcmp(word, "both") == 0)
        t->kind = PF_TOPOLOGY_RING_TWO;
    else
        return pf_problem_write("ring is 'oneway' or 'both', not '%s'", word);
    return NULL;
}

/* As many levels as the nodes need, of one degree. */
static const char *parse_tree(struct pf_cost_topology *t, const char *word)
{
    t->kind = PF_TOPOLOGY_TREE;
    t->dimensions = 1;
    if (!word || read_list(word, ',', 2, t->extent) != 1)
        return pf_problem_write("tree needs its degree, a whole number from 2, such as 'tree 2'");
    return NULL;
}

static const char *parse_dragonfly(struct pf_cost_topology *t, const char *word, int nodes)
{
    t->kind = PF_TOPOLOGY_DRAGONFLY;
    const char *wrong = parse_shape(t, "dragonfly", word, nodes);
    if (wrong)
        return wrong;
    if (t->dimensions != 3)
        return pf_problem_write("dragonfly needs groups x routers x nodes, such as 'dragonfly 9x4x2'");
    t->global_ports = (t->extent[0] - 1 + t->extent[1] - 1) / t->extent[1];
    if (t->global_ports == 0)
        t->global_ports = 1;
    return NULL;
}

static const char *parse_kind(struct pf_cost_topology *t, const char *kind, char **save, int nodes)
{
    t->size = nodes;
    if (!kind)
        return pf_problem_write("no topology is named");
    if (strcmp(kind, "star") == 0) {
        t->kind = PF_TOPOLOGY_STAR;
        return NULL;
    }
    if (strcmp(kind, "ring") == 0)
        return parse_ring(t, strtok_r(NULL, " \t", save));
    if (strcmp(kind, "mesh") == 0 || strcmp(kind, "torus") == 0 || strcmp(kind, "twisted") == 0)
        return parse_grid(t, kind, save, nodes);
    if (strcmp(kind, "tree") == 0)
        return parse_tree(t, strtok_r(NULL, " \t", save));
    if (strcmp(kind, "fattree") == 0) {
        t->kind = PF_TOPOLOGY_TREE;
        t->wide = true;
        return parse_shape(t, kind, strtok_r(NULL, " \t", save), nodes);
    }
    if (strcmp(kind, "dragonfly") == 0)
        return parse_dragonfly(t, strtok_r(NULL, " \t", save), nodes);
    const char *near = pf_nearest_word(kind, kinds, KIND_COUNT);
    return pf_problem_write(
        "unknown topology '%s'%s%s%s; there are star, ring, mesh, torus, twisted, tree, fattree, "
        "dragonfly, platform",
        kind, near ? ", maybe " : "", near ? near : "", near ? "?" : "");
}

const char *pf_cost_topology_parse(struct pf_cost_topology *t, const char *text, int nodes)
{
    char copy[200], *save;
    memset(t, 0, sizeof *t);
    if (strlen(text) >= sizeof copy)
        return pf_problem_write("the description of the topology is too long");
    strcpy(copy, text);
    const char *wrong = parse_kind(t, strtok_r(copy, " \t", &save), &save, nodes);
    const char *rest = wrong ? NULL : strtok_r(NULL, " \t", &save);
    if (rest)
        wrong = pf_problem_write("'%s' is left over after the topology", rest);
    if (wrong)
        pf_cost_topology_clear(t);
    return wrong;
}

static void append(char *text, size_t size, const char *format, ...) __attribute__((format(printf, 3, 4)));

static void append(char *text, size_t size, const char *format, ...)
{
    size_t length = strlen(text);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text + length, size - length, format, arguments);
    va_end(arguments);
}

static void append_shape(char *text, size_t size, const struct pf_cost_topology *t)
{
    for (int i = 0; i < t->dimensions; i++)
        append(text, size, "%s%d", i ? "x" : " ", t->extent[i]);
}

static bool all_wrap(const struct pf_cost_topology *t, bool value)
{
    for (int i = 0; i < t->dimensions; i++)
        if (t->wraps[i] != value)
            return false;
    return true;
}

static void describe_grid(const struct pf_cost_topology *t, char *text, size_t size)
{
    bool twisted = t->kind == PF_TOPOLOGY_TWISTED, mesh = !twisted && all_wrap(t, false);
    append(text, size, "%s", twisted ? "twisted" : mesh ? "mesh" : "torus");
    append_shape(text, size, t);
    for (int i = 0; i < t->dimensions && !mesh && !all_wrap(t, true); i++)
        append(text, size, "%s%d", i ? "," : " wrap ", t->wraps[i]);
    if (!twisted)
        return;
    append(text, size, " degree %d", t->twist);
    for (int i = 0; i < t->dimensions; i++)
        append(text, size, "%s%d", i ? "," : " jump ", t->jump[i]);
}

void pf_cost_topology_describe(const struct pf_cost_topology *t, char *text, size_t size)
{
    *text = 0;
    switch (t->kind) {
    case PF_TOPOLOGY_STAR:
        append(text, size, "star");
        break;
    case PF_TOPOLOGY_RING:
        append(text, size, "ring oneway");
        break;
    case PF_TOPOLOGY_RING_TWO:
        append(text, size, "ring both");
        break;
    case PF_TOPOLOGY_MESH:
    case PF_TOPOLOGY_TWISTED:
        describe_grid(t, text, size);
        break;
    case PF_TOPOLOGY_TREE:
        append(text, size, "%s", t->wide ? "fattree" : "tree");
        append_shape(text, size, t);
        break;
    case PF_TOPOLOGY_DRAGONFLY:
        append(text, size, "dragonfly");
        append_shape(text, size, t);
        break;
    }
}
