/* SPDX-License-Identifier: BSD-3-Clause */
/* Counts the markers of all ranks and combines what lies between them. */
#include "middleware/sampling/markers.h"

#include <stdlib.h>
#include <string.h>

#include <uthash.h>

#include "base/memory.h"

#define EVERYWHERE (1u << PF_MARKER_START | 1u << PF_MARKER_END)
#define MOST       (PF_MARKER_KINDS + 1)

/* Sums over the calls of a rank since the start. */
struct sums {
    uint64_t hash, calls, bytes;
};

/* The position of a rank in a sequence, and its sums at the marker before. */
struct position {
    unsigned next;
    struct sums then;
};

struct name {
    UT_hash_handle hh;
    char text[];
};

struct pf_markers {
    int ranks;
    int count; /* of the sequences; the first one is that of all kinds, the last one that of none */
    struct pf_marker_sequence sequences[MOST];
    struct sums *sums;          /* of each rank */
    struct position *positions; /* of each rank in each sequence */
    struct name *names;
};

struct pf_markers *pf_markers_new(int ranks, unsigned kinds, bool alone)
{
    struct pf_markers *markers = pf_calloc(1, sizeof *markers);
    markers->ranks = ranks;
    markers->sequences[markers->count++].kinds = kinds | EVERYWHERE;
    for (int at = 0; alone && at < PF_MARKER_KINDS; at++)
        if (kinds & ~EVERYWHERE & 1u << at)
            markers->sequences[markers->count++].kinds = 1u << at | EVERYWHERE;
    if (alone)
        markers->sequences[markers->count++].kinds = EVERYWHERE;
    markers->sums = pf_calloc((size_t)ranks, sizeof *markers->sums);
    markers->positions = pf_calloc((size_t)ranks * (size_t)markers->count, sizeof *markers->positions);
    return markers;
}

void pf_markers_free(struct pf_markers *markers)
{
    if (!markers)
        return;
    for (int i = 0; i < markers->count; i++)
        free(markers->sequences[i].markers);
    struct name *name = markers->names;
    HASH_CLEAR(hh, markers->names); /* the table alone */
    while (name) {
        struct name *next = name->hh.next;
        free(name);
        name = next;
    }
    free(markers->sums);
    free(markers->positions);
    free(markers);
}

static const char *intern(struct pf_markers *markers, const char *text)
{
    struct name *name;
    HASH_FIND_STR(markers->names, text, name);
    if (name)
        return name->text;
    size_t length = strlen(text);
    name = pf_calloc(1, sizeof *name + length + 1);
    memcpy(name->text, text, length);
    HASH_ADD_STR(markers->names, text, name);
    return name->text;
}

void pf_markers_call(struct pf_markers *markers, int rank, uint64_t hash, uint64_t bytes)
{
    struct sums *sums = &markers->sums[rank];
    sums->hash += pf_markers_mix(hash);
    sums->calls++;
    sums->bytes += bytes;
}

/* What the rank has done since the marker before belongs to that one. */
static void close_stretch(struct pf_marker *before, const struct sums *now, const struct sums *then, int rank)
{
    uint64_t done = now->hash - then->hash;
    before->signature += pf_markers_mix(done ^ pf_markers_mix((uint64_t)rank + 1));
    before->calls += now->calls - then->calls;
    before->bytes += now->bytes - then->bytes;
}

static struct pf_marker *marker_at(struct pf_marker_sequence *sequence, unsigned i)
{
    PF_ARRAY_ROOM(sequence->markers, sequence->room, i + 1);
    return &sequence->markers[i];
}

static void pass(struct pf_marker_sequence *sequence, struct position *position,
                 const struct pf_marker *passed)
{
    struct pf_marker *marker = marker_at(sequence, position->next);
    if (position->next == sequence->count) {
        *marker = *passed;
        sequence->count++;
    }
    marker->passed++;
    marker->unequal |= marker->at != passed->at || marker->name != passed->name;
    if (passed->date > marker->date)
        marker->date = passed->date;
    position->next++;
}

unsigned pf_markers_pass(struct pf_markers *markers, int rank, enum pf_marker_at at, const char *name,
                         double date)
{
    const struct pf_marker passed = {.date = date, .name = intern(markers, name), .at = (unsigned char)at};
    unsigned number = PF_MARKER_NONE;
    for (int i = 0; i < markers->count; i++) {
        struct pf_marker_sequence *sequence = &markers->sequences[i];
        struct position *position = &markers->positions[(size_t)rank * (size_t)markers->count + (size_t)i];
        if (!(sequence->kinds & 1u << at))
            continue;
        if (i == 0)
            number = position->next;
        if (position->next > 0)
            close_stretch(&sequence->markers[position->next - 1], &markers->sums[rank], &position->then,
                          rank);
        pass(sequence, position, &passed);
        position->then = markers->sums[rank];
    }
    return number;
}

bool pf_markers_passed(const struct pf_markers *markers, unsigned marker)
{
    const struct pf_marker_sequence *all = &markers->sequences[0];
    return marker < all->count && all->markers[marker].passed == markers->ranks;
}

static void stop(struct pf_marker_sequence *sequence, int ranks)
{
    unsigned count = 0;
    while (count < sequence->count && sequence->markers[count].passed == ranks)
        count++;
    if (count == 0)
        return;
    sequence->count = count;
    struct pf_marker *last = &sequence->markers[count - 1];
    last->at = PF_MARKER_END;
    last->signature = last->calls = last->bytes = 0;
}

void pf_markers_stop(struct pf_markers *markers)
{
    for (int i = 0; i < markers->count; i++)
        stop(&markers->sequences[i], markers->ranks);
}

/* All ranks have passed the same markers, the end among them. */
static bool holds(const struct pf_markers *markers, const struct pf_marker_sequence *sequence)
{
    for (unsigned i = 0; i < sequence->count; i++)
        if (sequence->markers[i].unequal || sequence->markers[i].passed != markers->ranks)
            return false;
    return sequence->count > 0 && sequence->markers[sequence->count - 1].at == PF_MARKER_END;
}

const struct pf_marker_sequence *pf_markers_best(const struct pf_markers *markers)
{
    const struct pf_marker_sequence *best = NULL;
    if (holds(markers, &markers->sequences[0]))
        return &markers->sequences[0];
    for (int i = 1; i < markers->count; i++)
        if (holds(markers, &markers->sequences[i]) && (!best || markers->sequences[i].count > best->count))
            best = &markers->sequences[i];
    return best;
}

unsigned pf_markers_unequal(const struct pf_markers *markers)
{
    unsigned unequal = 0;
    for (int i = 0; i < markers->count; i++)
        if (!holds(markers, &markers->sequences[i]) && (i > 0 || markers->count == 1))
            unequal |= markers->sequences[i].kinds;
    return unequal & ~EVERYWHERE;
}
