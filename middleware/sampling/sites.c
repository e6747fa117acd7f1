/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of the places from which a program calls. */
#include "middleware/sampling/sites.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <uthash.h>

#include "base/memory.h"
#include "loader/image.h"
#include "middleware/core/job_state.h"
#include "middleware/core/rank.h"
#include "middleware/sampling/marks.h"

#define OFFSET_BITS 40
/* Objects begin and end with pages. */
#define PAGE_BITS 12

struct site {
    uint64_t name;
    int fn;
    uint32_t *counts; /* of each rank */
    UT_hash_handle hh;
};

/* A page of code and what makes names of its addresses: what a rank has asked last. */
struct page {
    uintptr_t number;
    uint64_t name; /* that of its first byte */
};

/* What a rank has found lately, by its own addresses: a loop calls from the same places again and again. */
#define LATELY 32

struct lately {
    uintptr_t address[LATELY];
    struct site *site[LATELY];
};

struct pf_sites {
    int ranks;
    struct page *last;     /* of each rank */
    struct lately *lately; /* of each rank */
    struct site *all;
};

struct pf_sites *pf_sites_new(int ranks)
{
    struct pf_sites *sites = pf_calloc(1, sizeof *sites);
    sites->ranks = ranks;
    sites->last = pf_calloc((size_t)ranks, sizeof *sites->last);
    sites->lately = pf_calloc((size_t)ranks, sizeof *sites->lately);
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
    free(sites->last);
    free(sites->lately);
    free(sites);
}

/* How many digits stand before a place in a text. */
static size_t digits_before(const char *text, size_t end)
{
    size_t count = 0;
    while (count < end && isdigit((unsigned char)text[end - count - 1]))
        count++;
    return count;
}

/* The length of a file's name without what a rank's copy adds to it, as in "program_1234_7.so". */
static size_t plain_length(const char *name)
{
    size_t length = strlen(name), end = length > 3 ? length - 3 : 0, start;
    if (strcmp(name + end, ".so") != 0)
        return length;
    while ((start = end - digits_before(name, end)) < end && start > 0 && name[start - 1] == '_')
        end = start - 1;
    return end;
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* What tells an object from others: 0 is the program. */
static uint64_t object_number(const char *file)
{
    const char *program = pf_job_state.program ? base_name(pf_job_state.program) : "",
               *name = base_name(file);
    size_t length = plain_length(name);
    if (length == strlen(program) && memcmp(name, program, length) == 0)
        return 0;
    uint64_t number = length;
    for (size_t i = 0; i < length; i++)
        number = pf_marks_mix(number ^ (unsigned char)name[i]);
    return number | 1;
}

uint64_t pf_sites_name(struct pf_sites *sites, int rank, const void *address)
{
    struct page *page = &sites->last[rank];
    uintptr_t at = (uintptr_t)address, inside = at & ((1u << PAGE_BITS) - 1);
    struct pf_image_place place;
    if (page->number != at >> PAGE_BITS) {
        *page = (struct page){.number = at >> PAGE_BITS};
        if (pf_loaded_where(address, &place))
            page->name = (object_number(place.file) << OFFSET_BITS) + (place.offset - inside);
    }
    return page->name + inside;
}

static struct site *site_at(struct pf_sites *sites, int rank, const void *address, int fn)
{
    uint64_t name = pf_sites_name(sites, rank, address);
    struct site *site;
    HASH_FIND(hh, sites->all, &name, sizeof name, site);
    if (!site) {
        site = pf_calloc(1, sizeof *site);
        *site = (struct site){.name = name, .fn = fn};
        site->counts = pf_calloc((size_t)sites->ranks, sizeof *site->counts);
        HASH_ADD(hh, sites->all, name, sizeof name, site);
    }
    return site;
}

void pf_sites_count(struct pf_sites *sites, int rank, const void *address, int fn)
{
    struct lately *lately = &sites->lately[rank];
    uintptr_t at = (uintptr_t)address;
    unsigned slot = (unsigned)(at >> 2 ^ at >> 7) % LATELY;
    if (lately->address[slot] != at || !lately->site[slot]) {
        lately->address[slot] = at;
        lately->site[slot] = site_at(sites, rank, address, fn);
    }
    lately->site[slot]->counts[rank]++;
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
