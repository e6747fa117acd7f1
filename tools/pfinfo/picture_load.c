/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads a table of links (PARFOCAL_NET_STATISTICS). */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/memory.h"
#include "lowlevel/network/packet/link_names.h"
#include "tools/pfinfo/commands.h"

enum { BEGIN, END, LINK, CHANNEL, UTILISATION, PACKETS, BYTES, STALL, MOST, COLUMNS };
static const char *const names[COLUMNS] = {"begin_s", "end_s", "link",    "channel",    "utilisation",
                                           "packets", "bytes", "stall_s", "queue_max_B"};

struct reader {
    const char *file;
    int line;
    int column[COLUMNS]; /* where each stands */
    double begin, end;   /* of all rows */
};

/* Splits a line at its commas; how many words. */
static int split(char *line, char **words, int most)
{
    int count = 0;
    line[strcspn(line, "\r\n")] = 0;
    for (char *word; (word = strsep(&line, ",")) && count < most;)
        words[count++] = word;
    return count;
}

static void read_head(struct reader *r, char **words, int count)
{
    for (int c = 0; c < COLUMNS; c++) {
        r->column[c] = -1;
        for (int i = 0; i < count; i++)
            if (strcmp(words[i], names[c]) == 0)
                r->column[c] = i;
        if (r->column[c] < 0)
            pf_die("--statistics: '%s' has no column %s: it is no table of PARFOCAL_NET_STATISTICS", r->file,
                   names[c]);
    }
}

static double number(const struct reader *r, char **words, int column)
{
    char *end;
    const char *text = words[r->column[column]];
    double value = strtod(text, &end);
    if (end == text || *end || !isfinite(value))
        pf_die("--statistics: '%s', line %d: '%.40s' is no number", r->file, r->line, text);
    return value;
}

static void add_row(struct reader *r, char **words, const struct pf_fabric *f, struct pf_picture_load *loads)
{
    const char *link = words[r->column[LINK]];
    double begin = number(r, words, BEGIN), end = number(r, words, END);
    if (strcmp(words[r->column[CHANNEL]], "all") != 0)
        return;
    int32_t port = pf_packet_link_find(f, link);
    if (port < 0)
        pf_die("--statistics: '%s', line %d: the platform has no link %.60s", r->file, r->line, link);
    r->begin = fmin(r->begin, begin);
    r->end = fmax(r->end, end);
    loads[port].utilisation += number(r, words, UTILISATION) * (end - begin);
    loads[port].packets += number(r, words, PACKETS);
    loads[port].bytes += number(r, words, BYTES);
    loads[port].stall += number(r, words, STALL);
    loads[port].most = fmax(loads[port].most, number(r, words, MOST));
}

struct pf_picture_load *picture_load_read(const char *file, const struct pf_fabric *f)
{
    enum { WORDS = 32 };
    size_t ports = (size_t)f->first_port[f->routers + f->nodes], size = 0;
    struct pf_picture_load *loads = pf_calloc(ports, sizeof *loads);
    struct reader reader = {.file = file, .begin = INFINITY, .end = -INFINITY};
    char *line = NULL, *words[WORDS];
    FILE *in = fopen(file, "r");
    int columns = 0;
    if (!in)
        pf_die("--statistics: cannot read '%s': %s", file, strerror(errno));
    while (getline(&line, &size, in) > 0) {
        int count = split(line, words, WORDS);
        if (++reader.line == 1)
            read_head(&reader, words, columns = count);
        else if (count != columns)
            pf_die("--statistics: '%s', line %d has %d columns, not %d", file, reader.line, count, columns);
        else
            add_row(&reader, words, f, loads);
    }
    if (reader.line == 0)
        pf_die("--statistics: '%s' is empty", file);
    for (size_t port = 0; port < ports && reader.end > reader.begin; port++)
        loads[port].utilisation /= reader.end - reader.begin;
    free(line);
    fclose(in);
    return loads;
}
