/* SPDX-License-Identifier: BSD-3-Clause */
/* The kinds of topologies that there are: from what was written to a fabric. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/config.h"
#include "lowlevel/topology/topology.h"
#include "topology_kinds.h"

#define DECLARE(kind) extern const struct pf_fabric_kind pf_fabric_kind_##kind;
PF_FABRIC_KINDS(DECLARE)
#define ROW(kind) &pf_fabric_kind_##kind,
static const struct pf_fabric_kind *const kinds[] = {PF_FABRIC_KINDS(ROW)};

#define KINDS ((int)(sizeof kinds / sizeof kinds[0]))

bool pf_fabric_help(int index, const char **name, const char **numbers, const char **help)
{
    if (index >= KINDS)
        return false;
    *name = kinds[index]->name;
    *numbers = kinds[index]->numbers;
    *help = kinds[index]->help;
    return true;
}

static const struct pf_fabric_kind *find(const char *text)
{
    size_t length = strcspn(text, ":");
    for (int i = 0; i < KINDS; i++)
        if (strlen(kinds[i]->name) == length && strncmp(kinds[i]->name, text, length) == 0)
            return kinds[i];
    return NULL;
}

bool pf_fabric_is_kind(const char *text)
{
    return find(text) != NULL;
}

static void refuse_kind(const char *text, char *error, size_t error_size)
{
    char word[40];
    const char *words[KINDS];
    snprintf(word, sizeof word, "%.*s", (int)strcspn(text, ":"), text);
    for (int i = 0; i < KINDS; i++)
        words[i] = kinds[i]->name;
    const char *near = pf_nearest_word(word, words, KINDS);
    int at = snprintf(error, error_size, "'%.60s' is no topology%s%s%s; there are", text,
                      near ? ", maybe " : "", near ? near : "", near ? "?" : "");
    for (int i = 0; i < KINDS && at > 0 && (size_t)at < error_size; i++)
        at += snprintf(error + at, error_size - (size_t)at, "%s %s", i ? "," : "", words[i]);
}

static bool read_hosts(const char *text, int64_t *hosts)
{
    char *end;
    *hosts = strtol(text, &end, 10);
    return *end == 0;
}

bool pf_fabric_describe(const char *text, int64_t hosts, char *complete, size_t size, char *error,
                        size_t error_size)
{
    const struct pf_fabric_kind *kind = find(text);
    const char *colon = strchr(text, ':');
    if (!kind) {
        refuse_kind(text, error, error_size);
        return false;
    }
    if (colon && strspn(colon + 1, "-0123456789") < strlen(colon + 1)) {
        if ((size_t)snprintf(complete, size, "%s", text) < size)
            return true;
        snprintf(error, error_size, "'%.60s...' is too long for a topology", text);
        return false;
    }
    if (colon && !read_hosts(colon + 1, &hosts))
        hosts = 0;
    if (hosts < 1) {
        snprintf(error, error_size, "'%s': the number of hosts must be from 1 to %ld", text,
                 (long)kind->most_hosts);
        return false;
    }
    if (hosts > kind->most_hosts) {
        snprintf(error, error_size, "'%s': %ld hosts are too many, a %s has at most %ld%s", text, (long)hosts,
                 kind->name, (long)kind->most_hosts,
                 kind->most_hosts < PF_FABRIC_HOSTS ? " (star and torus have more)" : "");
        return false;
    }
    int length = snprintf(complete, size, "%s:", kind->name);
    kind->fit(hosts, complete + length, size - (size_t)length);
    return true;
}

struct pf_fabric *pf_fabric_make(const char *text, const struct pf_fabric_speeds *links, char *error,
                                 size_t error_size)
{
    char complete[sizeof((struct pf_fabric *)0)->text];
    if (!pf_fabric_describe(text, 0, complete, sizeof complete, error, error_size))
        return NULL;
    const struct pf_fabric_kind *kind = find(complete);
    struct pf_fabric *f = kind->read(strchr(complete, ':') + 1, error, error_size);
    if (!f)
        return NULL;
    f->kind = kind;
    snprintf(f->text, sizeof f->text, "%s", complete);
    if (links)
        pf_fabric_wire(f, links);
    return f;
}

bool pf_fabric_cluster(const struct pf_fabric *f, struct pf_fabric_cluster *cluster)
{
    return f->kind->cluster(f, cluster);
}
