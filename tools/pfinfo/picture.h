/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "lowlevel/network/packet/picture.h"

/* Draws the routers and links of a built-in platform into a file, .svg or .html, and writes the links as text
 * to a file of the same name with .txt. `statistics`: a table that colours the links, or NULL. What is wrong
 * ends the process with one line. */
void picture_draw(const char *platform, int hosts, const char *file, const char *statistics);

/* picture_load.c: per port of the fabric; the caller frees it. */
struct pf_picture_load *picture_load_read(const char *file, const struct pf_fabric *fabric);
