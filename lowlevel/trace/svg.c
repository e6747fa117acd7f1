/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A sequence diagram as a picture. The time runs downwards, not to scale: every date at which something
 * begins or ends has a row of its own, and a long time between two rows is only a little higher than a short
 * one, so that nanoseconds and milliseconds are both seen.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "lowlevel/trace/diagram.h"
#include "lowlevel/trace/places.h"

enum {
    LEFT = 128,   /* the dates */
    RIGHT = 80,   /* right of the last lifeline */
    LOOPS = 150,  /* the same, when messages go through the NIC's loopback */
    LEAST = 600,  /* wide enough for the title */
    WIDE = 260,   /* between two nodes */
    NARROW = 170, /* between a process and its NIC */
    HEAD = 62,    /* names of the lifelines */
    ROW = 22,     /* least distance of two dates: the height of a label */
    BOTTOM = 24,
    LEGEND_ROW = 20,
    LETTER = 7 /* width at the size of the labels, rounded up */
};

struct box {
    double left, right, top, bottom;
};

struct picture {
    struct pf_trace_output *out;
    const struct pf_diagram *diagram;
    double *dates, *heights; /* of the rows */
    int rows;
    struct box *labels;
    int label_count;
    double (*lines)[4]; /* arrows: from, to */
    int line_count;
    double top; /* where the time begins */
};

static void *allocate(size_t count, size_t size)
{
    void *memory = pf_calloc(count + 1, size);
    return memory;
}

