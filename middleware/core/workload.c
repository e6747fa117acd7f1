/* SPDX-License-Identifier: BSD-3-Clause */
/* The jobs that the launcher has given. */
#include "middleware/core/workload.h"

static const struct pf_workload_job *all;
static int count;
static bool goes_on;

void pf_workload_set(const struct pf_workload_job *jobs, int number, bool others_go_on)
{
    all = jobs;
    count = number;
    goes_on = others_go_on;
}

int pf_workload_count(void)
{
    return count;
}

const struct pf_workload_job *pf_workload_job(int number)
{
    return &all[number];
}

bool pf_workload_goes_on(void)
{
    return goes_on;
}
