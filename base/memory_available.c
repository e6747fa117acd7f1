/* SPDX-License-Identifier: BSD-3-Clause */
/* How much memory is left. */
#include "base/memory_available.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The first number of a file behind `key`, 0 if there is none. */
static double number_in(const char *path, const char *key)
{
    char line[200], *end;
    double number = 0;
    FILE *file = fopen(path, "r");
    if (!file)
        return 0;
    while (number == 0 && fgets(line, sizeof line, file))
        if (strncmp(line, key, strlen(key)) == 0) {
            double value = strtod(line + strlen(key), &end);
            number = end == line + strlen(key) ? 0 : value;
        }
    fclose(file);
    return number;
}

double pf_memory_available(void)
{
    double available = 1024 * number_in("/proc/meminfo", "MemAvailable:");
    double most = number_in("/sys/fs/cgroup/memory.max", "");
    double used = number_in("/sys/fs/cgroup/memory.current", "");
    return most > 0 && most - used < available ? most - used : available;
}
