/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads the levels of a host's memory. */
#include "lowlevel/nic/levels.h"

#include <stdlib.h>
#include <string.h>

#include "base/config.h"
#include "base/log.h"
#include "base/memory.h"

static struct pf_nic_level levels[PF_NIC_MOST_LEVELS + 1];
static char *read_text; /* the setting that they were read from */
static int count;

static void refuse(const char *why)
{
    pf_die("%s: '%s': %s, such as 1048576:8e9 or 32768:12e9:200e-9,1048576:8e9",
           pf_config_given("nic_loopback_levels"), pf_config.nic_loopback_levels, why);
}

/* FROM:BANDWIDTH[:LATENCY]; where the next one begins. */
static const char *read_level(const char *text, struct pf_nic_level *level)
{
    char *end;
    unsigned long long from = strtoull(text, &end, 10);
    if (*text < '0' || *text > '9' || *end != ':' || from > 1ULL << 40)
        refuse("a level is BYTES:BANDWIDTH or BYTES:BANDWIDTH:LATENCY");
    level->from = (size_t)from;
    level->bandwidth = strtod(end + 1, &end);
    level->latency = *end == ':' ? strtod(end + 1, &end) : pf_config.nic_loopback_latency;
    if (!(level->bandwidth >= 1 && level->bandwidth <= 1e18 && level->latency >= 0 && level->latency <= 10) ||
        (*end && *end != ','))
        refuse("a bandwidth is from 1 to 1e18 B/s, and a latency from 0 to 10 s");
    return *end ? end + 1 : end;
}

static void read_levels(void)
{
    const char *text = pf_config.nic_loopback_levels;
    free(read_text);
    read_text = pf_strdup(text);
    levels[0] = (struct pf_nic_level){0, pf_config.nic_loopback_bw, pf_config.nic_loopback_latency};
    count = 1;
    if (*text && !pf_config.nic_loopback_memory)
        refuse("levels are those of the host's memory, which nic_loopback_memory=yes chooses");
    while (*text) {
        if (count > PF_NIC_MOST_LEVELS)
            refuse("more than 8 levels");
        text = read_level(text, &levels[count]);
        if (levels[count].from <= levels[count - 1].from)
            refuse("each level begins at more bytes than the one before");
        count++;
    }
}

int pf_nic_levels(const struct pf_nic_level **all)
{
    if (!read_text || strcmp(read_text, pf_config.nic_loopback_levels) != 0 ||
        levels[0].bandwidth != pf_config.nic_loopback_bw ||
        levels[0].latency != pf_config.nic_loopback_latency)
        read_levels();
    *all = levels;
    return count;
}

const struct pf_nic_level *pf_nic_level_of(size_t payload)
{
    const struct pf_nic_level *all;
    int at = pf_nic_levels(&all) - 1;
    while (at > 0 && payload < all[at].from)
        at--;
    return &all[at];
}
