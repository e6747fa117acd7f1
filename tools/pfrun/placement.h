/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "tools/pfrun/hosts.h"

/* On which hosts the ranks of a job of a workload run. */
struct placement {
    const char *where; /* the job stands, for messages */
    const char *name;  /* of the job, once that is known */
    int ranks, per_host;
    enum { PLACE_CONTIGUOUS, PLACE_RANDOM, PLACE_GROUPS, PLACE_FILE } kind;
    bool shuffled; /* groups, by the seed */
    uint64_t seed;
    const char *file;
    struct placement *like; /* the job whose hosts it has, NULL: its own */
    int *hosts;             /* of each rank, by the order of the platform; NULL until they are chosen */
};

/* "contiguous", "random", "random:SEED", "groups" or "groups:SEED"; ends the process with one line where it
 * is none of these. */
void placement_parse(struct placement *place, const char *text);

/* As a hostfile says, which is read when hosts are chosen. */
void placement_of_file(struct placement *place, const char *file);

/* The least number of hosts that it takes from the platform. */
int placement_hosts(const struct placement *place);

/* Chooses the hosts of all jobs, of which no two get the same one unless one of them says so (like).
 * `platform` is its name. Ends the process with one line where that cannot be. */
void placement_choose(struct placement **places, int count, const char *platform);

/* Adds the host of each rank to the list. */
void placement_append(const struct placement *place, struct hosts *hosts);
