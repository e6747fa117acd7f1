/* SPDX-License-Identifier: BSD-3-Clause */
/* The user's choice of algorithms, PARFOCAL_ANALYTIC_COLL. */
#include "adapters/analytic/coll/choice.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "adapters/analytic/coll/coll.h"

static bool is(const char *name, const char *text, size_t length)
{
    return strlen(name) == length && memcmp(name, text, length) == 0;
}

/* The names of all kinds, or of the algorithms of one, appended to a message. */
static void append(char *why, size_t size, const char *name, bool first)
{
    size_t used = strlen(why);
    snprintf(why + used, size - used, "%s%s", first ? "" : ", ", name);
}

static int find_kind(const char *text, size_t length, char *why, size_t why_size)
{
    for (int i = 0; i < PF_COLL_KINDS; i++)
        if (is(pf_kinds[i].name, text, length))
            return i;
    snprintf(why, why_size, "no collective '%.*s'; there are ", (int)length, text);
    for (int i = 0; i < PF_COLL_KINDS; i++)
        append(why, why_size, pf_kinds[i].name, i == 0);
    return -1;
}

static int find_algorithm(const struct pf_kind *kind, const char *text, size_t length, char *why,
                          size_t why_size)
{
    for (int i = 0; i < PF_ALGORITHMS_MAX && kind->algorithm[i].name; i++)
        if (is(kind->algorithm[i].name, text, length))
            return i;
    snprintf(why, why_size, "%s has no algorithm '%.*s'; there are ", kind->name, (int)length, text);
    for (int i = 0; i < PF_ALGORITHMS_MAX && kind->algorithm[i].name; i++)
        append(why, why_size, kind->algorithm[i].name, i == 0);
    return -1;
}

/* Bytes, with an optional k or M; the whole of `text` up to `end`. */
static bool parse_segment(const char *text, const char *end, size_t *segment)
{
    char *stop;
    errno = 0;
    unsigned long long value = strtoull(text, &stop, 10);
    if (stop == text || *text < '0' || *text > '9' || errno)
        return false;
    int shift = *stop == 'k' ? 10 : *stop == 'M' ? 20 : 0;
    stop += shift != 0;
    *segment = (size_t)(value << shift);
    return stop == end && value > 0 && value < 1ULL << 40;
}

static bool parse_item(const char *item, size_t length, int *algorithm, size_t *segment, char *why,
                       size_t why_size)
{
    const char *end = item + length, *colon = memchr(item, ':', length);
    if (!colon) {
        snprintf(why, why_size, "'%.*s' is not COLLECTIVE:ALGORITHM or COLLECTIVE:ALGORITHM:SEGMENT",
                 (int)length, item);
        return false;
    }
    int kind = find_kind(item, (size_t)(colon - item), why, why_size);
    if (kind < 0)
        return false;
    const char *name = colon + 1, *second = memchr(name, ':', (size_t)(end - name));
    int found =
        find_algorithm(&pf_kinds[kind], name, (size_t)((second ? second : end) - name), why, why_size);
    if (found < 0)
        return false;
    if (second && !parse_segment(second + 1, end, &segment[kind])) {
        snprintf(why, why_size, "'%.*s' is not the bytes of a segment", (int)(end - second - 1), second + 1);
        return false;
    }
    algorithm[kind] = found;
    return true;
}

bool pf_choice_parse(const char *text, int algorithm[PF_COLL_KINDS], size_t segment[PF_COLL_KINDS], char *why,
                     size_t why_size)
{
    for (int i = 0; i < PF_COLL_KINDS; i++) {
        algorithm[i] = -1;
        segment[i] = 0;
    }
    while (*text) {
        size_t length = strcspn(text, ",");
        if (length && !parse_item(text, length, algorithm, segment, why, why_size))
            return false;
        text += length + (text[length] == ',');
    }
    return true;
}

static void list_rule(const struct pf_kind *kind, const struct pf_rule *rule, int from, FILE *out)
{
    char ranks[40];
    if (rule->n)
        snprintf(ranks, sizeof ranks, "%d to %d ranks", from, rule->n - 1);
    else
        snprintf(ranks, sizeof ranks, "%d ranks and more", from);
    fprintf(out, "    %-22s", ranks);
    for (int i = 0;; i++) {
        fprintf(out, " %s", kind->algorithm[rule->by_size[i].algorithm].name);
        if (!rule->by_size[i].below)
            break;
        fprintf(out, " below %u B,", rule->by_size[i].below);
    }
    fputc('\n', out);
}

static void list_rules(const struct pf_kind *kind, const struct pf_rule *rule, const char *title, FILE *out)
{
    fprintf(out, "  rule%s:\n", title);
    for (int from = 2;; rule++) {
        list_rule(kind, rule, from, out);
        if (!rule->n)
            break;
        from = rule->n;
    }
}

static void list_kind(const struct pf_kind *kind, const struct pf_rules *rules, FILE *out)
{
    fprintf(out, "%s:", kind->name);
    for (int i = 0; i < PF_ALGORITHMS_MAX && kind->algorithm[i].name; i++)
        fprintf(out, "%s %s", i ? "," : "", kind->algorithm[i].name);
    fprintf(out, "\n%s%s%s", *rules->measure ? "  bytes are those of " : "", rules->measure,
            *rules->measure ? "\n" : "");
    list_rules(kind, rules->plain, rules->ordered ? ", operation commutes" : "", out);
    if (rules->ordered)
        list_rules(kind, rules->ordered, ", operation does not commute", out);
    fprintf(out, "  nonblocking: %s\n", rules->nonblocking_rule);
}

void pf_colls_list(FILE *out)
{
    fputs("Algorithms of the collectives in model analytic; the rules are those of Open MPI 4.1 (coll/tuned, "
          "coll/libnbc).\nPARFOCAL_ANALYTIC_COLL=COLLECTIVE:ALGORITHM[:SEGMENT],... chooses others for "
          "blocking "
          "calls.\nWith PARFOCAL_ANALYTIC_STACK=mpich the rules are MPICH's (docs/analytic.md).\n\n",
          out);
    for (int i = 0; i < PF_COLL_KINDS; i++)
        list_kind(&pf_kinds[i], &pf_rules[i], out);
    fputs("\nOn intercommunicators blocking calls are made of these inside each side and of messages between "
          "the\nfirst ranks of the sides (coll/inter, coll/basic), nonblocking ones of messages between the "
          "sides (libnbc).\n",
          out);
}
