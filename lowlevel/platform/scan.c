/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers, depths and sizes of a platform in XML. */
#include "lowlevel/platform/scan.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/memory_available.h"
#include "base/setting_file.h"

enum { MOST_DEPTH = 64, MOST_TAG = 65536 };

/* What a host takes in SimGrid with its links at least, in a flat cluster. */
#define MEMORY_OF_HOST 4000.0

struct scan {
    const char *path;
    FILE *in;
    int line; /* of the tag that was read last */
    int read_line, depth;
    bool in_config;
    double hosts;
    char tag[MOST_TAG];
    char *error;
    size_t error_size;
};

/* The links whose latency changes. */
static char **changing;
static size_t changing_count;

static bool refuse(struct scan *s, const char *format, ...) __attribute__((format(printf, 2, 3)));
static bool refuse(struct scan *s, const char *format, ...)
{
    va_list args;
    int head = snprintf(s->error, s->error_size, "%s:%d: ", s->path, s->line);
    va_start(args, format);
    if (head >= 0 && (size_t)head < s->error_size)
        vsnprintf(s->error + head, s->error_size - (size_t)head, format, args);
    va_end(args);
    return false;
}

static int next(struct scan *s)
{
    int c = getc(s->in);
    s->read_line += c == '\n';
    return c;
}

static bool ends_with(const char *text, size_t length, const char *end)
{
    size_t tail = strlen(end);
    return length >= tail && memcmp(text + length - tail, end, tail) == 0;
}

/* Reads what stands between < and >. 1: a tag; 0: the file has ended; -1: it cannot be read. */
static int read_tag(struct scan *s)
{
    int c, quote = 0;
    size_t length = 0;
    while ((c = next(s)) != EOF && c != '<')
        ;
    s->line = s->read_line;
    while ((c = next(s)) != EOF) {
        bool comment = length >= 3 && memcmp(s->tag, "!--", 3) == 0;
        if (c == '>' && !quote && (!comment || (length >= 5 && ends_with(s->tag, length, "--"))))
            break;
        if (comment && length == MOST_TAG - 1) { /* only its end matters */
            memmove(s->tag + 5, s->tag + length - 2, 2);
            length = 7;
        }
        if (length == MOST_TAG - 1)
            return refuse(s, "an element of more than %d bytes", MOST_TAG), -1;
        if (c == 0)
            return refuse(s, "a byte of zero, which no text has"), -1;
        if (!comment && (c == '"' || c == '\'') && (!quote || quote == c))
            quote = quote ? 0 : c;
        s->tag[length++] = (char)c;
    }
    s->tag[length] = 0;
    return c != EOF;
}

/* Whether `text` is a list of numbers from `least` to `most`, each perhaps with a unit, commas between. */
static bool are_numbers(const char *text, double least, double most)
{
    for (;; text++) {
        char *end;
        double value = strtod(text, &end);
        if (end == text || !(value >= least && value <= most))
            return false;
        text = end + strcspn(end, ",");
        if (!*text)
            return true;
    }
}

static double count_radical(const char *text)
{
    double count = 0;
    for (;; text++) {
        char *end;
        double first = strtod(text, &end), last = first;
        if (end == text || !(first >= 0))
            return -1;
        if (*end == '-')
            last = strtod(text = end + 1, &end);
        if (end == text || !(last >= first) || last > 2147483646.0)
            return -1;
        count += last - first + 1;
        text = end;
        if (*text != ',')
            return *text ? -1 : count;
    }
}

static bool check_size(struct scan *s, const char *element, const char *value)
{
    double count = count_radical(value), available = pf_memory_available();
    if (count < 0)
        return refuse(s, "<%s radical=\"%.80s\">: this must be numbers and ranges such as 0-3,8", element,
                      value);
    s->hosts += count;
    if (s->hosts > PF_PLATFORM_MOST_HOSTS)
        return refuse(s, "<%s radical=\"%.80s\">: %.0f hosts; a platform may have %.0f", element, value,
                      s->hosts, PF_PLATFORM_MOST_HOSTS);
    if (available > 0 && s->hosts * MEMORY_OF_HOST > available)
        return refuse(s, "<%s radical=\"%.80s\">: %.0f hosts need %.1f GiB of memory, %.1f GiB are available",
                      element, value, s->hosts, s->hosts * MEMORY_OF_HOST / 0x1p30, available / 0x1p30);
    return true;
}