static double x_of(int column)
{
    int node = column / 2;
    return LEFT + 40 + node * (WIDE + NARROW) + column % 2 * NARROW;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* Dates that differ by rounding are one row. */
static void find_rows(struct picture *p)
{
    const double SAME = 1e-13;
    int count = 0;
    p->dates = allocate(2 * (size_t)p->diagram->count, sizeof(double));
    p->heights = allocate(2 * (size_t)p->diagram->count, sizeof(double));
    for (int i = 0; i < p->diagram->count; i++) {
        p->dates[count++] = p->diagram->records[i].start;
        p->dates[count++] = p->diagram->records[i].end;
    }
    qsort(p->dates, (size_t)count, sizeof(double), by_value);
    double y = p->top + ROW;
    for (int i = 0; i < count; i++) {
        if (p->rows > 0) {
            double gap = p->dates[i] - p->dates[p->rows - 1];
            if (gap < SAME)
                continue;
            y += ROW + 12 * log10(1 + gap / 50e-9);
        }
        p->dates[p->rows] = p->dates[i];
        p->heights[p->rows++] = y;
    }
}

static double y_of(const struct picture *p, double date)
{
    int low = 0, high = p->rows - 1;
    while (low < high) {
        int middle = (low + high + 1) / 2;
        if (p->dates[middle] <= date)
            low = middle;
        else
            high = middle - 1;
    }
    return p->heights[low];
}

static void print_escaped(struct pf_trace_output *out, const char *text)
{
    for (; *text; text++) {
        if (strchr("<>&\"", *text) || (unsigned char)*text < 0x20)
            pf_trace_print(out, "&#%d;", (unsigned char)*text < 0x20 ? '?' : *text);
        else
            pf_trace_print(out, "%c", *text);
    }
}

/* The `index`-th of the records that differ in type and colour: MPI calls have a colour for each model. */
static const struct pf_trace_record *kind(const struct pf_diagram *diagram, int type, int index)
{
    for (int i = 0; i < diagram->count; i++) {
        const struct pf_trace_record *record = &diagram->records[i];
        bool known = (int)record->type != type;
        for (int j = 0; j < i && !known; j++)
            known = diagram->records[j].type == record->type &&
                    pf_trace_colour(&diagram->records[j]) == pf_trace_colour(record);
        if (!known && index-- == 0)
            return record;
    }
    return NULL;
}

static double label_width(const char *text)
{
    return (double)strlen(text) * LETTER;
}

/* The types that occur, in lines across the picture. Returns where it ends. */
static double legend(struct pf_trace_output *out, const struct pf_diagram *diagram, double width, bool draw)
{
    double x = 16, y = 50;
    for (int type = 0, index = 0; type < PF_TRACE_TYPE_COUNT; index++) {
        const struct pf_trace_record *record = kind(diagram, type, index);
        if (!record) {
            type++;
            index = -1;
            continue;
        }
        char name[64];
        snprintf(name, sizeof name, "%s%s%s", pf_trace_type_name(record->type), record->call ? " in " : "",
                 record->call ? record->model : "");
        double needed = 34 + label_width(name);
        if (x > 16 && x + needed > width - 8) {
            x = 16;
            y += LEGEND_ROW;
        }
        if (draw)
            pf_trace_print(out,
                           "<rect x=\"%.0f\" y=\"%.0f\" width=\"14\" height=\"10\" rx=\"2\" fill=\"#%06x\"/>"
                           "<text x=\"%.0f\" y=\"%.0f\">%s</text>\n",
                           x, y - 9, pf_trace_colour(record), x + 20, y, name);
        x += needed;
    }
    return y + 16;
}

static void head(struct picture *p, double width, double height)
{
    struct pf_trace_output *out = p->out;
    pf_trace_print(out,
                   "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" "
                   "viewBox=\"0 0 %.0f %.0f\">\n<style>\n"
                   "text{font:12px \"DejaVu Sans\",Verdana,sans-serif;fill:#24292f}\n"
                   ".title{font-size:15px;font-weight:bold}\n.note,.date{fill:#6e7781;font-size:11px}\n"
                   ".date{text-anchor:end}\n.name{text-anchor:middle;font-weight:bold}\n"
                   ".node{text-anchor:middle;fill:#57606a;font-size:11px}\n"
                   ".label{font-size:11px;stroke:#fff;stroke-width:4px;stroke-linejoin:round;"
                   "paint-order:stroke}\n"
                   ".row{stroke:#eaeef2}\n.life{stroke:#8c959f;stroke-width:1.2}\n"
                   ".op{fill:none;stroke-width:1.8}\n</style>\n"
                   "<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n",
                   width, height, width, height);
    pf_trace_print(out, "<text class=\"title\" x=\"16\" y=\"26\">MPI calls and simulated NICs "
                        "<tspan class=\"note\" font-weight=\"normal\">dates in microseconds, not to scale"
                        "</tspan></text>\n");
}

static void lifelines(struct picture *p, double bottom)
{
    const struct pf_diagram *diagram = p->diagram;
    char title[32];
    for (int i = 0; i < diagram->node_count; i++) {
        double left = x_of(2 * i) - 48, right = x_of(2 * i + 1) + 48;
        pf_trace_print(p->out,
                       "<rect x=\"%.0f\" y=\"%.0f\" width=\"%.0f\" height=\"46\" rx=\"6\" fill=\"#f6f8fa\" "
                       "stroke=\"#d0d7de\"/><text class=\"node\" x=\"%.0f\" y=\"%.0f\">nid %d: ",
                       left, p->top - HEAD + 8, right - left, (left + right) / 2, p->top - HEAD + 23,
                       diagram->nodes[i]);
        print_escaped(p->out, pf_trace_host_name(diagram->nodes[i]));
        pf_trace_print(p->out, "</text>\n");
    }
    for (int i = 0; i < pf_diagram_columns(diagram); i++)
        pf_trace_print(p->out,
                       "<text class=\"name\" x=\"%.0f\" y=\"%.0f\">%s</text><line class=\"life\" x1=\"%.0f\" "
                       "y1=\"%.0f\" x2=\"%.0f\" y2=\"%.0f\"/>\n",
                       x_of(i), p->top - HEAD + 44, pf_diagram_title(diagram, i, title, sizeof title),
                       x_of(i), p->top - HEAD + 54, x_of(i), bottom);
}

static void time_axis(const struct picture *p, double right)
{
    for (int i = 0; i < p->rows; i++)
        pf_trace_print(p->out,
                       "<line class=\"row\" x1=\"%d\" y1=\"%.1f\" x2=\"%.0f\" y2=\"%.1f\"/>"
                       "<text class=\"date\" x=\"%d\" y=\"%.1f\">%.4f</text>\n",
                       LEFT - 16, p->heights[i], right, p->heights[i], LEFT - 22, p->heights[i] + 4,
                       p->dates[i] * 1e6);
}

static bool meets_label(const struct picture *p, const struct box *box)
{
    for (int i = 0; i < p->label_count; i++) {
        const struct box *other = &p->labels[i];
        if (box->left < other->right && other->left < box->right && box->top < other->bottom &&
            other->top < box->bottom)
            return true;
    }
    return false;
}

/* Where the line is above the box, and whether that is inside. */
static bool line_meets(const double line[4], const struct box *box)
{
    double low = fmax(fmin(line[0], line[2]), box->left), high = fmin(fmax(line[0], line[2]), box->right);
    if (low > high || line[0] == line[2])
        return false;
    double slope = (line[3] - line[1]) / (line[2] - line[0]);
    double a = line[1] + (low - line[0]) * slope, b = line[1] + (high - line[0]) * slope;
    return fmax(a, b) > box->top && fmin(a, b) < box->bottom;
}

static bool meets_line(const struct picture *p, const struct box *box)
{
    for (int i = 0; i < p->line_count; i++)
        if (line_meets(p->lines[i], box))
            return true;
    return false;
}

/* Near the begin of the arrow, above or below it, or further along, wherever nothing else is; over another
 * arrow rather than nowhere. Without a place the label stays away: the tip that a viewer shows says the
 * same. */
static void label(struct picture *p, const char *text, const double from[2], const double to[2])
{
    enum { STEPS = 20 };
    double width = label_width(text), direction = to[0] >= from[0] ? 1 : -1;
    for (int attempt = 0; attempt < 4 * (STEPS + 1); attempt++) {
        bool strict = attempt < 2 * (STEPS + 1), below = attempt % 2;
        double part = attempt / 2 % (STEPS + 1) / (double)STEPS;
        double x = from[0] + direction * 10 + part * (to[0] - from[0] - direction * (width + 20));
        double near = from[1] + (to[1] - from[1]) * (x - from[0]) / (to[0] - from[0]);
        double far = from[1] + (to[1] - from[1]) * (x + direction * width - from[0]) / (to[0] - from[0]);
        double y = below ? fmax(near, far) + 14 : fmin(near, far) - 6;
        double left = direction > 0 ? x : x - width;
        struct box box = {left, left + width, y - 10, y + 2};
        if (meets_label(p, &box) || (strict && meets_line(p, &box)))
            continue;
        p->labels[p->label_count++] = box;
        pf_trace_print(p->out, "<text class=\"label\" x=\"%.1f\" y=\"%.1f\"%s>%s</text>\n", x, y,
                       direction > 0 ? "" : " text-anchor=\"end\"", text);
        return;
    }
}

static const char *label_text(const struct pf_trace_record *record, char *text, size_t size)
{
    char bytes[32];
    const char *name = pf_trace_name(record);
    int length = snprintf(text, size, "%s", strncmp(name, "PCIe ", 5) == 0 ? name + 5 : name);
    if (pf_trace_is_mark(record))
        length = snprintf(text, size, "to %s", record->model);
    if (record->bytes > 0)
        length += snprintf(text + length, size - (size_t)length, " %s",
                           pf_trace_bytes_text(record->bytes, bytes, sizeof bytes));
    if (record->attempt > 1)
        length += snprintf(text + length, size - (size_t)length, ", attempt %d", record->attempt);
    if (record->outcome != PF_TRACE_DONE)
        snprintf(text + length, size - (size_t)length, ", %s", pf_trace_outcome_name(record->outcome));
    return text;
}

static void tip(const struct picture *p, const struct pf_trace_record *record)
{
    if (record->track == PF_TRACE_RANK) {
        pf_trace_print(p->out, "<title>%s %s, %.6f to %.6f us, rank %d, model %s, phase ",
                       pf_trace_name(record), pf_trace_outcome_name(record->outcome), record->start * 1e6,
                       record->end * 1e6, record->from.rank, record->model);
        print_escaped(p->out, record->phase);
        pf_trace_print(p->out, "</title>");
        return;
    }
    pf_trace_print(p->out, "<title>%s %s, %.6f to %.6f us, %llu B, nid %d to nid %d</title>",
                   pf_trace_type_name(record->type), pf_trace_outcome_name(record->outcome),
                   record->start * 1e6, record->end * 1e6, (unsigned long long)record->bytes,
                   record->from.node, record->to.node);
}

/* Where a rank changes its model: a square on its lifeline. */
static void mark(struct picture *p, const struct pf_trace_record *record)
{
    pf_trace_print(p->out, "<path d=\"M%.1f %.1fl8 8l-8 8l-8 -8z\" fill=\"#%06x\">",
                   x_of(pf_diagram_from(p->diagram, record)), y_of(p, record->start) - 8,
                   pf_trace_colour(record));
    tip(p, record);
    pf_trace_print(p->out, "</path>\n");
}

/* A bar on a lifeline: calls and what is between, and the time that a message is in the NIC that receives it.
 */
static void bar(struct picture *p, const struct pf_trace_record *record)
{
    bool compute = record->track == PF_TRACE_RANK;
    if (record->end <= record->start)
        return;
    int column = compute ? pf_diagram_from(p->diagram, record) : pf_diagram_to(p->diagram, record);
    double width = compute ? 12 : 7, x = x_of(column);
    double from[2] = {x, y_of(p, record->start)}, to[2] = {x, y_of(p, record->end)};
    pf_trace_print(p->out,
                   "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" rx=\"2\" fill=\"#%06x\" "
                   "fill-opacity=\"%s\" stroke=\"#%06x\" stroke-width=\"0.8\">",
                   x - width / 2, from[1], width, to[1] - from[1], pf_trace_colour(record),
                   compute ? "1" : "0.35",
                   record->call ? 0xffffff : pf_trace_colour(record)); /* calls follow each other */
    tip(p, record);
    pf_trace_print(p->out, "</rect>\n");
}

static void arrow_head(struct picture *p, const double from[2], const double to[2], unsigned int colour)
{
    double dx = to[0] - from[0], dy = to[1] - from[1], length = sqrt(dx * dx + dy * dy);
    if (length <= 0)
        return;
    dx /= length, dy /= length;
    pf_trace_print(p->out, "<path d=\"M%.1f %.1fL%.1f %.1fL%.1f %.1fz\" fill=\"#%06x\"/>\n", to[0], to[1],
                   to[0] - 9 * dx + 4 * dy, to[1] - 9 * dy - 4 * dx, to[0] - 9 * dx - 4 * dy,
                   to[1] - 9 * dy + 4 * dx, colour);
}

static void cross(struct picture *p, double x, double y)
{
    pf_trace_print(p->out,
                   "<path d=\"M%.1f %.1fl10 10m0 -10l-10 10\" stroke=\"#d1242f\" stroke-width=\"2.2\"/>\n",
                   x - 5, y - 5);
}

static void arrow(struct picture *p, const struct pf_trace_record *record)
{
    unsigned int colour = pf_trace_colour(record);
    double from[2] = {x_of(pf_diagram_from(p->diagram, record)), y_of(p, record->start)};
    double to[2] = {x_of(pf_diagram_to(p->diagram, record)), y_of(p, record->end)};
    bool arrives = record->outcome == PF_TRACE_DONE;
    if (!arrives)
        to[0] = (from[0] + to[0]) / 2;
    bool loop = pf_diagram_from(p->diagram, record) == pf_diagram_to(p->diagram, record);
    if (loop) /* through the NIC's loopback */
        pf_trace_print(p->out, "<path class=\"op\" d=\"M%.1f %.1fC%.1f %.1f %.1f %.1f %.1f %.1f\"", from[0],
                       from[1], from[0] + 44, from[1], to[0] + 44, to[1], to[0], to[1]);
    else
        pf_trace_print(p->out, "<path class=\"op\" d=\"M%.1f %.1fL%.1f %.1f\"", from[0], from[1], to[0],
                       to[1]);
    pf_trace_print(p->out, " stroke=\"#%06x\"%s>", colour, arrives ? "" : " stroke-dasharray=\"5 3\"");
    tip(p, record);
    pf_trace_print(p->out, "</path>\n");
    memcpy(p->lines[p->line_count++], (double[4]){from[0], from[1], to[0], to[1]}, sizeof p->lines[0]);
    double before[2] = {loop ? to[0] + 10 : from[0], loop ? to[1] - 1 : from[1]};
    if (arrives)
        arrow_head(p, before, to, colour);
    else
        cross(p, to[0], to[1]);
}

static void operation_label(struct picture *p, const struct pf_trace_record *record)
{
    char text[96];
    int columns[2] = {pf_diagram_from(p->diagram, record), pf_diagram_to(p->diagram, record)};
    double from[2] = {x_of(columns[0]), y_of(p, record->start)};
    double to[2] = {x_of(columns[1]), y_of(p, record->end)};
    label_text(record, text, sizeof text);
    if (record->track == PF_TRACE_RANK)
        to[1] = from[1] += 14; /* the label stands next to the bar */
    if (record->outcome != PF_TRACE_DONE)
        to[0] = (from[0] + to[0]) / 2 + 0.3 * (to[0] - from[0]);
    if (record->track == PF_TRACE_RANK)
        to[0] += 30 + label_width(text);
    else if (columns[0] == columns[1]) { /* next to the loop */
        from[0] += 32;
        to[0] = from[0] + 30 + label_width(text);
    }
    label(p, text, from, to);
}

static bool is_bar(const struct pf_trace_record *record)
{
    return record->track == PF_TRACE_RANK || record->track == PF_TRACE_RX;
}

/* Bars below arrows below marks below labels. */
static void operations(struct picture *p)
{
    const struct pf_diagram *diagram = p->diagram;
    for (int i = 0; i < diagram->count; i++)
        if (is_bar(&diagram->records[i]))
            bar(p, &diagram->records[i]);
    for (int i = 0; i < diagram->count; i++)
        if (!is_bar(&diagram->records[i]))
            arrow(p, &diagram->records[i]);
    for (int i = 0; i < diagram->count; i++)
        if (pf_trace_is_mark(&diagram->records[i]))
            mark(p, &diagram->records[i]);
    for (int i = 0; i < diagram->count; i++)
        if (diagram->records[i].track != PF_TRACE_RX)
            operation_label(p, &diagram->records[i]);
}

static bool has_loops(const struct pf_diagram *diagram)
{
    for (int i = 0; i < diagram->count; i++)
        if (diagram->records[i].track == PF_TRACE_TX &&
            diagram->records[i].from.node == diagram->records[i].to.node)
            return true;
    return false;
}

static void draw(struct pf_trace_output *out, const struct pf_diagram *diagram)
{
    struct picture p = {.out = out, .diagram = diagram};
    int columns = pf_diagram_columns(diagram);
    double width = (columns ? x_of(columns - 1) : 0) + 48 + (has_loops(diagram) ? LOOPS : RIGHT);
    if (width < LEAST)
        width = LEAST;
    p.top = legend(out, diagram, width, false) + HEAD;
    p.labels = allocate((size_t)diagram->count, sizeof *p.labels);
    p.lines = allocate((size_t)diagram->count, sizeof *p.lines);
    find_rows(&p);
    double bottom = (p.rows ? p.heights[p.rows - 1] : p.top) + ROW;
    head(&p, width, bottom + BOTTOM);
    legend(out, diagram, width, true);
    time_axis(&p, width - 16);
    lifelines(&p, bottom);
    operations(&p);
    pf_trace_print(out, "</svg>\n");
    free(p.labels);
    free(p.lines);
    free(p.dates);
    free(p.heights);
}

static void svg_close(struct pf_trace_sink *sink, double date)
{
    draw(&sink->output, pf_diagram_ready(sink));
    pf_diagram_free(sink);
}

const struct pf_trace_sink_ops pf_trace_svg = {
    .size = sizeof(struct pf_trace_sink_ops),
    .name = "svg",
    .suffix = "",
    .open = pf_diagram_open,
    .begin = pf_diagram_begin,
    .end = pf_diagram_end,
    .close = svg_close,
};
