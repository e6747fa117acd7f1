/* SPDX-License-Identifier: BSD-3-Clause */
/* Groups: MPI 3.1 section 6.3. The middleware answers everything from the list of world ranks. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "middleware/comm/group.h"
#include "middleware/comm/group_algebra.h"
#include "middleware/comm/routing.h"
#include "middleware/core/rank_objects.h"

/* Shared by all ranks: it has no members and no shadow of its own. */
static struct pf_group empty_group = {.object = {.kind = PF_KIND_GROUP, .references = 1},
                                      .me = MPI_UNDEFINED};

struct pf_group *pf_group_of(struct pf_rank *r, MPI_Group handle)
{
    if (handle == MPI_GROUP_EMPTY)
        return &empty_group;
    return (struct pf_group *)pf_object_of(handle, PF_KIND_GROUP);
}

MPI_Group pf_group_new(struct pf_rank *r, const int *world_ranks, int size)
{
    if (size == 0)
        return MPI_GROUP_EMPTY;
    struct pf_group *group = pf_calloc(1, sizeof *group + (size_t)size * sizeof group->world_ranks[0]);
    group->object.kind = PF_KIND_GROUP;
    group->object.references = 1;
    group->object.home = r->active->impl;
    group->owner = r;
    group->size = size;
    memcpy(group->world_ranks, world_ranks, (size_t)size * sizeof *world_ranks);
    group->me = MPI_UNDEFINED;
    for (int i = 0; i < size; i++)
        if (world_ranks[i] == r->self.rank)
            group->me = i;
    r->live_objects++;
    return (MPI_Group)(uintptr_t)group;
}

static void free_shadows(struct pf_group *group)
{
    struct pf_rank *r = group->owner;
    for (int impl = 0; impl < PF_IMPL_COUNT; impl++) {
        struct pf_instance *in = r->instances[impl];
        if (!in || !group->object.native[impl])
            continue;
        int before = pf_middleware_native_begin(r, in);
        in->fn->Group_free(&(pf_native_group_t){group->object.native[impl]});
        pf_middleware_native_end(r, in, before);
    }
}

void pf_group_release(struct pf_group *group)
{
    if (group == &empty_group || --group->object.references > 0)
        return;
    free_shadows(group);
    group->owner->live_objects--;
    group->object.kind = PF_KIND_DEAD;
    pf_object_discard(group);
}

static int *new_list(int n)
{
    int *list = pf_malloc((size_t)(n ? n : 1) * sizeof *list);
    return list;
}

static void *group_shadow(struct pf_instance *in, struct pf_object *object)
{
    struct pf_group *group = (struct pf_group *)object;
    if (group == &empty_group)
        return in->predefined[(uintptr_t)MPI_GROUP_EMPTY];
    pf_native_group_t world = NULL, shadow = NULL;
    int first = group->owner->job->first;
    pf_native_comm_t all = pf_native(in, MPI_COMM_WORLD);
    int before = pf_middleware_native_begin(group->owner, in);
    int code = in->fn->Comm_group(all, &world);
    if (code == 0) {
        int *ranks = first ? new_list(group->size) : group->world_ranks; /* in that communicator */
        for (int i = 0; first && i < group->size; i++)
            ranks[i] = group->world_ranks[i] - first;
        code = in->fn->Group_incl(world, group->size, ranks, &shadow);
        if (first)
            free(ranks);
        in->fn->Group_free(&world);
    }
    pf_middleware_native_end(group->owner, in, before);
    if (code != 0)
        return in->values->group_null;
    group->object.native[in->impl] = shadow;
    return shadow;
}

const struct pf_object_ops pf_group_ops = {.size = sizeof pf_group_ops, .shadow = group_shadow};

int pf_PMPI_Comm_group(MPI_Comm handle, MPI_Group *group)
{
    struct pf_rank *r = PF_ENTER(Comm_group);
    struct pf_comm *comm = pf_comm_of(r, handle);
    if (!comm || !group)
        return pf_call_error(r, handle, comm ? MPI_ERR_ARG : MPI_ERR_COMM);
    *group = pf_group_new(r, comm->shared->world_ranks, comm->shared->size);
    return pf_call_return(r, MPI_SUCCESS);
}

int pf_PMPI_Group_size(MPI_Group handle, int *size)
{
    struct pf_rank *r = PF_ENTER(Group_size);
    struct pf_group *group = pf_group_of(r, handle);
    if (!group || !size)
        return pf_call_error(r, MPI_COMM_WORLD, group ? MPI_ERR_ARG : MPI_ERR_GROUP);
    *size = group->size;
    return pf_call_return(r, MPI_SUCCESS);
}

int pf_PMPI_Group_rank(MPI_Group handle, int *rank)
{
    struct pf_rank *r = PF_ENTER(Group_rank);
    struct pf_group *group = pf_group_of(r, handle);
    if (!group || !rank)
        return pf_call_error(r, MPI_COMM_WORLD, group ? MPI_ERR_ARG : MPI_ERR_GROUP);
    *rank = group->me;
    return pf_call_return(r, MPI_SUCCESS);
}

int pf_PMPI_Group_translate_ranks(MPI_Group group1, int n, const int ranks1[], MPI_Group group2, int ranks2[])
{
    struct pf_rank *r = PF_ENTER(Group_translate_ranks);
    struct pf_group *from = pf_group_of(r, group1), *to = pf_group_of(r, group2);
    if (!from || !to)
        return pf_call_error(r, MPI_COMM_WORLD, MPI_ERR_GROUP);
    if (n < 0 || (n > 0 && (!ranks1 || !ranks2)))
        return pf_call_error(r, MPI_COMM_WORLD, MPI_ERR_ARG);
    int done =
        pf_ranks_translate(from->world_ranks, from->size, ranks1, n, to->world_ranks, to->size, ranks2);
    return done < 0 ? pf_call_error(r, MPI_COMM_WORLD, -done) : pf_call_return(r, MPI_SUCCESS);
}

