/* SPDX-License-Identifier: BSD-3-Clause */
/* Routers and links of a fabric as SVG. */
#include "lowlevel/network/packet/picture.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lowlevel/network/packet/link_names.h"

/* Steps that differ in brightness too. */
const char *pf_picture_colour(double utilisation)
{
    static const char *const steps[] = {"#c9d3e0", "#8fb3d9", "#4f9bbf", "#3aa76d",
                                        "#d9b112", "#e8851a", "#d1452f", "#8c1127"};
    enum { STEPS = sizeof steps / sizeof steps[0] };
    int step = utilisation > 0 ? 1 + (int)(utilisation * (STEPS - 1)) : 0;
    return steps[step < STEPS ? step : STEPS - 1];
}

void pf_picture_write(const char *text, FILE *out)
{
    for (; *text; text++)
        if (strchr("<>&\"'", *text))
            fprintf(out, "&#%d;", *text);
        else
            fputc(*text, out);
}

/* 0 to 1, of the scale. */
static double load_of(const struct pf_picture *p, int32_t port)
{
    return p->loads ? p->loads[port].utilisation / (p->full > 0 ? p->full : 1) : 0;
}

static void describe(const struct pf_picture *p, int32_t port, char *text, size_t size)
{
    char name[PF_LINK_NAME];
    const struct pf_fabric_port *link = &p->fabric->ports[port];
    pf_packet_link_name(p->fabric, port, name, sizeof name);
    int length = snprintf(text, size, "%s: %.4g GB/s, %.4g ns", name, link->rate / 1e9, link->latency * 1e9);
    if (p->loads && length > 0 && (size_t)length < size)
        snprintf(text + length, size - (size_t)length, "; busy %.1f %%, %.0f packets, %.0f B, stalled %.3g s",
                 100 * p->loads[port].utilisation, p->loads[port].packets, p->loads[port].bytes,
                 p->loads[port].stall);
    length = (int)strlen(text);
    if (p->loads && p->loads[port].most > 0 && (size_t)length < size)
        snprintf(text + length, size - (size_t)length, ", queue up to %.0f B", p->loads[port].most);
}

/* Of a direction without loads one line stands for both. */
static bool is_drawn(const struct pf_picture *p, int32_t from, int32_t port)
{
    const struct pf_fabric *f = p->fabric;
    int32_t peer = f->ports[port].peer;
    return peer >= 0 && (p->loads || peer >= from) &&
           !(p->routers_only && (from >= f->routers || peer >= f->routers));
}

int32_t pf_picture_lines(const struct pf_picture *p)
{
    const struct pf_fabric *f = p->fabric;
    int32_t count = 0;
    for (int32_t v = 0; v < f->routers + f->nodes; v++)
        for (int32_t port = f->first_port[v]; port < f->first_port[v + 1]; port++)
            count += is_drawn(p, v, port);
    return count;
}

/* One direction; the two of a link lie side by side. */
static void draw_link(const struct pf_picture *p, int32_t from, int32_t port)
{
    struct pf_picture_point a = p->at[from], b = p->at[p->fabric->ports[port].peer];
    double length = hypot(b.x - a.x, b.y - a.y), load = load_of(p, port);
    double aside = length > 0 ? (p->loads ? 1.6 : 0.0) / length : 0;
    double x = -(b.y - a.y) * aside, y = (b.x - a.x) * aside;
    char text[300];
    describe(p, port, text, sizeof text);
    fprintf(p->out,
            "<line x1='%.1f' y1='%.1f' x2='%.1f' y2='%.1f' stroke='%s' "
            "stroke-width='%.1f'><title>%s</title></line>\n",
            a.x + x, a.y + y, b.x + x, b.y + y, p->loads ? pf_picture_colour(load) : "#8a94a0",
            1.2 + 2.0 * load, text);
}

/* The quiet ones first, so that they hide nothing. */
static void draw_links(const struct pf_picture *p)
{
    const struct pf_fabric *f = p->fabric;
    for (int pass = 0; pass < (p->loads ? 10 : 1); pass++) {
        for (int32_t v = 0; v < f->routers + f->nodes; v++) {
            for (int32_t port = f->first_port[v]; port < f->first_port[v + 1]; port++) {
                if (is_drawn(p, v, port) && (!p->loads || fmin(9, floor(10 * load_of(p, port))) == pass))
                    draw_link(p, v, port);
            }
        }
    }
}

static void draw_vertices(const struct pf_picture *p)
{
    const struct pf_fabric *f = p->fabric;
    for (int32_t v = 0; v < f->routers; v++)
        fprintf(p->out,
                "<rect x='%.1f' y='%.1f' width='12' height='12' rx='2' fill='#22313f'><title>router r%d, %d "
                "ports</title>"
                "</rect>\n",
                p->at[v].x - 6, p->at[v].y - 6, v, pf_fabric_port_count(f, v));
    for (int32_t n = 0; n < f->nodes && (p->host_of || !p->routers_only); n++)
        fprintf(p->out,
                "<circle cx='%.1f' cy='%.1f' r='4' fill='#ffffff' stroke='#22313f'><title>node "
                "n%d%s%s</title></circle>\n",
                p->at[f->routers + n].x, p->at[f->routers + n].y, n, p->host_of ? ", host " : "",
                p->host_of ? p->host_of(n) : "");
}

static void draw_scale(const struct pf_picture *p)
{
    double full = p->full > 0 ? p->full : 1;
    for (int i = 0; i < 8; i++) {
        double busy = i == 0 ? 0 : (i - 0.5) / 7;
        fprintf(p->out, "<line x1='%d' y1='56' x2='%d' y2='56' stroke='%s' stroke-width='%.1f'/>\n",
                20 + 40 * i, 54 + 40 * i, pf_picture_colour(busy), 2.4 + 4 * busy);
        fprintf(p->out, "<text x='%d' y='70' font-size='10'>%s%.3g %%</text>\n", 20 + 40 * i, i ? "to " : "",
                100 * full * i / 7);
    }
}

void pf_picture_draw_scale(const struct pf_picture *p)
{
    fputs("<svg xmlns='http://www.w3.org/2000/svg' viewBox='20 48 340 26'>\n", p->out);
    draw_scale(p);
    fputs("</svg>\n", p->out);
}

static void draw_legend(const struct pf_picture *p)
{
    fprintf(p->out, "<text x='20' y='24' font-size='15' font-weight='bold'>%s: %s</text>\n", p->title,
            p->fabric->text);
    fprintf(p->out,
            "<text x='20' y='42'>squares: %d routers, circles: %d nodes; rest the pointer on a line for its "
            "figures</text>\n",
            p->fabric->routers, p->fabric->nodes);
    if (p->loads)
        draw_scale(p);
}

void pf_picture_draw(struct pf_picture *p)
{
    p->at = pf_picture_layout(p->fabric, &p->width, &p->height);
    double top = p->bare ? 60 : 0; /* without the room of the legend */
    fprintf(p->out, "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 %.0f %.0f %.0f' ", top, p->width,
            p->height - top);
    if (!p->bare)
        fprintf(p->out, "width='%.0f' height='%.0f' ", p->width, p->height);
    fprintf(p->out, "font-family='sans-serif' font-size='12'>\n<title>%s</title>\n", p->title);
    if (!p->bare)
        fputs("<rect width='100%' height='100%' fill='#ffffff'/>\n", p->out);
    draw_links(p);
    draw_vertices(p);
    if (!p->bare)
        draw_legend(p);
    fputs("</svg>\n", p->out);
    free(p->at);
    p->at = NULL;
}
