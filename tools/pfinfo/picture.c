/* SPDX-License-Identifier: BSD-3-Clause */
/* A platform's routers and links for a browser, and the same links as text. */
#include "tools/pfinfo/commands.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/memory.h"
#include "base/output_file.h"
#include "lowlevel/network/packet/link_names.h"
#include "lowlevel/platform/builtin.h"

enum { MOST_LINKS = 50000, BAR = 20 };

/* ---- As text. */
struct line {
    int32_t port;
    double load;
};

static int busier(const void *a, const void *b)
{
    const struct line *x = a, *y = b;
    if (x->load != y->load)
        return x->load > y->load ? -1 : 1;
    return (x->port > y->port) - (x->port < y->port);
}

static void write_table(const struct pf_picture *p)
{
    const struct pf_fabric *f = p->fabric;
    int32_t ports = f->first_port[f->routers + f->nodes], count = 0;
    struct line *lines = pf_calloc((size_t)ports + 1, sizeof *lines);
    for (int32_t port = 0; port < ports; port++)
        if (f->ports[port].peer >= 0)
            lines[count++] = (struct line){port, p->loads ? p->loads[port].utilisation : 0};
    qsort(lines, (size_t)count, sizeof *lines, busier);
    fprintf(p->out, "%-16s %10s %11s", "link", "rate_GBps", "latency_ns");
    fprintf(p->out, p->loads ? " %7s %10s %14s %11s %11s\n" : "\n", "busy_%", "packets", "bytes", "stall_s",
            "queue_max_B");
    for (int32_t i = 0; i < count; i++) {
        int32_t port = lines[i].port;
        char name[PF_LINK_NAME], bar[BAR + 1] = "";
        pf_packet_link_name(f, port, name, sizeof name);
        fprintf(p->out, "%-16s %10.4g %11.4g", name, f->ports[port].rate / 1e9, f->ports[port].latency * 1e9);
        if (p->loads) {
            const struct pf_picture_load *l = &p->loads[port];
            memset(bar, '#', (size_t)fmin(BAR, fmax(0, ceil(BAR * l->utilisation))));
            fprintf(p->out, " %7.2f %10.0f %14.0f %11.4g %11.0f  %s", 100 * l->utilisation, l->packets,
                    l->bytes, l->stall, l->most, bar);
        }
        fputc('\n', p->out);
    }
    free(lines);
}

static FILE *create(const char *file)
{
    FILE *out = pf_output_open(file, "w");
    if (!out)
        pf_die("--picture: cannot write '%s': %s", file, strerror(errno));
    return out;
}

static void finish(FILE *out, const char *file)
{
    bool written = !ferror(out);
    if (fclose(out) != 0 || !written)
        pf_die("--picture: cannot write '%s': %s", file, strerror(errno));
}

static void draw(struct pf_picture *p, const char *file, bool is_html)
{
    p->out = create(file);
    if (is_html)
        fprintf(
            p->out,
            "<!DOCTYPE html>\n<html lang='en'><head><meta charset='utf-8'><title>%s</title></head><body>\n",
            p->title);
    pf_picture_draw(p);
    if (is_html) {
        fputs("<h2>Links</h2>\n<pre>\n", p->out);
        write_table(p);
        fputs("</pre>\n</body></html>\n", p->out);
    }
    finish(p->out, file);
    if (is_html)
        return;
    char *text = pf_asprintf("%.*s.txt", (int)strlen(file) - 4, file);
    p->out = create(text);
    write_table(p);
    finish(p->out, text);
    free(text);
}

static bool ends_with(const char *text, const char *end)
{
    size_t length = strlen(text), own = strlen(end);
    return length > own && strcmp(text + length - own, end) == 0;
}

void picture_draw(const char *platform, int hosts, const char *file, const char *statistics)
{
    char error[300], text[160];
    struct pf_fabric_speeds links;
    bool is_html = ends_with(file, ".html");
    if (!is_html && !ends_with(file, ".svg"))
        pf_die("--picture: '%s' must end in .svg or .html", file);
    if (!pf_platform_builtin_fabric(platform, hosts, text, sizeof text, &links, error, sizeof error))
        pf_die("%s", error);
    struct pf_fabric *f = pf_fabric_make(text, &links, error, sizeof error);
    if (!f)
        pf_die("--picture: %s", error);
    if (f->first_port[f->routers + f->nodes] > MOST_LINKS)
        pf_die("--picture: '%s' has %d links, and a picture at most %d", platform,
               f->first_port[f->routers + f->nodes], MOST_LINKS);
    struct pf_picture_load *loads = statistics ? picture_load_read(statistics, f) : NULL;
    struct pf_picture p = {.fabric = f, .title = platform, .loads = loads};
    draw(&p, file, is_html);
    free(loads);
    pf_fabric_free(f);
}
