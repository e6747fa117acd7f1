/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdio.h>

#include "base/export.h"
#include "lowlevel/network/packet/picture.h"
#include "lowlevel/platform/platform.h"

/*
 * The hosts and links of a platform whose links have no place, such as a file's, as SVG: hosts by zone, with
 * the links that only they use; above them the links of several hosts, the farther from hosts on routes the
 * higher, joined as routes cross them.
 */

/* While the platform is there: a route that is used. */
void pf_routes_note(int from, int to, const struct pf_platform_route *route);

/* Draws what has been noted. `load` says what a link has done. False: there is nothing to draw. */
bool pf_routes_draw(void (*load)(int link, struct pf_picture_load *load), FILE *out);