/* The shape of a torus, a fat tree or a dragonfly: how many there are of each thing, which SimGrid makes
 * before it compares them with the number of hosts. */
static bool check_shape(struct scan *s, const char *element, const char *value)
{
    double product = 1;
    for (const char *text = value; *text; text += *text != 0) {
        char *end;
        double number = strtod(text, &end);
        if (end == text || number != floor(number) || number < 1)
            return refuse(s, "<%s topo_parameters=\"%.80s\">: whole numbers above 0, with , and ; between",
                          element, value);
        product *= number;
        text = end;
        if (*text && *text != ',' && *text != ';')
            return refuse(s, "<%s topo_parameters=\"%.80s\">: '%c' is neither a number nor , or ;", element,
                          value, *text);
    }
    if (product > 1e10)
        return refuse(s, "<%s topo_parameters=\"%.80s\">: too large: a platform may have %.0f hosts", element,
                      value, PF_PLATFORM_MOST_HOSTS);
    return true;
}

/* What SimGrid takes as any number, and then divides by. */
static const struct number {
    const char *name;
    double least, most;
    const char *must;
} numbers[] = {
    {"speed", 0, 1e30, "a number from 0 with a unit, such as 1Gf"},
    {"bw", 1e-300, 1e30, "a number above 0 with a unit, such as 10GBps"},
    {"bb_bw", 1e-300, 1e30, "a number above 0 with a unit, such as 10GBps"},
    {"loopback_bw", 1e-300, 1e30, "a number above 0 with a unit, such as 10GBps"},
    {"limiter_link", 1e-300, 1e30, "a number above 0 with a unit, such as 10GBps"},
    {"bw_in", 1e-300, 1e30, "a number above 0 with a unit, such as 10GBps"},
    {"bw_out", 1e-300, 1e30, "a number above 0 with a unit, such as 10GBps"},
    {"read_bw", 1e-300, 1e30, "a number above 0 with a unit, such as 100MBps"},
    {"write_bw", 1e-300, 1e30, "a number above 0 with a unit, such as 100MBps"},
    {"bandwidth", 1e-300, 1e30, "a number above 0 with a unit, such as 10GBps"},
    {"lat", 0, 1e12, "a number from 0 with a unit, such as 500ns"},
    {"bb_lat", 0, 1e12, "a number from 0 with a unit, such as 500ns"},
    {"loopback_lat", 0, 1e12, "a number from 0 with a unit, such as 500ns"},
    {"latency", 0, 1e12, "a number from 0 with a unit, such as 500ns"},
    {"core", 1, 1e6, "a whole number from 1 to 1000000"},
    {"pstate", 0, 1e6, "a whole number from 0"},
    {"start_time", -1, 1e300, "a date in s"},
    {"kill_time", -1, 1e300, "a date in s"},
    {"version", 0, 1e3, "a version, such as 4.1"},
};

static bool check_attribute(struct scan *s, const char *element, const char *name, const char *value)
{
    static const char *const optional[] = {"bb_bw", "loopback_bw", "limiter_link", "bb_lat", "loopback_lat"};
    for (size_t i = 0; !*value && i < sizeof optional / sizeof optional[0]; i++)
        if (strcmp(name, optional[i]) == 0)
            return true;
    if (strcmp(name, "radical") == 0)
        return check_size(s, element, value);
    if (strcmp(name, "topo_parameters") == 0)
        return check_shape(s, element, value);
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        if (strcmp(name, numbers[i].name) == 0 && !are_numbers(value, numbers[i].least, numbers[i].most))
            return refuse(s, "<%s %s=\"%.80s\">: this must be %s", element, name, value, numbers[i].must);
    return true;
}

