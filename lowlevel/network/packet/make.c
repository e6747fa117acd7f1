/* SPDX-License-Identifier: BSD-3-Clause */
/* The topologies that there are: from a description to a fabric. */
#include "lowlevel/network/packet/fabric.h"

#include <stdio.h>
#include <string.h>

#include "lowlevel/network/packet/topology.h"

static const struct {
    const char *name, *form;
    pf_fabric_maker *make;
} forms[] = {
    {"star", "star:N  one router with N nodes", pf_fabric_make_star},
    {"torus", "torus:AxBxC[,T]  grid that wraps, T nodes at each router (1)", pf_fabric_make_torus},
    {"mesh", "mesh:AxBxC[,T]  the same without the wraps", pf_fabric_make_mesh},
    {"fattree",
     "fattree:K,N[,S]  K-ary N-tree, slimmed by S; or L;M,..;W,..;P,..  as SimGrid's topo_parameters",
     pf_fabric_make_tree},
    {"hyperx", "hyperx:AxB,T  routers of a row all joined, in each dimension, T nodes at each",
     pf_fabric_make_hyperx},
    {"dragonfly",
     "dragonfly:P,A,H[,G]  P nodes and H global cables at each of A (or RxC) routers of a group, G groups",
     pf_fabric_make_dragonfly},
};

#define FORMS ((int)(sizeof forms / sizeof forms[0]))

const char *pf_fabric_help(int index)
{
    return index < FORMS ? forms[index].form : NULL;
}

struct pf_fabric *pf_fabric_make(const char *text, const struct pf_fabric_cables *cables, char *error,
                                 size_t error_size)
{
    size_t length = strcspn(text, ":");
    for (int i = 0; i < FORMS; i++) {
        if (strlen(forms[i].name) != length || strncmp(forms[i].name, text, length) != 0)
            continue;
        struct pf_fabric *f = forms[i].make(text[length] ? text + length + 1 : "", cables, error, error_size);
        if (f) {
            snprintf(f->text, sizeof f->text, "%s", text);
            f->router_latency = cables->router_latency;
        }
        return f;
    }
    int at = snprintf(error, error_size, "'%.60s' is no topology; there are", text);
    for (int i = 0; i < FORMS && at > 0 && (size_t)at < error_size; i++)
        at += snprintf(error + at, error_size - (size_t)at, "%s %s", i ? "," : "", forms[i].name);
    return NULL;
}
