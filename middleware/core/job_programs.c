/* SPDX-License-Identifier: BSD-3-Clause */
/* Which program a rank runs, and which program a file belongs to. */
#include "middleware/core/job_programs.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static const struct pf_job_program *all;
static int count;

void pf_job_programs_set(const struct pf_job_program *programs, int number)
{
    all = programs;
    count = number;
}

int pf_job_program_count(void)
{
    return count;
}

const struct pf_job_program *pf_job_program(int number)
{
    return &all[number];
}

int pf_job_program_of(int rank)
{
    int number = 0;
    while (number + 1 < count && rank >= all[number].ranks)
        rank -= all[number++].ranks;
    return number;
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

int pf_job_program_at(const char *file)
{
    for (int i = 0; i < count; i++)
        if (strcmp(file, all[i].path) == 0)
            return i;
    const char *rank = strrchr(file, '_');
    int number = count && rank ? pf_job_program_of(atoi(rank + 1)) : 0;
    size_t length = count ? strlen(base_name(all[number].path)) : 0;
    bool is = rank && count && strncmp(base_name(file), base_name(all[number].path), length) == 0 &&
              base_name(file)[length] == '_';
    return is ? number : -1;
}