/* A setting of SimGrid's in the platform. */
static bool check_config(struct scan *s, const char *id, const char *value)
{
    char why[300];
    if (*id && !pf_setting_simgrid_data(id))
        return refuse(
            s, "<prop id=\"%.80s\" value=\"%.80s\">: a platform may not set this (--cfg=%.80s:%.80s does)",
            id, value, id, value);
    return !*id || pf_setting_simgrid_good(id, value, why, sizeof why) ||
           refuse(s, "<prop id=\"%.80s\" value=\"%.80s\">: %s", id, value, why);
}

static void note_changing(const char *link)
{
    changing = pf_reallocarray(changing, changing_count + 1, sizeof *changing);
    changing[changing_count++] = pf_strdup(link);
}

bool pf_platform_names_link(const char *name, const char *link)
{
    size_t length = strlen(name);
    return strncmp(name, link, length) == 0 &&
           (!link[length] || strcmp(link + length, "_UP") == 0 || strcmp(link + length, "_DOWN") == 0);
}

bool pf_platform_latency_changes(const char *link)
{
    for (size_t i = 0; i < changing_count; i++)
        if (pf_platform_names_link(changing[i], link))
            return true;
    return false;
}

/* Cuts the tag into its attributes; where it looks like no XML it is left to SimGrid. */
static bool check_tag(struct scan *s)
{
    char *element = s->tag, *text = element + strcspn(element, " \t\r\n/");
    const char *id = "", *value = "", *link = "";
    bool changes = false; /* latency */
    bool is_prop = strncmp(element, "prop", 4) == 0 && text == element + 4;
    while (*text) {
        *text++ = 0;
        char *name = text + strspn(text, " \t\r\n"), *equals = strchr(name, '='), *quote, *end;
        if (!equals || !(quote = strpbrk(equals, "\"'")) || !(end = strchr(quote + 1, *quote)))
            break;
        name[strcspn(name, " \t\r\n=")] = 0;
        *end = 0;
        if (is_prop)
            *(strcmp(name, "id") == 0 ? &id : &value) = quote + 1;
        else if (strcmp(name, "id") == 0 || strcmp(name, "element") == 0)
            link = quote + 1;
        else if (strcmp(name, "latency_file") == 0 ||
                 (strcmp(name, "kind") == 0 && strcmp(quote + 1, "LATENCY") == 0))
            changes = true;
        else if (!check_attribute(s, element, name, quote + 1))
            return false;
        text = end;
        *text = ' ';
    }
    if (changes)
        note_changing(link);
    return !is_prop || !s->in_config || check_config(s, id, value);
}

static bool scan_tags(struct scan *s)
{
    int more;
    while ((more = read_tag(s)) > 0) {
        size_t length = strlen(s->tag);
        bool ends = *s->tag == '/', whole = length > 0 && s->tag[length - 1] == '/';
        if (*s->tag == '!' || *s->tag == '?')
            continue;
        if (strncmp(s->tag + ends, "config", 6) == 0)
            s->in_config = !ends && !whole;
        s->depth += ends ? -1 : !whole;
        if (s->depth > MOST_DEPTH)
            return refuse(s, "<%.*s>: more than %d elements within each other",
                          (int)strcspn(s->tag, " \t\r\n/"), s->tag, MOST_DEPTH);
        if (!ends && !check_tag(s))
            return false;
    }
    return more == 0;
}

bool pf_platform_scan(const char *file, char *error, size_t error_size)
{
    FILE *in = fopen(file, "r");
    if (!in) {
        snprintf(error, error_size, "cannot read the platform '%s': %s", file, strerror(errno));
        return false;
    }
    struct scan *s = pf_calloc(1, sizeof *s);
    *s = (struct scan){
        .path = file, .in = in, .read_line = 1, .line = 1, .error = error, .error_size = error_size};
    bool good = scan_tags(s);
    fclose(in);
    free(s);
    return good;
}
