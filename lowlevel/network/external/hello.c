/* SPDX-License-Identifier: BSD-3-Clause */
/* The description of the run for a peer: nodes, settings and platform. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/config.h"
#include "base/log.h"
#include "base/memory.h"
#include "lowlevel/network/external/external.h"
#include "lowlevel/network/external/peer.h"
#include "lowlevel/network/packet/described.h"
#include "lowlevel/platform/platform.h"

struct text {
    char *bytes;
    size_t length;
};

/* Open from the start: a file of pfrun's own may be removed before anybody asks for a network. */
static char *platform_name;
static int platform_fd = -1;

void pf_external_set_platform(const char *file)
{
    free(platform_name);
    if (platform_fd >= 0)
        close(platform_fd);
    platform_name = pf_strdup(file);
    platform_fd = open(file, O_RDONLY | O_CLOEXEC);
}

/* Empty for what is no text, such as a platform in C++. */
static struct text platform_text(void)
{
    struct text text = {NULL, 0};
    size_t length = platform_name ? strlen(platform_name) : 0;
    if (length == 0 || (length > 3 && strcmp(platform_name + length - 3, ".so") == 0))
        return text;
    ssize_t got = 1;
    while (got > 0 && text.length < PF_EXTERNAL_LONGEST_HELLO / 2) {
        text.bytes = pf_realloc(text.bytes, text.length + 65536);
        got = pread(platform_fd, text.bytes + text.length, 65536, (off_t)text.length);
        text.length += got > 0 ? (size_t)got : 0;
    }
    if (got < 0)
        pf_die("network external: cannot read the platform '%s': %s", platform_name, strerror(errno));
    return text;
}

/* The settings of the simulated network and NIC, and what is known of routers and links. */
static struct text settings_text(void)
{
    struct text text = {NULL, 0};
    const char *fabric;
    struct pf_fabric_speeds links;
    FILE *out = open_memstream(&text.bytes, &text.length);
    if (!out)
        pf_die("network external: %s", strerror(errno));
    pf_config_write(out, "net_");
    pf_config_write(out, "nic_");
    pf_config_write(out, "background");
    if (pf_network_described(&fabric, &links)) {
        fprintf(out, "fabric=%s\nfabric_router_latency=%.17g\n", fabric, links.router_latency);
        for (int i = 0; i < PF_LINK_KINDS; i++)
            fprintf(out, "fabric_rate_%d=%.17g\nfabric_latency_%d=%.17g\n", i, links.rate[i], i,
                    links.latency[i]);
    }
    fclose(out);
    return text;
}

static struct text names_text(int nodes)
{
    struct text text = {NULL, 0};
    FILE *out = open_memstream(&text.bytes, &text.length);
    if (!out)
        pf_die("network external: %s", strerror(errno));
    for (int i = 0; i < nodes; i++) {
        fputs(sg_host_get_name(pf_platform_host(i)), out);
        fputc(0, out);
    }
    fclose(out);
    return text;
}

static void append(char **at, const struct text *text)
{
    if (text->length)
        memcpy(*at, text->bytes, text->length);
    *at += text->length;
    free(text->bytes);
}

void pf_external_put_hello(struct pf_wire *wire)
{
    int nodes = pf_platform_node_count();
    struct text names = names_text(nodes), settings = settings_text(), platform = platform_text();
    size_t length = PF_EXTERNAL_HELLO_BODY + (size_t)nodes + names.length + settings.length + platform.length;
    if (length > PF_EXTERNAL_LONGEST_HELLO - PF_EXTERNAL_HEAD)
        pf_die("network external: the platform '%s' is too long for HELLO", platform_name);
    char *at = pf_wire_put(wire, PF_EXTERNAL_HELLO, 0, 0.0, length);
    memcpy(at, PF_EXTERNAL_MAGIC, sizeof PF_EXTERNAL_MAGIC);
    at += sizeof PF_EXTERNAL_MAGIC;
    pf_external_put_u32(&at, PF_EXTERNAL_VERSION); /* least and greatest that this side speaks */
    pf_external_put_u32(&at, PF_EXTERNAL_VERSION);
    pf_external_put_u32(&at, (uint32_t)nodes);
    pf_external_put_u32(&at, (uint32_t)names.length);
    pf_external_put_u32(&at, (uint32_t)settings.length);
    pf_external_put_u32(&at, (uint32_t)platform.length);
    for (int i = 0; i < nodes; i++)
        *at++ = (char)pf_platform_node_has_ranks(i);
    append(&at, &names);
    append(&at, &settings);
    append(&at, &platform);
}
