/* SPDX-License-Identifier: BSD-3-Clause */
/* Counts the marks of all ranks and combines what lies between them. */
#include "middleware/sampling/marks.h"

#include <stdlib.h>
#include <string.h>

#include <uthash.h>

#include "base/memory.h"

#define EVERYWHERE (1u << PF_MARK_START | 1u << PF_MARK_END)
#define MOST       (PF_MARK_KINDS + 1)

/* Sums over the calls of a rank since the start. */
struct sums {
    uint64_t hash, calls, bytes;
};

/* Where a rank is in a sequence, and its sums at the mark before. */
struct place {
    unsigned next;
    struct sums then;
};

struct name {
    char *text;
    unsigned number;
    UT_hash_handle hh;
};

struct pf_marks {
    int ranks;
    int count; /* of the sequences; the first one is that of all kinds, the last one that of none */
    struct pf_mark_sequence sequences[MOST];
    struct sums *sums;    /* of each rank */
    struct place *places; /* of each rank in each sequence */
    struct name *names, **by_number;
    unsigned name_count;
};

struct pf_marks *pf_marks_new(int ranks, unsigned kinds, bool alone)
{
    struct pf_marks *marks = pf_calloc(1, sizeof *marks);
    marks->ranks = ranks;
    marks->sequences[marks->count++].kinds = kinds | EVERYWHERE;
    for (int at = 0; alone && at < PF_MARK_KINDS; at++)
        if (kinds & ~EVERYWHERE & 1u << at)
            marks->sequences[marks->count++].kinds = 1u << at | EVERYWHERE;
    if (alone)
        marks->sequences[marks->count++].kinds = EVERYWHERE;
    marks->sums = pf_calloc((size_t)ranks, sizeof *marks->sums);
    marks->places = pf_calloc((size_t)ranks * (size_t)marks->count, sizeof *marks->places);
    return marks;
}

void pf_marks_free(struct pf_marks *marks)
{
    if (!marks)
        return;
    for (int i = 0; i < marks->count; i++)
        free(marks->sequences[i].marks);
    HASH_CLEAR(hh, marks->names);
    for (unsigned i = 0; i < marks->name_count; i++) {
        free(marks->by_number[i]->text);
        free(marks->by_number[i]);
    }
    free(marks->by_number);
    free(marks->sums);
    free(marks->places);
    free(marks);
}

unsigned pf_marks_name(struct pf_marks *marks, const char *text)
{
    struct name *name;
    HASH_FIND_STR(marks->names, text, name);
    if (name)
        return name->number;
    name = pf_calloc(1, sizeof *name);
    name->text = pf_strdup(text);
    name->number = marks->name_count++;
    marks->by_number = pf_reallocarray(marks->by_number, marks->name_count, sizeof(struct name *));
    marks->by_number[name->number] = name;
    HASH_ADD_KEYPTR(hh, marks->names, name->text, strlen(name->text), name);
    return name->number;
}

const char *pf_marks_name_of(const struct pf_marks *marks, unsigned name)
{
    return marks->by_number[name]->text;
}

void pf_marks_call(struct pf_marks *marks, int rank, uint64_t hash, uint64_t bytes)
{
    struct sums *sums = &marks->sums[rank];
    sums->hash += pf_marks_mix(hash);
    sums->calls++;
    sums->bytes += bytes;
}

/* What the rank has done since the mark before belongs to that one. */
static void close_stretch(struct pf_mark *before, const struct sums *now, const struct sums *then, int rank)
{
    uint64_t done = now->hash - then->hash;
    before->signature += pf_marks_mix(done ^ pf_marks_mix((uint64_t)rank + 1));
    before->calls += now->calls - then->calls;
    before->bytes += now->bytes - then->bytes;
}

static struct pf_mark *mark_at(struct pf_mark_sequence *sequence, unsigned i)
{
    if (i == sequence->room) {
        sequence->room = sequence->room ? 2 * sequence->room : 64;
        sequence->marks = pf_reallocarray(sequence->marks, sequence->room, sizeof *sequence->marks);
    }
    return &sequence->marks[i];
}

static void pass(struct pf_mark_sequence *sequence, struct place *place, const struct pf_mark *passed)
{
    struct pf_mark *mark = mark_at(sequence, place->next);
    if (place->next == sequence->count) {
        *mark = *passed;
        sequence->count++;
    }
    mark->passed++;
    mark->unequal |= mark->at != passed->at || mark->name != passed->name;
    if (passed->date > mark->date)
        mark->date = passed->date;
    place->next++;
}

unsigned pf_marks_pass(struct pf_marks *marks, int rank, enum pf_mark_at at, unsigned name, double date)
{
    const struct pf_mark passed = {.date = date, .name = name, .at = (unsigned char)at};
    unsigned number = PF_MARK_NONE;
    for (int i = 0; i < marks->count; i++) {
        struct pf_mark_sequence *sequence = &marks->sequences[i];
        struct place *place = &marks->places[(size_t)rank * (size_t)marks->count + (size_t)i];
        if (!(sequence->kinds & 1u << at))
            continue;
        if (i == 0)
            number = place->next;
        if (place->next > 0)
            close_stretch(&sequence->marks[place->next - 1], &marks->sums[rank], &place->then, rank);
        pass(sequence, place, &passed);
        place->then = marks->sums[rank];
    }
    return number;
}

bool pf_marks_passed(const struct pf_marks *marks, unsigned mark)
{
    const struct pf_mark_sequence *all = &marks->sequences[0];
    return mark < all->count && all->marks[mark].passed == marks->ranks;
}

static void stop(struct pf_mark_sequence *sequence, int ranks)
{
    unsigned count = 0;
    while (count < sequence->count && sequence->marks[count].passed == ranks)
        count++;
    if (count == 0)
        return;
    sequence->count = count;
    struct pf_mark *last = &sequence->marks[count - 1];
    last->at = PF_MARK_END;
    last->signature = last->calls = last->bytes = 0;
}

void pf_marks_stop(struct pf_marks *marks)
{
    for (int i = 0; i < marks->count; i++)
        stop(&marks->sequences[i], marks->ranks);
}

/* All ranks have passed the same marks, the end among them. */
static bool holds(const struct pf_marks *marks, const struct pf_mark_sequence *sequence)
{
    for (unsigned i = 0; i < sequence->count; i++)
        if (sequence->marks[i].unequal || sequence->marks[i].passed != marks->ranks)
            return false;
    return sequence->count > 0 && sequence->marks[sequence->count - 1].at == PF_MARK_END;
}

const struct pf_mark_sequence *pf_marks_best(const struct pf_marks *marks)
{
    const struct pf_mark_sequence *best = NULL;
    if (holds(marks, &marks->sequences[0]))
        return &marks->sequences[0];
    for (int i = 1; i < marks->count; i++)
        if (holds(marks, &marks->sequences[i]) && (!best || marks->sequences[i].count > best->count))
            best = &marks->sequences[i];
    return best;
}

unsigned pf_marks_unequal(const struct pf_marks *marks)
{
    unsigned unequal = 0;
    for (int i = 0; i < marks->count; i++)
        if (!holds(marks, &marks->sequences[i]) && (i > 0 || marks->count == 1))
            unequal |= marks->sequences[i].kinds;
    return unequal & ~EVERYWHERE;
}
