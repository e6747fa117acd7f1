/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PF_MIDDLEWARE_SAMPLING_MARKS_H
#define PF_MIDDLEWARE_SAMPLING_MARKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Marks: points of a run that every rank passes once, in one order. What lies between a mark and the next one
 * is told apart by its *signature*: a sum over the calls that a rank makes there, whatever their order, of a
 * hash of each; and over the ranks, of a hash of that sum and the rank. So it is the same run after run, and
 * the same for two stretches in which the same ranks make the same calls.
 *
 * All ranks share one entry for each mark, which grows with nothing but the number of marks: the latest date,
 * and sums. Nobody knows beforehand which kinds of points all ranks pass equally often, so there are several
 * *sequences* of marks beside each other, one of all kinds and one of each; at the end the best one that
 * holds is taken.
 */
enum pf_mark_at {
    PF_MARK_START, /* MPI_Init; in every sequence */
    PF_MARK_PHASE,
    PF_MARK_PCONTROL,
    PF_MARK_COLLECTIVE, /* of all ranks */
    PF_MARK_SITE,       /* calls from one place of the program */
    PF_MARK_SLICE,      /* ends of slices */
    PF_MARK_END,        /* MPI_Finalize; in every sequence */
    PF_MARK_KINDS
};

struct pf_mark {
    double date;        /* the latest at which a rank passed it, in simulated seconds */
    uint64_t signature; /* of what lies between it and the next one, as are */
    uint64_t calls, bytes;
    unsigned name; /* by pf_marks_name() */
    int passed;    /* ranks so far */
    unsigned char at;
    bool unequal; /* a rank has passed something else here */
};

/* The marks of some kinds. `marks` is the first member's storage, `count` of `room`. */
struct pf_mark_sequence {
    unsigned kinds; /* one bit (1 << enum pf_mark_at) each */
    struct pf_mark *marks;
    unsigned count, room;
};

struct pf_marks;

#define PF_MARK_NONE UINT32_MAX

/* The marks of a run with so many ranks. `kinds`: those that count, one bit each; `alone`: besides the
 * sequence of all of them, one of each, and one that has but start and end. Free with pf_marks_free(). */
struct pf_marks *pf_marks_new(int ranks, unsigned kinds, bool alone);
void pf_marks_free(struct pf_marks *marks);

/* The number of a name, which is copied; and the name of a number. */
unsigned pf_marks_name(struct pf_marks *marks, const char *name);
const char *pf_marks_name_of(const struct pf_marks *marks, unsigned name);

/* Spreads the bits of a number over all of it: the hash of which signatures are made. */
static inline uint64_t pf_marks_mix(uint64_t x)
{
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

/* The power of two from which a number of bytes is no longer far, as a class of sizes; 0 bytes: 0. */
static inline unsigned pf_marks_size_class(uint64_t bytes)
{
    return bytes ? 64 - (unsigned)__builtin_clzll(bytes) : 0;
}

/* The rank makes a call that has this hash and gives so many bytes to send. */
void pf_marks_call(struct pf_marks *marks, int rank, uint64_t hash, uint64_t bytes);

/* The rank passes a point of a kind at a date. Returns its number in the sequence of all kinds, PF_MARK_NONE
 * when that kind does not count. */
unsigned pf_marks_pass(struct pf_marks *marks, int rank, enum pf_mark_at at, unsigned name, double date);

/* Whether all ranks have passed the mark of this number in the sequence of all kinds. */
bool pf_marks_passed(const struct pf_marks *marks, unsigned mark);

/* The run ends here, before its end: the last mark that all ranks have passed is the end of each sequence. */
void pf_marks_stop(struct pf_marks *marks);

/* The sequence of all kinds, if all ranks have passed it equally, or else the longest one of a single kind
 * that they have; the one of start and end alone always holds, if all have come to their ends. NULL when they
 * have not. */
const struct pf_mark_sequence *pf_marks_best(const struct pf_marks *marks);

/* One bit for each kind that not all ranks have passed equally. */
unsigned pf_marks_unequal(const struct pf_marks *marks);

#endif
