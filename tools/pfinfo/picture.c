/* SPDX-License-Identifier: BSD-3-Clause */
/* A platform's routers and links for a browser, and the same links as text. */
#include "tools/pfinfo/picture.h"

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

struct picture {
    const struct pf_fabric *fabric;
    const char *title;
    const struct picture_load *loads; /* NULL: no colours */
    struct picture_point *at;
    double width, height;
    FILE *out;
};

/* Steps that differ in brightness too. */
static const char *colour(double utilisation)
{
    static const char *const steps[] = {"#c9d3e0", "#8fb3d9", "#4f9bbf", "#3aa76d",
                                        "#d9b112", "#e8851a", "#d1452f", "#8c1127"};
    enum { STEPS = sizeof steps / sizeof steps[0] };
    int step = utilisation > 0 ? 1 + (int)(utilisation * (STEPS - 1)) : 0;
    return steps[step < STEPS ? step : STEPS - 1];
}

static void describe(const struct picture *p, int32_t port, char *text, size_t size)
{
    char name[PF_LINK_NAME];
    const struct pf_fabric_port *link = &p->fabric->ports[port];
    pf_packet_link_name(p->fabric, port, name, sizeof name);
    int length = snprintf(text, size, "%s: %.4g GB/s, %.4g ns", name, link->rate / 1e9, link->latency * 1e9);
    if (p->loads && length > 0 && (size_t)length < size)
        snprintf(text + length, size - (size_t)length,
                 "; busy %.1f %%, %.0f packets, %.0f B, stalled %.3g s, queue up to %.0f B",
                 100 * p->loads[port].utilisation, p->loads[port].packets, p->loads[port].bytes,
                 p->loads[port].stall, p->loads[port].most);
}

/* One direction; the two of a link lie side by side. */
static void draw_link(const struct picture *p, int32_t from, int32_t port)
{
    struct picture_point a = p->at[from], b = p->at[p->fabric->ports[port].peer];
    double length = hypot(b.x - a.x, b.y - a.y), load = p->loads ? p->loads[port].utilisation : 0;
    double aside = length > 0 ? (p->loads ? 1.6 : 0.0) / length : 0;
    double x = -(b.y - a.y) * aside, y = (b.x - a.x) * aside;
    char text[300];
    describe(p, port, text, sizeof text);
    fprintf(p->out,
            "<line x1='%.1f' y1='%.1f' x2='%.1f' y2='%.1f' stroke='%s' "
            "stroke-width='%.1f'><title>%s</title></line>\n",
            a.x + x, a.y + y, b.x + x, b.y + y, p->loads ? colour(load) : "#8a94a0", 1.2 + 2.0 * load, text);
}

/* The quiet ones first, so that they hide nothing. */
static void draw_links(const struct picture *p)
{
    const struct pf_fabric *f = p->fabric;
    for (int pass = 0; pass < (p->loads ? 10 : 1); pass++) {
        for (int32_t v = 0; v < f->routers + f->nodes; v++) {
            for (int32_t port = f->first_port[v]; port < f->first_port[v + 1]; port++) {
                int32_t peer = f->ports[port].peer;
                if (peer < 0 || (!p->loads && peer < v))
                    continue;
                if (!p->loads || fmin(9, floor(10 * p->loads[port].utilisation)) == pass)
                    draw_link(p, v, port);
            }
        }
    }
}

static void draw_vertices(const struct picture *p)
{
    const struct pf_fabric *f = p->fabric;
    for (int32_t v = 0; v < f->routers; v++)
        fprintf(p->out,
                "<rect x='%.1f' y='%.1f' width='12' height='12' rx='2' fill='#22313f'><title>router r%d, %d "
                "ports</title>"
                "</rect>\n",
                p->at[v].x - 6, p->at[v].y - 6, v, pf_fabric_port_count(f, v));
    for (int32_t n = 0; n < f->nodes; n++)
        fprintf(p->out,
                "<circle cx='%.1f' cy='%.1f' r='4' fill='#ffffff' stroke='#22313f'><title>node "
                "n%d</title></circle>\n",
                p->at[f->routers + n].x, p->at[f->routers + n].y, n);
}

static void draw_legend(const struct picture *p)
{
    fprintf(p->out, "<text x='20' y='24' font-size='15' font-weight='bold'>%s: %s</text>\n", p->title,
            p->fabric->text);
    fprintf(p->out,
            "<text x='20' y='42'>squares: %d routers, circles: %d nodes; rest the pointer on a line for its "
            "figures</text>\n",
            p->fabric->routers, p->fabric->nodes);
    for (int i = 0; p->loads && i < 8; i++) {
        double busy = i == 0 ? 0 : (i - 0.5) / 7;
        fprintf(p->out, "<line x1='%d' y1='56' x2='%d' y2='56' stroke='%s' stroke-width='%.1f'/>\n",
                20 + 40 * i, 54 + 40 * i, colour(busy), 2.4 + 4 * busy);
        fprintf(p->out, "<text x='%d' y='70' font-size='10'>%s%.0f %%</text>\n", 20 + 40 * i, i ? "to " : "",
                100.0 * i / 7);
    }
}

static void draw_svg(const struct picture *p)
{
    fprintf(p->out,
            "<svg xmlns='http://www.w3.org/2000/svg' width='%.0f' height='%.0f' viewBox='0 0 %.0f %.0f' "
            "font-family='sans-serif' font-size='12'>\n<title>%s</title>\n<rect width='100%%' height='100%%' "
            "fill='#ffffff'/>\n",
            p->width, p->height, p->width, p->height, p->title);
    draw_links(p);
    draw_vertices(p);
    draw_legend(p);
    fputs("</svg>\n", p->out);
}

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

static void write_table(const struct picture *p)
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
            const struct picture_load *l = &p->loads[port];
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

static void draw(struct picture *p, const char *file, bool is_html)
{
    p->out = create(file);
    if (is_html)
        fprintf(
            p->out,
            "<!DOCTYPE html>\n<html lang='en'><head><meta charset='utf-8'><title>%s</title></head><body>\n",
            p->title);
    draw_svg(p);
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
    struct picture_load *loads = statistics ? picture_load_read(statistics, f) : NULL;
    struct picture p = {.fabric = f, .title = platform, .loads = loads};
    p.at = picture_layout(f, &p.width, &p.height);
    draw(&p, file, is_html);
    free(p.at);
    free(loads);
    pf_fabric_free(f);
}
