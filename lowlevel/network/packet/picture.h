/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "lowlevel/topology/fabric.h"

/* The routers and links of a fabric, drawn as SVG: for pfinfo, and for the page of a run. */

/* What a link has done. */
struct pf_picture_load {
    double utilisation; /* 0 to 1, mean over the time */
    double packets, bytes, stall;
    double most; /* bytes in its queue, 0: not known */
};

struct pf_picture_point {
    double x, y;
};

struct pf_picture {
    const struct pf_fabric *fabric;
    const char *title;
    const struct pf_picture_load *loads;  /* per port; NULL: no colours */
    double full;                          /* utilisation at which the scale ends, 0: 1 */
    bool bare;                            /* for a page that has a background and a text of its own */
    bool routers_only;                    /* no links of nodes, */
    const char *(*host_of)(int32_t node); /* and no nodes; NULL: their hosts have no names */
    FILE *out;
    /* private */
    struct pf_picture_point *at;
    double width, height;
};

/* Writes the picture. */
void pf_picture_draw(struct pf_picture *picture);

/* Writes what the colours of links with loads mean, as an SVG of its own. */
void pf_picture_draw_scale(const struct pf_picture *picture);

/* The colour of a load of 0 to 1, and a text with what SVG needs instead of some letters. */
const char *pf_picture_colour(double load);
void pf_picture_write(const char *text, FILE *out);

/* How many lines the picture has. */
int32_t pf_picture_lines(const struct pf_picture *picture);

/* picture_layout.c: where each vertex stands, and the size of the sheet; the caller frees it. */
struct pf_picture_point *pf_picture_layout(const struct pf_fabric *fabric, double *width, double *height);
