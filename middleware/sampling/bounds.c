/* SPDX-License-Identifier: BSD-3-Clause */
/* Follows the slices of another run by counting calls. */
#include "middleware/sampling/bounds.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/config.h"
#include "base/log.h"
#include "base/memory.h"

struct bound {
    uint64_t calls;
    double date;
    bool passed; /* by some rank */
};

struct pf_bounds {
    struct bound *bounds;
    unsigned count, reached;
    uint64_t calls, next; /* so far; at which the next one is reached */
    unsigned *passed;     /* by each rank */
};

static void append(struct pf_bounds *all, const char *path, const char *text)
{
    uint64_t calls, before = all->count ? all->bounds[all->count - 1].calls : 0;
    char rest;
    if (sscanf(text, "%" SCNu64 " %c", &calls, &rest) != 1 || calls <= before)
        pf_die("%s: %s: line %u: numbers of calls are wanted, one in a line, which grow",
               pf_config_given("marks_at"), path, all->count + 1);
    all->bounds = pf_reallocarray(all->bounds, all->count + 1, sizeof *all->bounds);
    all->bounds[all->count++] = (struct bound){.calls = calls};
}

static void set_next(struct pf_bounds *all)
{
    all->next = all->reached < all->count ? all->bounds[all->reached].calls : UINT64_MAX;
}

struct pf_bounds *pf_bounds_read(const char *path, int ranks)
{
    struct pf_bounds *all = pf_calloc(1, sizeof *all);
    FILE *file = fopen(path, "re");
    char *text = NULL;
    size_t room = 0;
    if (!file)
        pf_die("%s: cannot read '%s': %s", pf_config_given("marks_at"), path, strerror(errno));
    while (getline(&text, &room, file) > 0)
        append(all, path, text);
    free(text);
    fclose(file);
    all->passed = pf_calloc((size_t)ranks, sizeof *all->passed);
    set_next(all);
    return all;
}

void pf_bounds_free(struct pf_bounds *all)
{
    if (!all)
        return;
    free(all->bounds);
    free(all->passed);
    free(all);
}

static void reach(struct pf_bounds *all, double date)
{
    all->bounds[all->reached++].date = date;
    set_next(all);
}

void pf_bounds_call(struct pf_bounds *all, double date)
{
    if (++all->calls == all->next)
        reach(all, date);
}

bool pf_bounds_next(struct pf_bounds *all, int rank, double *date, bool *first)
{
    if (all->passed[rank] == all->reached)
        return false;
    struct bound *bound = &all->bounds[all->passed[rank]++];
    *date = bound->date;
    *first = !bound->passed;
    bound->passed = true;
    return true;
}

void pf_bounds_end(struct pf_bounds *all, double date)
{
    while (all->reached < all->count)
        reach(all, date);
}

uint64_t pf_bounds_calls(const struct pf_bounds *all)
{
    return all->calls;
}
