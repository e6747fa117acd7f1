/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <otf2/otf2.h>

/* What the definitions of an archive say that a replay needs. */
struct otf2_group {
    OTF2_GroupRef self;
    OTF2_GroupType type;
    bool locations; /* members are locations, else ranks */
    uint32_t count;
    uint64_t *members;
};

struct otf2_comm {
    OTF2_CommRef self;
    OTF2_GroupRef group;
    int number;   /* in our lines */
    int count;    /* members */
    int *members; /* ranks of the world */
};

struct otf2_region {
    OTF2_RegionRef self;
    OTF2_StringRef name;
    bool mpi;
    const char *text;
};

struct otf2_string {
    OTF2_StringRef self;
    char *text;
};

struct otf2_window {
    OTF2_RmaWinRef self;
    OTF2_CommRef comm;
};

/* A part of a recording of ours that a location holds, in their order. */
struct otf2_property {
    OTF2_LocationRef location;
    OTF2_StringRef name, value;
    const char *text;
};

struct otf2_definitions {
    const char *path;
    OTF2_Reader *reader;
    double ticks;                /* per second */
    OTF2_LocationRef *locations; /* by rank */
    int ranks;
    struct otf2_group *groups;
    struct otf2_comm *comms;
    struct otf2_region *regions;
    struct otf2_string *strings;
    struct otf2_property *properties;
    struct otf2_window *windows;
    OTF2_LocationRef *threads; /* those of processors */
    int group_count, comm_count, region_count, string_count, thread_count, property_count, window_count;
};

/* Opens the archive and reads its definitions. Ends the process with one line on what no replay can do. */
void otf2_definitions_read(struct otf2_definitions *all, const char *path);

/* NULL: there is none. */
const struct otf2_comm *otf2_comm_of(const struct otf2_definitions *all, OTF2_CommRef comm);

/* NULL: there is none. */
const struct otf2_window *otf2_window_of(const struct otf2_definitions *all, OTF2_RmaWinRef win);

/* The members of a group, as ranks of the world, which the caller frees; a count of -1: there is no such
 * group.
 */
int *otf2_group_ranks(const struct otf2_definitions *all, OTF2_GroupRef group, int *count);

/* The name of an MPI function, NULL for any other region. */
const char *otf2_function(const struct otf2_definitions *all, OTF2_RegionRef region);
