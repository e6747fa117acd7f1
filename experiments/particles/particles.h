/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PARTICLES_H
#define PARTICLES_H

/*
 * Monte-Carlo transport of particles through a cube of cells, in the manner of LLNL's Quicksilver, with its
 * pattern of communication. physics.c moves particles and knows nothing of MPI beyond the owner of a cell;
 * exchange.c carries them between ranks and finds out when a cycle is over; particles.c runs the cycles.
 */
#include <stdint.h>

enum { NDIM = 3, NFACE = 2 * NDIM, NBIN = 64 };

/* Everything that happens to a particle comes from its own random numbers, so that the physics is the same on
 * any number of ranks, in any order. */
struct particle {
    uint64_t random;
    double at[NDIM]; /* in cells */
    double way[NDIM];
    double left; /* cells to fly until the end of the cycle */
    int32_t cell[NDIM];
    int32_t group; /* of energy */
};

struct list {
    struct particle *p;
    long count, room;
};

enum count { STARTED, BORN, ROULETTE, SPLIT, ABSORBED, CENSUS, COLLISIONS, SEGMENTS, CROSSINGS, NCOUNT };

/* The box of cells of one rank, and what happened in it in this cycle. */
struct domain {
    int side;        /* cells along the whole cube */
    int first[NDIM]; /* own cells: first ... first + len - 1 */
    int len[NDIM];
    int peer[NFACE]; /* rank behind face 2d (low) and 2d + 1 (high), -1 at the border of the cube */
    struct list flying, census, leaving[NFACE];
    int64_t count[NCOUNT];
    int64_t bins[NBIN]; /* track length by energy, in 2^-32 cells: sums of integers know no order */
};

/* physics.c */
void domain_place(struct domain *domain, int side, const int dims[NDIM], int rank);
void domain_free(struct domain *domain);
void list_add(struct list *list, const struct particle *particle);
/* Brings back the particles of the last cycle and adds `per_cell` new ones in each cell. */
void physics_source(struct domain *domain, int cycle, int per_cell);
/* Splits or kills particles so that about `target` of the `total` in all domains go on. */
void physics_control(struct domain *domain, int64_t total, int64_t target);
/* Moves all flying particles until each has ended, or is in leaving[]. */
void physics_track(struct domain *domain);
/* A sum over the particles that does not depend on their order or place in memory. */
uint64_t physics_hash(const struct domain *domain);

/* How the ranks find out that no particle is left. */
enum done { DONE_ALLREDUCE, DONE_IALLREDUCE, DONE_ROUNDS };
/* What becomes of messages: receives posted for a cycle and cancelled at its end, posted for the whole run,
 * or none, and MPI_Iprobe instead. */
enum receives { RECEIVES_CANCEL, RECEIVES_KEEP, RECEIVES_PROBE };

struct traffic {
    int64_t passes, tests, messages;
};

/* exchange.c */
void exchange_begin(const struct domain *domain, enum done done, enum receives receives, int capacity);
/* Tracks and exchanges until no rank has a flying particle; a segment of a track takes `cost` seconds. */
struct traffic exchange_cycle(struct domain *domain, double cost);
void exchange_end(void);

#endif
