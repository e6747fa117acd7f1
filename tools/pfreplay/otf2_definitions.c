/* SPDX-License-Identifier: BSD-3-Clause */
/* Definitions of an OTF2 archive: ranks, communicators, names of regions. */
#include <stdbool.h>
#include <string.h>

#include "base/log.h"
#include "base/memory.h"
#include "lowlevel/trace/sink.h"
#include "tools/pfreplay/otf2.h"

/* One more element at the end. */
#define ADD(array, count)                                                                                    \
    ((array) = pf_reallocarray((array), (size_t)(count) + 1, sizeof *(array)), &(array)[(count)++])

static OTF2_CallbackCode clock_properties(void *data, uint64_t resolution, uint64_t offset, uint64_t length,
                                          uint64_t epoch)
{
    ((struct otf2_definitions *)data)->ticks = (double)resolution;
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode string(void *data, OTF2_StringRef self, const char *text)
{
    struct otf2_definitions *all = data;
    *ADD(all->strings, all->string_count) = (struct otf2_string){self, pf_strdup(text)};
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode location(void *data, OTF2_LocationRef self, OTF2_StringRef name,
                                  OTF2_LocationType type, uint64_t events, OTF2_LocationGroupRef group)
{
    struct otf2_definitions *all = data;
    if (type == OTF2_LOCATION_TYPE_CPU_THREAD)
        *ADD(all->threads, all->thread_count) = self;
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode region(void *data, OTF2_RegionRef self, OTF2_StringRef name,
                                OTF2_StringRef canonical, OTF2_StringRef description, OTF2_RegionRole role,
                                OTF2_Paradigm paradigm, OTF2_RegionFlag flags, OTF2_StringRef file,
                                uint32_t first, uint32_t last)
{
    struct otf2_definitions *all = data;
    *ADD(all->regions, all->region_count) =
        (struct otf2_region){.self = self, .name = name, .mpi = paradigm == OTF2_PARADIGM_MPI};
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode group(void *data, OTF2_GroupRef self, OTF2_StringRef name, OTF2_GroupType type,
                               OTF2_Paradigm paradigm, OTF2_GroupFlag flags, uint32_t count,
                               const uint64_t *members)
{
    struct otf2_definitions *all = data;
    if (paradigm != OTF2_PARADIGM_MPI)
        return OTF2_CALLBACK_SUCCESS;
    struct otf2_group *one = ADD(all->groups, all->group_count);
    *one = (struct otf2_group){.self = self,
                               .type = type,
                               .locations = (flags & OTF2_GROUP_FLAG_GLOBAL_MEMBERS) != 0,
                               .count = count};
    one->members = pf_calloc((size_t)count + 1, sizeof *one->members);
    memcpy(one->members, members, count * sizeof *members);
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode communicator(void *data, OTF2_CommRef self, OTF2_StringRef name, OTF2_GroupRef of,
                                      OTF2_CommRef parent, OTF2_CommFlag flags)
{
    struct otf2_definitions *all = data;
    *ADD(all->comms, all->comm_count) = (struct otf2_comm){.self = self, .group = of};
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode window(void *data, OTF2_RmaWinRef self, OTF2_StringRef name, OTF2_CommRef comm,
                                OTF2_RmaWinFlag flags)
{
    struct otf2_definitions *all = data;
    *ADD(all->windows, all->window_count) = (struct otf2_window){.self = self, .comm = comm};
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode property(void *data, OTF2_LocationRef location, OTF2_StringRef name, OTF2_Type type,
                                  OTF2_AttributeValue value)
{
    struct otf2_definitions *all = data;
    if (type == OTF2_TYPE_STRING)
        *ADD(all->properties, all->property_count) =
            (struct otf2_property){.location = location, .name = name, .value = value.stringRef};
    return OTF2_CALLBACK_SUCCESS;
}

static const char *string_of(const struct otf2_definitions *all, OTF2_StringRef self)
{
    if ((int)self < all->string_count && all->strings[self].self == self)
        return all->strings[self].text;
    for (int i = 0; i < all->string_count; i++)
        if (all->strings[i].self == self)
            return all->strings[i].text;
    return "";
}

const struct otf2_comm *otf2_comm_of(const struct otf2_definitions *all, OTF2_CommRef comm)
{
    for (int i = 0; i < all->comm_count; i++)
        if (all->comms[i].self == comm)
            return &all->comms[i];
    return NULL;
}

const char *otf2_function(const struct otf2_definitions *all, OTF2_RegionRef self)
{
    const struct otf2_region *one =
        (int)self < all->region_count && all->regions[self].self == self ? &all->regions[self] : NULL;
    for (int i = 0; !one && i < all->region_count; i++)
        if (all->regions[i].self == self)
            one = &all->regions[i];
    return one && one->mpi ? one->text : NULL;
}

static const struct otf2_group *group_of(const struct otf2_definitions *all, OTF2_GroupRef self)
{
    for (int i = 0; i < all->group_count; i++)
        if (all->groups[i].self == self)
            return &all->groups[i];
    return NULL;
}

/* The list of MPI's locations is that of the ranks; without one, every thread is. */
static void find_ranks(struct otf2_definitions *all)
{
    const struct otf2_group *list = NULL;
    for (int i = 0; i < all->group_count; i++)
        if (all->groups[i].type == OTF2_GROUP_TYPE_COMM_LOCATIONS)
            list = &all->groups[i];
    all->ranks = list ? (int)list->count : all->thread_count;
    all->locations = list ? list->members : all->threads;
    if (all->ranks == 0)
        pf_die("%s: the archive has no ranks", all->path);
}

static int rank_of(const struct otf2_definitions *all, const struct otf2_group *list, uint32_t member)
{
    uint64_t value = list->members[member];
    for (int rank = 0; list->locations && rank < all->ranks; rank++)
        if (all->locations[rank] == value)
            return rank;
    if (list->locations || value >= (uint64_t)all->ranks)
        pf_die("%s: a communicator has a member that is no rank", all->path);
    return (int)value;
}

const struct otf2_window *otf2_window_of(const struct otf2_definitions *all, OTF2_RmaWinRef win)
{
    for (int i = 0; i < all->window_count; i++)
        if (all->windows[i].self == win)
            return &all->windows[i];
    return NULL;
}

int *otf2_group_ranks(const struct otf2_definitions *all, OTF2_GroupRef self, int *count)
{
    const struct otf2_group *list = group_of(all, self);
    *count = list ? (int)list->count : -1;
    int *ranks = pf_calloc((size_t)(list ? *count : 0) + 1, sizeof *ranks);
    for (int i = 0; i < *count; i++)
        ranks[i] = rank_of(all, list, (uint32_t)i);
    return ranks;
}

/* The world is the first communicator of all ranks in their order. */
static void number_comms(struct otf2_definitions *all)
{
    bool world_known = false;
    for (int i = 0; i < all->comm_count; i++) {
        struct otf2_comm *comm = &all->comms[i];
        const struct otf2_group *list = group_of(all, comm->group);
        comm->number = i + 2;
        if (!list || list->type == OTF2_GROUP_TYPE_COMM_SELF) {
            comm->number = list ? 1 : -1; /* -1: of another kind, such as an intercommunicator */
            comm->count = 1;
            continue;
        }
        comm->count = (int)list->count;
        comm->members = pf_calloc((size_t)comm->count + 1, sizeof *comm->members);
        bool world = comm->count == all->ranks;
        for (int k = 0; k < comm->count; k++) {
            comm->members[k] = rank_of(all, list, (uint32_t)k);
            world = world && comm->members[k] == k;
        }
        if (world && !world_known)
            comm->number = 0;
        world_known = world_known || world;
    }
}

/* Of the properties, those that are our own recording. */
static void keep_recording(struct otf2_definitions *all)
{
    int kept = 0;
    for (int i = 0; i < all->property_count; i++) {
        struct otf2_property one = all->properties[i];
        if (strncmp(string_of(all, one.name), PF_TRACE_OTF2_RECORDING, strlen(PF_TRACE_OTF2_RECORDING)) != 0)
            continue;
        one.text = string_of(all, one.value);
        all->properties[kept++] = one;
    }
    all->property_count = kept;
}

void otf2_definitions_read(struct otf2_definitions *all, const char *path)
{
    uint64_t read = 0;
    memset(all, 0, sizeof *all);
    all->path = path;
    all->reader = OTF2_Reader_Open(path);
    if (!all->reader || OTF2_Reader_SetSerialCollectiveCallbacks(all->reader) != OTF2_SUCCESS)
        pf_die("%s: this is no archive of OTF2, or a part of it is missing", path);
    OTF2_GlobalDefReader *reader = OTF2_Reader_GetGlobalDefReader(all->reader);
    OTF2_GlobalDefReaderCallbacks *callbacks = OTF2_GlobalDefReaderCallbacks_New();
    OTF2_GlobalDefReaderCallbacks_SetClockPropertiesCallback(callbacks, clock_properties);
    OTF2_GlobalDefReaderCallbacks_SetStringCallback(callbacks, string);
    OTF2_GlobalDefReaderCallbacks_SetLocationCallback(callbacks, location);
    OTF2_GlobalDefReaderCallbacks_SetRegionCallback(callbacks, region);
    OTF2_GlobalDefReaderCallbacks_SetGroupCallback(callbacks, group);
    OTF2_GlobalDefReaderCallbacks_SetCommCallback(callbacks, communicator);
    OTF2_GlobalDefReaderCallbacks_SetRmaWinCallback(callbacks, window);
    OTF2_GlobalDefReaderCallbacks_SetLocationPropertyCallback(callbacks, property);
    OTF2_Reader_RegisterGlobalDefCallbacks(all->reader, reader, callbacks, all);
    OTF2_GlobalDefReaderCallbacks_Delete(callbacks);
    if (!reader || OTF2_Reader_ReadAllGlobalDefinitions(all->reader, reader, &read) != OTF2_SUCCESS ||
        all->ticks <= 0)
        pf_die("%s: the definitions of the archive cannot be read", path);
    for (int i = 0; i < all->region_count; i++)
        all->regions[i].text = string_of(all, all->regions[i].name);
    keep_recording(all);
    find_ranks(all);
    number_comms(all);
}
