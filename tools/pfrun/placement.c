/* SPDX-License-Identifier: BSD-3-Clause */
/* Where the jobs of a workload run. */
#include "tools/pfrun/placement.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <simgrid/host.h>

#include "base/log.h"
#include "base/memory.h"
#include "lowlevel/platform/builtin.h"
#include "lowlevel/topology/topology.h"

static struct {
    sg_host_t *hosts; /* in the order of SMPI's ranks */
    int count;
    const struct placement **owner; /* of each, NULL: it is free */
    int group;                      /* hosts that follow each other in one, 0: the platform has no groups */
    struct named {
        const char *name;
        int number;
    } * sorted; /* by name; NULL until a hostfile asks */
} machine;

static bool begins(const char *text, const char *word, const char **seed)
{
    size_t length = strlen(word);
    if (strncmp(text, word, length) != 0 || (text[length] && text[length] != ':'))
        return false;
    *seed = text[length] ? text + length + 1 : NULL;
    return true;
}

void placement_parse(struct placement *place, const char *text)
{
    const char *seed;
    if (begins(text, "contiguous", &seed) && !seed)
        place->kind = PLACE_CONTIGUOUS;
    else if (begins(text, "random", &seed))
        place->kind = PLACE_RANDOM;
    else if (begins(text, "groups", &seed))
        place->kind = PLACE_GROUPS;
    else
        pf_die("%s: -place '%s' is not contiguous, random, random:SEED, groups, groups:SEED or as:JOB "
               "(-hostfile names hosts)",
               place->where, text);
    char *end = NULL;
    errno = 0;
    place->shuffled = seed || place->kind == PLACE_RANDOM;
    place->seed = seed ? strtoull(seed, &end, 10) : 1;
    if (seed && (end == seed || *end || errno || *seed == '-'))
        pf_die("%s: -place %s: the seed is a whole number from 0 on", place->where, text);
}

void placement_of_file(struct placement *place, const char *file)
{
    place->kind = PLACE_FILE;
    place->file = file;
}

int placement_hosts(const struct placement *place)
{
    return place->like ? 0 : (place->ranks + place->per_host - 1) / place->per_host;
}

static void shuffle(int *list, int count, uint64_t seed)
{
    uint64_t random = pf_topology_hash(seed);
    for (int i = count - 1; i > 0; i--) {
        random = pf_topology_hash(random);
        int other = (int)pf_topology_below(random, (uint32_t)i + 1), kept = list[i];
        list[i] = list[other];
        list[other] = kept;
    }
}

/* Hosts that are free, in the order in which the job takes them; how many. */
static int free_hosts(const struct placement *place, int *list)
{
    int count = 0;
    for (int i = 0; i < machine.count; i++)
        if (!machine.owner[i])
            list[count++] = i;
    if (place->shuffled)
        shuffle(list, count, place->seed);
    return count;
}

/* Those of groups of which all are free. */
static int free_groups(const struct placement *place, int *list)
{
    int groups = 0, count = 0, size = machine.group;
    if (!size)
        pf_die("%s: -place groups: only built-in topologies have groups of hosts (pfinfo --platform lists "
               "them)",
               place->where);
    int *first = pf_calloc((size_t)machine.count / (size_t)size + 1, sizeof *first);
    for (int i = 0; i < machine.count; i += size) {
        bool is_free = true;
        for (int k = i; k < i + size && k < machine.count; k++)
            is_free &= !machine.owner[k];
        if (is_free)
            first[groups++] = i;
    }
    if (place->shuffled)
        shuffle(first, groups, place->seed);
    for (int i = 0; i < groups; i++)
        for (int k = first[i]; k < first[i] + size && k < machine.count; k++)
            list[count++] = k;
    free(first);
    return count;
}

