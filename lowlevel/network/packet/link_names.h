/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "lowlevel/topology/fabric.h"

/*
 * A direction of a link is called after its ends, a node with n and a router with r: "r0-r3" and "n7-r0".
 * "r0-r3.1" is the second of those from r0 to r3.
 */

enum { PF_LINK_NAME = 48 }; /* bytes that hold any name */

void pf_packet_link_name(const struct pf_fabric *fabric, int32_t port, char *text, size_t size);
/* The port of such a name, -1 for none. */
int32_t pf_packet_link_find(const struct pf_fabric *fabric, const char *name);
