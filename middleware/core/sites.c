/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of call sites. */
#include "middleware/core/sites.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <uthash.h>

#include "base/memory.h"
#include "loader/image.h"
#include "middleware/core/job_programs.h"
#include "middleware/core/rank.h"

#define OFFSET_BITS 40

struct site {
    uint64_t name;
    int fn, number;
    const void *address; /* in one of the ranks */
    uint32_t *counts;    /* of each rank, NULL: not counted */
    UT_hash_handle hh;
};

/* Call sites that a rank has used lately, by their addresses: those of a loop are used again. */
#define LATELY 32

struct lately {
    const void *address;
    uint64_t name;
    struct site *site; /* NULL: not looked up */
};

struct pf_sites {
    int ranks;
    struct lately *lately; /* LATELY of each rank */
    struct site *all;
    struct site **by_number;
    int count, room;
};

struct pf_sites *pf_sites_new(int ranks)
{
    struct pf_sites *sites = pf_calloc(1, sizeof *sites);
    sites->ranks = ranks;
    sites->lately = pf_calloc((size_t)ranks * LATELY, sizeof *sites->lately);
    return sites;
}

void pf_sites_free(struct pf_sites *sites)
{
    if (!sites)
        return;
    struct site *site = sites->all, *next;
    HASH_CLEAR(hh, sites->all);
    for (; site; site = next) {
        next = site->hh.next;
        free(site->counts);
        free(site);
    }
    free(sites->by_number);
    free(sites->lately);
    free(sites);
}

/* The length of a file's name without what a rank's copy adds to it, as in "program_1234_7.so". */
static size_t plain_length(const char *name)
{
    size_t length = strlen(name), end = length > 3 ? length - 3 : 0;
    if (strcmp(name + end, ".so") != 0)
        return length;
    for (size_t at = end; at > 1 && (isdigit((unsigned char)name[at - 1]) || name[at - 1] == '_'); at--)
        if (name[at - 1] == '_' && isdigit((unsigned char)name[at]))
            end = at - 1;
    return end;
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* A number for each object; 0: the first program. */
static uint64_t object_number(const char *file)
{
    int program = pf_job_program_at(file);
    if (program >= 0)
        return (uint64_t)program * 2;
    const char *name = base_name(file);
    size_t length = plain_length(name);
    uint64_t number = length;
    for (size_t i = 0; i < length; i++)
        number = (number ^ (unsigned char)name[i]) * 0x100000001b3u;
    return number | 1;
}

static struct lately *look_up(struct pf_sites *sites, int rank, const void *address)
{
    uintptr_t at = (uintptr_t)address;
    struct lately *lately = &sites->lately[(size_t)rank * LATELY + (at >> 2 ^ at >> 7) % LATELY];
    struct pf_image_place place;
    if (lately->address == address)
        return lately;
    *lately = (struct lately){.address = address};
    if (pf_loaded_where(address, &place))
        lately->name = (object_number(place.file) << OFFSET_BITS) + place.offset;
    return lately;
}

uint64_t pf_sites_name(struct pf_sites *sites, int rank, const void *address)
{
    return look_up(sites, rank, address)->name;
}

static void number(struct pf_sites *sites, struct site *site)
{
    PF_ARRAY_ROOM(sites->by_number, sites->room, sites->count + 1);
    sites->by_number[sites->count++] = site;
    site->number = sites->count;
}

static struct site *site_at(struct pf_sites *sites, int rank, const void *address, int fn)
{
    struct lately *lately = look_up(sites, rank, address);
    struct site *site = lately->site;
    if (site)
        return site;
    HASH_FIND(hh, sites->all, &lately->name, sizeof lately->name, site);
    if (!site) {
        site = pf_calloc(1, sizeof *site);
        *site = (struct site){.name = lately->name, .fn = fn, .address = address};
        number(sites, site);
        HASH_ADD(hh, sites->all, name, sizeof site->name, site);
    }
    return lately->site = site;
}

int pf_sites_number(struct pf_sites *sites, int rank, const void *address, int fn)
{
    return address ? site_at(sites, rank, address, fn)->number : 0;
}

const void *pf_sites_address(const struct pf_sites *sites, int number, int *fn)
{
    *fn = sites->by_number[number - 1]->fn;
    return sites->by_number[number - 1]->address;
}

void pf_sites_count(struct pf_sites *sites, int rank, const void *address, int fn)
{
    struct site *site = site_at(sites, rank, address, fn);
    if (!site->counts)
        site->counts = pf_calloc((size_t)sites->ranks, sizeof *site->counts);
    site->counts[rank]++;
}

static int by_name(const struct site *a, const struct site *b)
{
    return a->name < b->name ? -1 : a->name > b->name;
}

void pf_sites_print(struct pf_sites *sites, FILE *out)
{
    HASH_SORT(sites->all, by_name);
    for (const struct site *site = sites->all; site; site = site->hh.next) {
        uint32_t least = UINT32_MAX, most = 0;
        for (int i = 0; i < sites->ranks; i++) {
            least = site->counts[i] < least ? site->counts[i] : least;
            most = site->counts[i] > most ? site->counts[i] : most;
        }
        fprintf(out, "# site %" PRIx64 " %s %" PRIu32 " %" PRIu32 "\n", site->name, pf_fn_name(site->fn),
                least, most);
    }
}