static void take_free(struct placement *place)
{
    int *list = pf_calloc((size_t)machine.count + 1, sizeof *list), needed = placement_hosts(place);
    int count = place->kind == PLACE_GROUPS ? free_groups(place, list) : free_hosts(place, list);
    if (needed > count)
        pf_die("%s: job '%s': %d ranks, %d on a host, need %d hosts, and of the %d of the platform %d are "
               "free%s (-per-host N puts more ranks on a host, -platform NAME:HOSTS makes a larger machine)",
               place->where, place->name, place->ranks, place->per_host, needed, machine.count, count,
               place->kind == PLACE_GROUPS ? " in groups without other jobs" : "");
    for (int i = 0; i < place->ranks; i++)
        place->hosts[i] = list[i / place->per_host];
    for (int i = 0; i < needed; i++)
        machine.owner[list[i]] = place;
    free(list);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct named *)a)->name, ((const struct named *)b)->name);
}

static const struct named *find_host(const char *name)
{
    if (!machine.sorted) {
        machine.sorted = pf_calloc((size_t)machine.count + 1, sizeof *machine.sorted);
        for (int i = 0; i < machine.count; i++)
            machine.sorted[i] = (struct named){sg_host_get_name(machine.hosts[i]), i};
        qsort(machine.sorted, (size_t)machine.count, sizeof *machine.sorted, by_name);
    }
    const struct named wanted = {.name = name};
    return bsearch(&wanted, machine.sorted, (size_t)machine.count, sizeof wanted, by_name);
}

static void take_named(struct placement *place)
{
    struct hosts list = {0};
    hosts_read(&list, place->file);
    if (place->ranks > list.count)
        pf_die("%s: job '%s' has %d ranks, and the hostfile '%s' allows %d (add hosts, or slots as in "
               "'host:4')",
               place->where, place->name, place->ranks, place->file, list.count);
    for (int i = 0; i < place->ranks; i++) {
        const struct named *host = find_host(list.names[i]);
        if (!host)
            pf_die("%s: line %d: the platform has no host '%s'", place->file, list.lines[i], list.names[i]);
        const struct placement *owner = machine.owner[host->number];
        if (owner && owner != place)
            pf_die("%s: job '%s' uses host '%s', which job '%s' has (-place as:%s shares all of its hosts)",
                   place->where, place->name, host->name, owner->name, owner->name);
        machine.owner[host->number] = place;
        place->hosts[i] = host->number;
    }
}

static void find_groups(const char *platform)
{
    char text[160], error[300];
    struct pf_fabric_speeds links;
    int32_t extents[PF_FABRIC_DIGITS];
    int in_group = 0;
    if (!pf_fabric_is_kind(platform) ||
        !pf_platform_builtin_fabric(platform, machine.count, text, sizeof text, &links, error, sizeof error))
        return;
    struct pf_fabric *fabric = pf_fabric_make(text, NULL, error, sizeof error);
    if (!fabric)
        return;
    pf_fabric_extents(fabric, extents, &in_group);
    machine.group = 1;
    for (int i = 0; i < in_group; i++)
        machine.group *= extents[i];
    pf_fabric_free(fabric);
}

/* Hosts that are named are taken before the others choose. */
void placement_choose(struct placement **places, int count, const char *platform)
{
    machine.count = (int)sg_host_count();
    machine.hosts = sg_host_list();
    machine.owner = pf_calloc((size_t)machine.count + 1, sizeof *machine.owner);
    find_groups(platform);
    for (int i = 0; i < count; i++) {
        places[i]->hosts = pf_calloc((size_t)places[i]->ranks, sizeof(int));
        if (places[i]->kind == PLACE_FILE && !places[i]->like)
            take_named(places[i]);
    }
    for (int i = 0; i < count; i++) {
        struct placement *place = places[i];
        if (place->like)
            memcpy(place->hosts, place->like->hosts, (size_t)place->ranks * sizeof(int));
        else if (place->kind != PLACE_FILE)
            take_free(place);
    }
}

void placement_append(const struct placement *place, struct hosts *hosts)
{
    for (int i = 0; i < place->ranks; i++)
        hosts_add(hosts, sg_host_get_name(machine.hosts[place->hosts[i]]), 0);
}
