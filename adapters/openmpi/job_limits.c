/* SPDX-License-Identifier: BSD-3-Clause */
/* Whether the system has room for so many instances: open files, memory maps, disk. */
#include "adapters/openmpi/job_limits.h"

#include <stdio.h>
#include <sys/resource.h>

enum {
    FILES_PER_RANK = 3, /* libevent's: epoll, the two ends of a pipe */
    FILES_SPARE = 64,
    MAPS_SPARE = 2048
};

static bool check_files(int ranks, char *why, size_t n)
{
    struct rlimit limit;
    rlim_t need = (rlim_t)ranks * FILES_PER_RANK + FILES_SPARE;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= need)
        return true;
    if (limit.rlim_max >= need) {
        limit.rlim_cur = limit.rlim_max;
        if (setrlimit(RLIMIT_NOFILE, &limit) == 0)
            return true;
    }
    snprintf(why, n,
             "%d ranks in Open MPI need %lu open files, the limit is %lu: raise it (ulimit -Hn %lu, or "
             "/etc/security/limits.conf)",
             ranks, (unsigned long)need, (unsigned long)limit.rlim_max, (unsigned long)need);
    return false;
}

static size_t count_own_maps(void)
{
    size_t lines = 0;
    FILE *file = fopen("/proc/self/maps", "r");
    for (int c; file && (c = getc(file)) != EOF;)
        lines += c == '\n';
    if (file)
        fclose(file);
    return lines;
}

static bool check_maps(int ranks, size_t maps, char *why, size_t n)
{
    unsigned long limit = 0;
    FILE *file = fopen("/proc/sys/vm/max_map_count", "r");
    bool known = file && fscanf(file, "%lu", &limit) == 1;
    if (file)
        fclose(file);
    size_t need = maps * (size_t)ranks + count_own_maps() + MAPS_SPARE;
    if (!known || limit >= need)
        return true;
    snprintf(why, n,
             "%d ranks in Open MPI need about %zu memory maps, the kernel allows %lu: run "
             "'sysctl -w vm.max_map_count=%zu' as root, or use fewer ranks",
             ranks, need, limit, 2 * need);
    return false;
}

bool pf_limits_check(int ranks, size_t maps, char *why, size_t n)
{
    return check_files(ranks, why, n) && check_maps(ranks, maps, why, n);
}
