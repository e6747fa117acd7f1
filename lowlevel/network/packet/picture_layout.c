/* SPDX-License-Identifier: BSD-3-Clause */
/* Where routers and nodes stand in a picture: trees in levels, grids as grids, dragonflies as a ring of
 * groups. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "lowlevel/network/packet/picture.h"
#include "lowlevel/topology/topology.h"

#define CELL   60.0 /* between routers */
#define NODE   18.0 /* between a router and its nodes */
#define MARGIN 50.0
#define TURN   6.283185307179586

/* Links from the nearest node to each router. */
static int levels_of(const struct pf_fabric *f, int *level)
{
    int deepest = 0;
    for (int32_t v = 0; v < f->routers; v++)
        level[v] = 0;
    for (int32_t n = 0; n < f->nodes; n++)
        level[pf_fabric_router_of(f, n)] = 1;
    for (int at = 1; at > deepest; at++) {
        deepest = at;
        for (int32_t v = 0; v < f->routers; v++)
            for (int32_t p = 0; level[v] == at && p < pf_fabric_port_count(f, v); p++) {
                int32_t peer = pf_fabric_port(f, v, p)->peer;
                if (peer >= 0 && peer < f->routers && level[peer] == 0) {
                    level[peer] = at + 1;
                    deepest = at;
                }
            }
        bool more = false;
        for (int32_t v = 0; v < f->routers; v++)
            more |= level[v] == at + 1;
        if (!more)
            break;
    }
    return deepest;
}

static void lay_tree(const struct pf_fabric *f, struct pf_picture_point *at)
{
    int *level = pf_calloc((size_t)f->routers + 1, sizeof *level), levels = levels_of(f, level);
    double width = fmax(f->nodes * NODE, 4 * CELL);
    for (int l = 1; l <= levels; l++) {
        int32_t count = 0, place = 0;
        for (int32_t v = 0; v < f->routers; v++)
            count += level[v] == l;
        for (int32_t v = 0; v < f->routers; v++)
            if (level[v] == l)
                at[v] = (struct pf_picture_point){width * (place++ + 0.5) / count,
                                                  (levels - l) * (2 * CELL + width / 12)};
    }
    for (int32_t n = 0; n < f->nodes; n++)
        at[f->routers + n] = (struct pf_picture_point){width * (n + 0.5) / f->nodes,
                                                       (levels - 1) * (2 * CELL + width / 12) + 2 * CELL};
    free(level);
}

/* Dimensions go to the right and down in turns; each has room for all before it. Rows are bent, so that a
 * link from end to end hides none of those between. */
static void lay_grid(const int32_t *extents, int count, int32_t routers, struct pf_picture_point *at)
{
    for (int32_t v = 0; v < routers; v++) {
        double step[2] = {2 * CELL, 2 * CELL};
        int32_t rest = v;
        at[v] = (struct pf_picture_point){0, 0};
        for (int i = 0; i < count; i++) {
            int32_t digit = rest % extents[i];
            double bend = extents[i] > 2 ? step[i % 2] / 4 * sin(TURN / 2 * digit / (extents[i] - 1)) : 0;
            rest /= extents[i];
            *(i % 2 ? &at[v].y : &at[v].x) += digit * step[i % 2];
            *(i % 2 ? &at[v].x : &at[v].y) -= bend;
            step[i % 2] *= extents[i] + 0.4;
        }
    }
}

/* A group is a circle; routers without nodes stand on one of half its size within. */
static void lay_groups(const int32_t *extents, int32_t routers, struct pf_picture_point *at)
{
    int32_t each = extents[0], groups = extents[1], inner = routers / groups - each;
    double small = fmax(CELL, each * CELL / 2 / TURN * 2),
           large = groups > 1 ? fmax(2.5 * small, groups * 3 * small / TURN) : 0;
    for (int32_t v = 0; v < routers; v++) {
        bool has_nodes = v < each * groups;
        int32_t number = has_nodes ? v : v - each * groups, count = has_nodes ? each : inner;
        int32_t group = number / count;
        double turn = TURN * group / groups, own = TURN * (number % count) / count;
        double radius = has_nodes ? small : small / 2;
        at[v] = (struct pf_picture_point){large * sin(turn) + radius * sin(own),
                                          -large * cos(turn) - radius * cos(own)};
    }
}

/* Around their routers. */
static void lay_nodes(const struct pf_fabric *f, int32_t each, struct pf_picture_point *at)
{
    for (int32_t n = 0; n < f->nodes; n++) {
        int32_t v = pf_fabric_router_of(f, n);
        double turn = TURN * (0.37 + (double)(n % each) / each);
        at[f->routers + n] =
            (struct pf_picture_point){at[v].x + NODE * sin(turn), at[v].y - NODE * cos(turn)};
    }
}

struct pf_picture_point *pf_picture_layout(const struct pf_fabric *f, double *width, double *height)
{
    int32_t extents[PF_FABRIC_DIGITS];
    int in_group, count = pf_fabric_extents(f, extents, &in_group), vertices = f->routers + f->nodes;
    struct pf_picture_point *at = pf_calloc((size_t)vertices + 1, sizeof *at);
    if (strcmp(f->topology->family, "tree") == 0) {
        lay_tree(f, at);
    } else {
        if (in_group == 2)
            lay_groups(extents + 1, f->routers, at);
        else
            lay_grid(extents + 1, count - 1, f->routers, at);
        lay_nodes(f, extents[0], at);
    }
    struct pf_picture_point low = at[0], high = at[0];
    for (int32_t v = 0; v < vertices; v++) {
        low.x = fmin(low.x, at[v].x);
        low.y = fmin(low.y, at[v].y);
        high.x = fmax(high.x, at[v].x);
        high.y = fmax(high.y, at[v].y);
    }
    for (int32_t v = 0; v < vertices; v++) {
        at[v].x += MARGIN - low.x;
        at[v].y += 2 * MARGIN - low.y;
    }
    *width = fmax(high.x - low.x + 2 * MARGIN, 12 * CELL);
    *height = high.y - low.y + 3 * MARGIN;
    return at;
}