int pf_PMPI_Group_compare(MPI_Group group1, MPI_Group group2, int *result)
{
    struct pf_rank *r = PF_ENTER(Group_compare);
    struct pf_group *a = pf_group_of(r, group1), *b = pf_group_of(r, group2);
    if (!a || !b)
        return pf_call_error(r, MPI_COMM_WORLD, MPI_ERR_GROUP);
    if (!result)
        return pf_call_error(r, MPI_COMM_WORLD, MPI_ERR_ARG);
    *result = pf_ranks_compare(a->world_ranks, a->size, b->world_ranks, b->size);
    return pf_call_return(r, MPI_SUCCESS);
}

/* Makes the group of a result list, frees the list and ends the call. */
static int finish(struct pf_rank *r, int *list, int count, MPI_Group *newgroup)
{
    if (count >= 0)
        *newgroup = pf_group_new(r, list, count);
    free(list);
    return count < 0 ? pf_call_error(r, MPI_COMM_WORLD, -count) : pf_call_return(r, MPI_SUCCESS);
}

typedef int set_operation(const int *a, int na, const int *b, int nb, int *out);

static int combine(struct pf_rank *r, MPI_Group group1, MPI_Group group2, MPI_Group *newgroup,
                   set_operation *operation)
{
    struct pf_group *a = pf_group_of(r, group1), *b = pf_group_of(r, group2);
    if (!a || !b)
        return pf_call_error(r, MPI_COMM_WORLD, MPI_ERR_GROUP);
    if (!newgroup)
        return pf_call_error(r, MPI_COMM_WORLD, MPI_ERR_ARG);
    int *list = new_list(a->size + b->size);
    int count = operation(a->world_ranks, a->size, b->world_ranks, b->size, list);
    return finish(r, list, count, newgroup);
}

int pf_PMPI_Group_union(MPI_Group group1, MPI_Group group2, MPI_Group *newgroup)
{
    return combine(PF_ENTER(Group_union), group1, group2, newgroup, pf_ranks_union);
}

int pf_PMPI_Group_intersection(MPI_Group group1, MPI_Group group2, MPI_Group *newgroup)
{
    return combine(PF_ENTER(Group_intersection), group1, group2, newgroup, pf_ranks_intersection);
}

int pf_PMPI_Group_difference(MPI_Group group1, MPI_Group group2, MPI_Group *newgroup)
{
    return combine(PF_ENTER(Group_difference), group1, group2, newgroup, pf_ranks_difference);
}

static int select_ranks(struct pf_rank *r, MPI_Group handle, int n, const int *ranks, MPI_Group *newgroup,
                        set_operation *operation)
{
    struct pf_group *group = pf_group_of(r, handle);
    if (!group)
        return pf_call_error(r, MPI_COMM_WORLD, MPI_ERR_GROUP);
    if (!newgroup || n < 0 || (n > 0 && !ranks))
        return pf_call_error(r, MPI_COMM_WORLD, MPI_ERR_ARG);
    if (n > group->size)
        return pf_call_error(r, MPI_COMM_WORLD, MPI_ERR_RANK);
    int *list = new_list(group->size);
    int count = operation(group->world_ranks, group->size, ranks, n, list);
    return finish(r, list, count, newgroup);
}

int pf_PMPI_Group_incl(MPI_Group group, int n, const int ranks[], MPI_Group *newgroup)
{
    return select_ranks(PF_ENTER(Group_incl), group, n, ranks, newgroup, pf_ranks_include);
}

int pf_PMPI_Group_excl(MPI_Group group, int n, const int ranks[], MPI_Group *newgroup)
{
    return select_ranks(PF_ENTER(Group_excl), group, n, ranks, newgroup, pf_ranks_exclude);
}

static int select_ranges(struct pf_rank *r, MPI_Group handle, int n, int ranges[][3], MPI_Group *newgroup,
                         set_operation *operation)
{
    struct pf_group *group = pf_group_of(r, handle);
    if (!group)
        return pf_call_error(r, MPI_COMM_WORLD, MPI_ERR_GROUP);
    if (!newgroup || n < 0 || (n > 0 && !ranges))
        return pf_call_error(r, MPI_COMM_WORLD, MPI_ERR_ARG);
    int *chosen = new_list(group->size);
    int *list = new_list(group->size);
    int count = pf_ranks_expand(ranges, n, group->size, chosen);
    if (count >= 0)
        count = operation(group->world_ranks, group->size, chosen, count, list);
    free(chosen);
    return finish(r, list, count, newgroup);
}

int pf_PMPI_Group_range_incl(MPI_Group group, int n, int ranges[][3], MPI_Group *newgroup)
{
    return select_ranges(PF_ENTER(Group_range_incl), group, n, ranges, newgroup, pf_ranks_include);
}

int pf_PMPI_Group_range_excl(MPI_Group group, int n, int ranges[][3], MPI_Group *newgroup)
{
    return select_ranges(PF_ENTER(Group_range_excl), group, n, ranges, newgroup, pf_ranks_exclude);
}

int pf_PMPI_Group_free(MPI_Group *handle)
{
    struct pf_rank *r = PF_ENTER(Group_free);
    struct pf_group *group = handle ? pf_group_of(r, *handle) : NULL;
    if (!group)
        return pf_call_error(r, MPI_COMM_WORLD, MPI_ERR_GROUP);
    pf_group_release(group);
    *handle = MPI_GROUP_NULL;
    return pf_call_return(r, MPI_SUCCESS);
}
