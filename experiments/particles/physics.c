/* SPDX-License-Identifier: BSD-3-Clause */
#include "particles.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Mean free paths are about a cell; in a cycle a particle flies four. */
static const double FLIGHT = 4, SCATTERED = 0.72, TAKEN = 0.20; /* the rest of the collisions is fission */
static const double SIGMA[2] = {0.6, 1.4};

static uint64_t mix(uint64_t x)
{
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

/* In [0, 1). */
static double draw(struct particle *particle)
{
    particle->random += UINT64_C(0x9e3779b97f4a7c15);
    return (double)(mix(particle->random) >> 11) * 0x1p-53;
}

static void aim(struct particle *particle)
{
    double z = 2 * draw(particle) - 1, angle = 2 * 3.14159265358979323846 * draw(particle);
    double flat = sqrt(1 - z * z);

    particle->way[0] = flat * cos(angle);
    particle->way[1] = flat * sin(angle);
    particle->way[2] = z;
}

void list_add(struct list *list, const struct particle *particle)
{
    if (list->count == list->room) {
        list->room = list->room ? 2 * list->room : 256;
        list->p = realloc(list->p, (size_t)list->room * sizeof *list->p);
        if (!list->p) {
            fprintf(stderr, "particles: out of memory\n");
            abort();
        }
    }
    list->p[list->count++] = *particle;
}

void domain_place(struct domain *domain, int side, const int dims[NDIM], int rank)
{
    int below = 1;

    memset(domain, 0, sizeof *domain);
    domain->side = side;
    for (int d = 0; d < NDIM; d++) {
        int mine = rank / below % dims[d];
        domain->first[d] = side * mine / dims[d];
        domain->len[d] = side * (mine + 1) / dims[d] - domain->first[d];
        domain->peer[2 * d] = mine > 0 ? rank - below : -1;
        domain->peer[2 * d + 1] = mine < dims[d] - 1 ? rank + below : -1;
        below *= dims[d];
    }
}

void domain_free(struct domain *domain)
{
    free(domain->flying.p);
    free(domain->census.p);
    for (int face = 0; face < NFACE; face++)
        free(domain->leaving[face].p);
}

/* The particles of a cell are the same at any owner. */
static void fill_cell(struct domain *domain, const int cell[NDIM], int cycle, int per_cell)
{
    uint64_t number = 0;

    for (int d = NDIM - 1; d >= 0; d--)
        number = number * (uint64_t)domain->side + (uint64_t)cell[d];
    for (int i = 0; i < per_cell; i++) {
        struct particle new = {.left = FLIGHT};
        new.random = mix(mix(number + 1) ^ mix((uint64_t)cycle << 32 | (uint64_t)i));
        for (int d = 0; d < NDIM; d++) {
            new.cell[d] = cell[d];
            new.at[d] = cell[d] + draw(&new);
        }
        new.group = (int32_t)(draw(&new) * NBIN);
        aim(&new);
        list_add(&domain->flying, &new);
    }
    domain->count[BORN] += per_cell;
}

void physics_source(struct domain *domain, int cycle, int per_cell)
{
    struct list empty = domain->flying;
    int cell[NDIM];

    memset(domain->count, 0, sizeof domain->count);
    memset(domain->bins, 0, sizeof domain->bins);
    domain->flying = domain->census;
    domain->census = empty;
    domain->census.count = 0;
    domain->count[STARTED] = domain->flying.count;
    for (long i = 0; i < domain->flying.count; i++)
        domain->flying.p[i].left = FLIGHT;
    for (cell[2] = domain->first[2]; cell[2] < domain->first[2] + domain->len[2]; cell[2]++)
        for (cell[1] = domain->first[1]; cell[1] < domain->first[1] + domain->len[1]; cell[1]++)
            for (cell[0] = domain->first[0]; cell[0] < domain->first[0] + domain->len[0]; cell[0]++)
                fill_cell(domain, cell, cycle, per_cell);
}

/* A second particle from the random numbers of the first. */
static void split(struct domain *domain, struct particle *from)
{
    struct particle twin = *from;

    from->random += UINT64_C(0x9e3779b97f4a7c15);
    twin.random = mix(from->random ^ UINT64_C(0x2545f4914f6cdd1d));
    aim(&twin);
    list_add(&domain->flying, &twin);
    domain->count[SPLIT]++;
}

void physics_control(struct domain *domain, int64_t total, int64_t target)
{
    double factor = (double)target / (double)total;
    long kept = 0, count = domain->flying.count;

    for (long i = 0; i < count && factor > 1; i++) {
        struct particle particle = domain->flying.p[i];
        if (draw(&particle) < factor - 1)
            split(domain, &particle);
        domain->flying.p[i] = particle;
    }
    if (factor >= 1)
        return;
    for (long i = 0; i < count; i++) {
        struct particle particle = domain->flying.p[i];
        if (draw(&particle) < factor)
            domain->flying.p[kept++] = particle;
    }
    domain->count[ROULETTE] += count - kept;
    domain->flying.count = kept;
}

/* The face of its cell that the particle reaches first: 2d or 2d + 1. */
static int next_face(const struct particle *particle, double *distance)
{
    int face = 0;

    *distance = INFINITY;
    for (int d = 0; d < NDIM; d++) {
        int high = particle->way[d] > 0;
        double gap = (particle->cell[d] + high - particle->at[d]) / particle->way[d];
        if (particle->way[d] != 0 && gap < *distance) {
            *distance = gap > 0 ? gap : 0;
            face = 2 * d + high;
        }
    }
    return face;
}

static void fly(struct domain *domain, struct particle *particle, double distance)
{
    for (int d = 0; d < NDIM; d++)
        particle->at[d] += distance * particle->way[d];
    particle->left -= distance;
    domain->count[SEGMENTS]++;
    domain->bins[particle->group] += (int64_t)(distance * 0x1p32);
}

/* Returns whether the particle stays in this domain. The border of the cube is a mirror. */
static int cross(struct domain *domain, struct particle *particle, int face)
{
    int d = face / 2, next = particle->cell[d] + (face % 2 ? 1 : -1);

    domain->count[CROSSINGS]++;
    particle->at[d] = particle->cell[d] + face % 2;
    if (next < 0 || next >= domain->side) {
        particle->way[d] = -particle->way[d];
        return 1;
    }
    particle->cell[d] = next;
    if (next >= domain->first[d] && next < domain->first[d] + domain->len[d])
        return 1;
    list_add(&domain->leaving[face], particle);
    return 0;
}

/* Returns whether it goes on. */
static int collide(struct domain *domain, struct particle *particle)
{
    double what = draw(particle);

    domain->count[COLLISIONS]++;
    if (what >= SCATTERED && what < SCATTERED + TAKEN) {
        domain->count[ABSORBED]++;
        return 0;
    }
    aim(particle);
    particle->group = (int32_t)(particle->group * draw(particle));
    if (what >= SCATTERED)
        split(domain, particle);
    return 1;
}

static void track(struct domain *domain, struct particle *particle)
{
    for (;;) {
        const int32_t *cell = particle->cell;
        double sigma = SIGMA[(cell[0] + cell[1] + cell[2]) % 2], distance;
        double collision = -log(1 - draw(particle)) / sigma;
        int face = next_face(particle, &distance);

        if (particle->left <= collision && particle->left <= distance) {
            fly(domain, particle, particle->left);
            domain->count[CENSUS]++;
            list_add(&domain->census, particle);
            return;
        }
        fly(domain, particle, collision < distance ? collision : distance);
        if (collision < distance ? !collide(domain, particle) : !cross(domain, particle, face))
            return;
    }
}

void physics_track(struct domain *domain)
{
    while (domain->flying.count > 0) {
        struct particle particle = domain->flying.p[--domain->flying.count];
        track(domain, &particle);
    }
}

uint64_t physics_hash(const struct domain *domain)
{
    uint64_t sum = 0, word;

    for (long i = 0; i < domain->census.count; i++) {
        const struct particle *particle = &domain->census.p[i];
        uint64_t one = particle->random;
        for (int d = 0; d < NDIM; d++) {
            memcpy(&word, &particle->at[d], sizeof word);
            one = mix(one ^ word) + (uint64_t)particle->cell[d];
        }
        sum += mix(one + (uint64_t)particle->group);
    }
    return sum;
}
