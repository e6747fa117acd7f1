/* SPDX-License-Identifier: BSD-3-Clause */
/* Links of a fabric by name. */
#include "lowlevel/network/packet/link_names.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

static void write_vertex(const struct pf_fabric *f, int32_t vertex, char *text, size_t size)
{
    bool is_node = vertex >= f->routers;
    snprintf(text, size, "%c%d", is_node ? 'n' : 'r', is_node ? vertex - f->routers : vertex);
}

static int32_t vertex_of_port(const struct pf_fabric *f, int32_t port)
{
    int32_t low = 0, high = f->routers + f->nodes;
    while (high - low > 1) {
        int32_t middle = low + (high - low) / 2;
        if (f->first_port[middle] <= port)
            low = middle;
        else
            high = middle;
    }
    return low;
}

void pf_packet_link_name(const struct pf_fabric *f, int32_t port, char *text, size_t size)
{
    int32_t from = vertex_of_port(f, port), to = f->ports[port].peer, number = 0;
    char begin[16], end[16];
    for (int32_t other = f->first_port[from]; other < port; other++)
        number += f->ports[other].peer == to;
    write_vertex(f, from, begin, sizeof begin);
    write_vertex(f, to, end, sizeof end);
    if (number > 0)
        snprintf(text, size, "%s-%s.%d", begin, end, number);
    else
        snprintf(text, size, "%s-%s", begin, end);
}

static bool read_number(const char *text, int32_t *number, const char **end)
{
    char *behind;
    if (*text < '0' || *text > '9')
        return false;
    errno = 0;
    long value = strtol(text, &behind, 10);
    *number = (int32_t)value;
    *end = behind;
    return !errno && value <= INT32_MAX;
}

/* "r12": its vertex, -1 for none. */
static int32_t read_vertex(const struct pf_fabric *f, const char *text, const char **end)
{
    int32_t number, most = *text == 'n' ? f->nodes : f->routers;
    if (*text != 'n' && *text != 'r')
        return -1;
    if (read_number(text + 1, &number, end) && number < most)
        return *text == 'n' ? f->routers + number : number;
    return -1;
}

int32_t pf_packet_link_find(const struct pf_fabric *f, const char *name)
{
    int32_t from = read_vertex(f, name, &name), number = 0;
    int32_t to = from >= 0 && *name == '-' ? read_vertex(f, name + 1, &name) : -1;
    if (to < 0 || (*name == '.' && !read_number(name + 1, &number, &name)) || *name)
        return -1;
    for (int32_t port = f->first_port[from]; port < f->first_port[from + 1]; port++)
        if (f->ports[port].peer == to && number-- == 0)
            return port;
    return -1;
}
