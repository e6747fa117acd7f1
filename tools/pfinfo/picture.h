/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdint.h>
#include <stdio.h>

#include "lowlevel/topology/fabric.h"

/* What a link has done, summed over a table of PARFOCAL_NET_STATISTICS. */
struct picture_load {
    double utilisation; /* 0 to 1, mean over the time of the table */
    double packets, bytes, stall, most;
};

struct picture_point {
    double x, y;
};

/* Draws the routers and links of a built-in platform into a file, .svg or .html, and writes the links as text
 * to a file of the same name with .txt. `statistics`: a table that colours the links, or NULL. What is wrong
 * ends the process with one line. */
void picture_draw(const char *platform, int hosts, const char *file, const char *statistics);

/* picture_load.c: per port of the fabric; the caller frees it. */
struct picture_load *picture_load_read(const char *file, const struct pf_fabric *fabric);

/* picture_layout.c: where each vertex stands, and the size of the sheet; the caller frees it. */
struct picture_point *picture_layout(const struct pf_fabric *fabric, double *width, double *height);
