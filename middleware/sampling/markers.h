/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Markers: points of a run that every rank passes once, in one order. What lies between a marker and the next
 * one has a *signature*: a sum over the calls that a rank makes there, in any order, of a hash of each; and
 * over the ranks, of a hash of that sum and the rank. Two stretches in which the same ranks make the same
 * calls have the same signature, in each run.
 *
 * All ranks share one entry for each marker, so that the memory grows with the number of markers alone: the
 * latest date, and sums. Which kinds of points all ranks pass equally often is known at the end. Therefore
 * several *sequences* of markers are recorded, one of all kinds and one of each kind; the best one that is
 * the same for all ranks is taken.
 */
enum pf_marker_at {
    PF_MARKER_START, /* MPI_Init; in every sequence */
    PF_MARKER_PHASE,
    PF_MARKER_PCONTROL,
    PF_MARKER_COLLECTIVE, /* of all ranks */
    PF_MARKER_SITE,       /* calls from one call site */
    PF_MARKER_END,        /* MPI_Finalize; in every sequence */
    PF_MARKER_KINDS
};

struct pf_marker {
    double date;        /* the latest at which a rank passed it, in simulated seconds */
    uint64_t signature; /* of what lies between it and the next one, as are */
    uint64_t calls, bytes;
    const char *name; /* the same address for the same text */
    int passed;       /* ranks so far */
    unsigned char at;
    bool unequal; /* a rank has passed something else here */
};

/* The markers of some kinds. `markers` is the first member's storage, `count` of `room`. */
struct pf_marker_sequence {
    unsigned kinds; /* one bit (1 << enum pf_marker_at) each */
    struct pf_marker *markers;
    unsigned count, room;
};

struct pf_markers;

#define PF_MARKER_NONE UINT32_MAX

/* The markers of a run with so many ranks. `kinds`: those that count, one bit each; `alone`: besides the
 * sequence of all of them, one of each, and one that has but start and end. Free with pf_markers_free(). */
struct pf_markers *pf_markers_new(int ranks, unsigned kinds, bool alone);
void pf_markers_free(struct pf_markers *markers);

/* Spreads the bits of a number over all of it: the hash of which signatures are made. */
static inline uint64_t pf_markers_mix(uint64_t x)
{
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

/* The class of a size: the least power of two above it, as an exponent; 0 bytes: 0. */
static inline unsigned pf_markers_size_class(uint64_t bytes)
{
    return bytes ? 64 - (unsigned)__builtin_clzll(bytes) : 0;
}

/* The rank makes a call that has this hash and gives so many bytes to send. */
void pf_markers_call(struct pf_markers *markers, int rank, uint64_t hash, uint64_t bytes);

/* The rank passes a point of a kind, with a name that is copied, at a date. Returns its number in the
 * sequence of all kinds, PF_MARKER_NONE when that kind does not count. */
unsigned pf_markers_pass(struct pf_markers *markers, int rank, enum pf_marker_at at, const char *name,
                         double date);

/* Whether all ranks have passed the marker of this number in the sequence of all kinds. */
bool pf_markers_passed(const struct pf_markers *markers, unsigned marker);

/* The run ends here, before its end: the last marker that all ranks have passed is the end of each sequence.
 */
void pf_markers_stop(struct pf_markers *markers);

/* The sequence of all kinds, if all ranks have passed it equally, or else the longest one of a single kind
 * that they have; the one of start and end alone always holds, if all have come to their ends. NULL when they
 * have not. */
const struct pf_marker_sequence *pf_markers_best(const struct pf_markers *markers);

/* One bit for each kind that not all ranks have passed equally. */
unsigned pf_markers_unequal(const struct pf_markers *markers);
