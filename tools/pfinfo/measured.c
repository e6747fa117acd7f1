/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads measurements of a real machine. */
#include "tools/pfinfo/measured.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct line {
    char what[20], transport[20];
    long bytes;
    double seconds;
};

struct lines {
    struct line *all;
    size_t count, capacity;
};

/* These say a number of bytes (or a rank), not how long something takes. */
static bool is_number(const struct line *line)
{
    return strcmp(line->what, "threshold") == 0 || strcmp(line->what, "peer") == 0;
}

static bool same(const struct line *a, const struct line *b)
{
    return strcmp(a->what, b->what) == 0 && strcmp(a->transport, b->transport) == 0 &&
           (is_number(a) || a->bytes == b->bytes);
}

/* Lines of one quantity stand together, by size, then by value. */
static int compare(const void *left, const void *right)
{
    const struct line *a = left, *b = right;
    int order = strcmp(a->what, b->what);
    if (order == 0)
        order = strcmp(a->transport, b->transport);
    if (order == 0)
        order = (a->bytes > b->bytes) - (a->bytes < b->bytes);
    return order ? order : (a->seconds > b->seconds) - (a->seconds < b->seconds);
}

static bool add(struct lines *lines, const char *text)
{
    struct line line;
    if (sscanf(text, "%19s %19s %ld %lf", line.what, line.transport, &line.bytes, &line.seconds) != 4)
        return true; /* of another program */
    if (lines->count == lines->capacity) {
        lines->capacity = lines->capacity ? 2 * lines->capacity : 1024;
        struct line *larger = reallocarray(lines->all, lines->capacity, sizeof *larger);
        if (!larger)
            return false;
        lines->all = larger;
    }
    lines->all[lines->count++] = line;
    return true;
}

static void use(const struct line *median, struct pf_fit *fit, struct pf_fit *between)
{
    char text[100];
    bool fitted = is_number(median) || (median->bytes & (median->bytes - 1)) == 0;
    snprintf(text, sizeof text, "%s %s %ld %.12g", median->what, median->transport, median->bytes,
             median->seconds);
    pf_fit_line(fitted ? fit : between, text);
}

static void find_medians(struct lines *lines, struct pf_fit *fit, struct pf_fit *between)
{
    if (lines->count)
        qsort(lines->all, lines->count, sizeof *lines->all, compare);
    for (size_t first = 0, next; first < lines->count; first = next) {
        for (next = first + 1; next < lines->count && same(&lines->all[first], &lines->all[next]);)
            next++;
        use(&lines->all[first + (next - first) / 2], fit, between);
    }
}

const char *measured_read(const char *path, struct pf_fit *fit, struct pf_fit *between)
{
    static char problem[500];
    char text[400];
    struct lines lines = {0};
    bool enough = true;
    FILE *file = fopen(path, "r");
    if (!file) {
        snprintf(problem, sizeof problem, "cannot read '%s': %s", path, strerror(errno));
        return problem;
    }
    while (enough && fgets(text, sizeof text, file))
        enough = add(&lines, text);
    fclose(file);
    find_medians(&lines, fit, between);
    free(lines.all);
    return enough ? NULL : "out of memory";
}
