/* SPDX-License-Identifier: BSD-3-Clause */
/* The accounting over simulated time, in slices. */
#include "middleware/account/timeline.h"

#include <jansson.h>
#include <stdlib.h>

#include "base/config.h"
#include "base/memory.h"

struct visit {
    int row;
    double begin;
};

struct pf_timeline {
    int rank;
    struct visit *visits;
    int count, room;
    double end;
    double cut; /* where the visits begin that were too many; negative when all are there */
    struct pf_timeline *next;
};

static struct pf_timeline *timelines, **last = &timelines;

struct pf_timeline *pf_timeline_open(int rank)
{
    if (pf_config.timeline <= 0)
        return NULL;
    struct pf_timeline *timeline = pf_calloc(1, sizeof *timeline);
    timeline->rank = rank;
    timeline->cut = -1;
    *last = timeline;
    last = &timeline->next;
    return timeline;
}

static void add(struct pf_timeline *timeline, int row, double now)
{
    if (timeline->count == pf_config.timeline) {
        timeline->cut = now;
        return;
    }
    PF_ARRAY_ROOM(timeline->visits, timeline->room, timeline->count + 1);
    timeline->visits[timeline->count++] = (struct visit){row, now};
}

void pf_timeline_visit(struct pf_timeline *timeline, int row, double now)
{
    if (!timeline || timeline->cut >= 0)
        return;
    if (timeline->count && timeline->visits[timeline->count - 1].begin >= now)
        timeline->count--;
    if (!timeline->count || timeline->visits[timeline->count - 1].row != row)
        add(timeline, row, now);
}

void pf_timeline_end(struct pf_timeline *timeline, double now)
{
    if (timeline)
        timeline->end = now;
}

static json_t *timeline_json(const struct pf_timeline *timeline)
{
    json_t *visits = json_array();
    for (int i = 0; i < timeline->count; i++)
        json_array_append_new(visits,
                              json_pack("[i, f]", timeline->visits[i].row, timeline->visits[i].begin));
    json_t *object =
        json_pack("{s:i, s:f, s:o}", "rank", timeline->rank, "end_s", timeline->end, "visits", visits);
    if (timeline->cut >= 0)
        json_object_set_new(object, "cut_s", json_real(timeline->cut));
    return object;
}

static int by_rank(const void *a, const void *b)
{
    const struct pf_timeline *const *x = a, *const *y = b;
    return ((*x)->rank > (*y)->rank) - ((*x)->rank < (*y)->rank);
}

json_t *pf_timelines_json(void)
{
    size_t count = 0, i = 0;
    for (const struct pf_timeline *timeline = timelines; timeline; timeline = timeline->next)
        count++;
    const struct pf_timeline **sorted = pf_calloc(count + 1, sizeof *sorted);
    for (const struct pf_timeline *timeline = timelines; timeline; timeline = timeline->next)
        sorted[i++] = timeline;
    qsort(sorted, count, sizeof *sorted, by_rank);
    json_t *array = json_array();
    for (i = 0; i < count; i++)
        json_array_append_new(array, timeline_json(sorted[i]));
    free(sorted);
    return array;
}
