/* SPDX-License-Identifier: BSD-3-Clause */
/* Which algorithm Open MPI takes where the user has not chosen one. */
#include "adapters/analytic/coll/rules.h"

/*
 * Which algorithm Open MPI 4.1 takes: the thresholds of coll/tuned's fixed decisions, as facts. Numbers are
 * indices into the lists of build.c, one below those of Open MPI.
 */
const struct pf_rule pf_allreduce_ordered_rules[] = {
    {4, {{131072, 2}, {0, 0}}},
    {8, {{0, 2}}},
    {16, {{1048576, 2}, {0, 1}}},
    {128, {{0, 2}}},
    {256, {{131072, 1}, {524288, 2}, {0, 1}}},
    {512, {{4096, 1}, {524288, 2}, {0, 1}}},
    {0, {{2048, 1}, {0, 2}}},
};

const struct pf_rule pf_allreduce_rules[] = {
    {4, {{8, 3}, {4096, 2}, {8192, 3}, {16384, 2}, {65536, 3}, {262144, 4}, {0, 5}}},
    {8, {{16, 3}, {8192, 2}, {0, 5}}},
    {16, {{8192, 2}, {0, 5}}},
    {32, {{64, 4}, {4096, 2}, {0, 5}}},
    {64, {{128, 4}, {0, 5}}},
    {128, {{262144, 2}, {0, 5}}},
    {256, {{131072, 1}, {262144, 2}, {0, 5}}},
    {512, {{4096, 1}, {0, 5}}},
    {2048, {{2048, 1}, {16384, 2}, {0, 5}}},
    {4096, {{2048, 1}, {4096, 4}, {16384, 2}, {0, 5}}},
    {0, {{2048, 1}, {16384, 4}, {32768, 2}, {0, 5}}},
};

const struct pf_rule pf_reduce_ordered_rules[] = {
    {4, {{8, 5}, {0, 0}}},
    {8, {{0, 0}}},
    {16, {{1024, 5}, {8192, 0}, {16384, 5}, {262144, 0}, {0, 5}}},
    {128, {{0, 5}}},
    {256, {{512, 5}, {1024, 0}, {0, 5}}},
    {0, {{0, 5}}},
};

const struct pf_rule pf_reduce_rules[] = {
    {4, {{8, 6}, {16, 3}, {32, 2}, {262144, 0}, {524288, 2}, {1048576, 1}, {0, 2}}},
    {8, {{4096, 3}, {65536, 1}, {262144, 4}, {524288, 0}, {1048576, 4}, {0, 0}}},
    {16, {{8192, 3}, {0, 4}}},
    {32, {{4096, 3}, {0, 4}}},
    {256, {{0, 4}}},
    {512, {{8192, 4}, {16384, 5}, {0, 4}}},
    {2048, {{0, 4}}},
    {4096, {{512, 4}, {1024, 5}, {8192, 4}, {16384, 5}, {0, 4}}},
    {0, {{16, 4}, {32, 5}, {1024, 4}, {2048, 5}, {8192, 4}, {16384, 5}, {0, 4}}},
};

const struct pf_rule pf_reduce_scatter_rules[] = {
    {4, {{65536, 2}, {131072, 3}, {0, 2}}},
    {8, {{8, 0}, {262144, 1}, {0, 2}}},
    {32, {{262144, 1}, {0, 2}}},
    {64, {{64, 0}, {2048, 1}, {524288, 3}, {0, 2}}},
    {128, {{256, 0}, {512, 1}, {2048, 3}, {4096, 1}, {0, 3}}},
    {256, {{256, 0}, {512, 1}, {0, 3}}},
    {512, {{256, 0}, {1024, 1}, {0, 3}}},
    {1024, {{512, 0}, {2048, 1}, {8192, 3}, {16384, 1}, {0, 3}}},
    {2048, {{512, 0}, {4096, 1}, {16384, 3}, {32768, 1}, {0, 3}}},
    {4096, {{512, 0}, {4096, 1}, {0, 3}}},
    {0, {{1024, 0}, {8192, 1}, {0, 3}}},
};

const struct pf_rule pf_reduce_scatter_block_rules[] = {
    {4, {{4, 1}, {8, 3}, {16, 2}, {128, 3}, {256, 2}, {4096, 3}, {8192, 2}, {131072, 3}, {0, 0}}},
    {8, {{8, 2}, {32, 1}, {256, 3}, {8192, 2}, {16384, 3}, {1048576, 2}, {0, 0}}},
    {16, {{4, 0}, {32, 2}, {128, 3}, {524288, 2}, {4194304, 0}, {0, 3}}},
    {32, {{32, 0}, {524288, 2}, {2097152, 0}, {4194304, 2}, {0, 3}}},
    {0, {{4, 2}, {16, 0}, {65536, 3}, {262144, 0}, {0, 3}}},
};

const struct pf_rule pf_alltoall_rules[] = {
    {3,
     {{2, 1}, {4, 4}, {16, 1}, {64, 4}, {256, 1}, {4096, 4}, {32768, 1}, {262144, 3}, {1048576, 4}, {0, 1}}},
    {8, {{8192, 3}, {16384, 0}, {65536, 3}, {524288, 0}, {1048576, 1}, {0, 0}}},
    {16, {{262144, 3}, {0, 0}}},
    {32, {{4, 3}, {512, 2}, {8192, 3}, {32768, 0}, {262144, 3}, {524288, 0}, {0, 3}}},
    {64, {{512, 2}, {524288, 0}, {0, 3}}},
    {128, {{1024, 2}, {2048, 0}, {4096, 3}, {262144, 0}, {0, 1}}},
    {256, {{1024, 2}, {2048, 3}, {262144, 0}, {0, 1}}},
    {512, {{1024, 2}, {8192, 3}, {32768, 0}, {0, 1}}},
    {1024, {{512, 2}, {8192, 3}, {16384, 0}, {131072, 3}, {262144, 0}, {0, 1}}},
    {2048, {{512, 2}, {1024, 3}, {2048, 0}, {16384, 3}, {262144, 0}, {0, 3}}},
    {4096, {{1024, 2}, {4096, 3}, {8192, 0}, {131072, 3}, {0, 0}}},
    {0, {{2048, 2}, {8192, 3}, {16384, 0}, {32768, 3}, {65536, 0}, {0, 3}}},
};

const struct pf_rule pf_alltoallv_rules[] = {
    {4, {{0, 1}}}, {64, {{0, 0}}}, {128, {{0, 1}}}, {256, {{0, 0}}}, {1024, {{0, 1}}}, {0, {{0, 0}}},
};

const struct pf_rule pf_barrier_rules[] = {
    {4, {{0, 2}}},   {8, {{0, 0}}},    {64, {{0, 2}}},   {256, {{0, 3}}},
    {512, {{0, 5}}}, {1024, {{0, 3}}}, {4096, {{0, 5}}}, {0, {{0, 3}}},
};

const struct pf_rule pf_bcast_rules[] = {
    {4,
     {{32, 2},
      {256, 4},
      {512, 2},
      {1024, 6},
      {32768, 0},
      {131072, 4},
      {262144, 1},
      {524288, 0},
      {1048576, 5},
      {0, 4}}},
    {8, {{64, 4}, {128, 5}, {2048, 4}, {8192, 5}, {1048576, 0}, {0, 1}}},
    {16, {{8, 6}, {64, 4}, {4096, 6}, {16384, 4}, {32768, 5}, {0, 0}}},
    {32, {{4096, 6}, {1048576, 5}, {0, 7}}},
    {64, {{2048, 5}, {0, 6}}},
    {128, {{0, 6}}},
    {256, {{2, 5}, {16384, 4}, {32768, 0}, {65536, 4}, {0, 6}}},
    {1024, {{16384, 6}, {32768, 3}, {0, 6}}},
    {2048, {{524288, 6}, {0, 7}}},
    {4096, {{262144, 6}, {0, 7}}},
    {0, {{8192, 6}, {16384, 4}, {262144, 6}, {0, 7}}},
};

const struct pf_rule pf_allgather_rules[] = {
    {3, {{0, 5}}},
    {32, {{0, 2}}},
    {64, {{1024, 2}, {65536, 4}, {0, 3}}},
    {128, {{512, 2}, {65536, 4}, {0, 3}}},
    {256, {{512, 2}, {131072, 4}, {524288, 3}, {1048576, 4}, {0, 3}}},
    {512, {{32, 2}, {128, 1}, {1024, 2}, {131072, 4}, {524288, 3}, {1048576, 4}, {0, 3}}},
    {1024, {{64, 2}, {256, 1}, {2048, 2}, {0, 4}}},
    {2048, {{4, 2}, {8, 1}, {16, 2}, {32, 1}, {256, 2}, {512, 1}, {4096, 2}, {0, 4}}},
    {4096, {{32, 1}, {128, 2}, {512, 1}, {4096, 2}, {0, 4}}},
    {0, {{2, 2}, {8, 1}, {16, 2}, {512, 1}, {4096, 2}, {0, 4}}},
};

const struct pf_rule pf_allgatherv_rules[] = {
    {3, {{2048, 2}, {4096, 4}, {8192, 2}, {0, 4}}},
    {8, {{256, 0}, {4096, 3}, {8192, 2}, {16384, 3}, {262144, 1}, {0, 3}}},
    {16, {{1024, 0}, {0, 1}}},
    {32, {{128, 0}, {262144, 1}, {0, 2}}},
    {64, {{256, 0}, {8192, 1}, {0, 2}}},
    {128, {{256, 0}, {4096, 1}, {0, 2}}},
    {256, {{1024, 1}, {65536, 3}, {0, 2}}},
    {512, {{1024, 1}, {0, 2}}},
    {1024, {{512, 1}, {1024, 0}, {4096, 1}, {1048576, 3}, {0, 2}}},
    {0, {{4096, 1}, {0, 3}}},
};

const struct pf_rule pf_gather_rules[] = {
    {4, {{2, 2}, {4, 0}, {32768, 1}, {65536, 0}, {131072, 1}, {0, 2}}},
    {8, {{1024, 1}, {8192, 0}, {32768, 1}, {262144, 0}, {0, 2}}},
    {256, {{0, 1}}},
    {512, {{2048, 1}, {8192, 0}, {0, 1}}},
    {0, {{0, 1}}},
};

const struct pf_rule pf_scatter_rules[] = {
    {4, {{2, 2}, {131072, 0}, {262144, 2}, {0, 0}}},
    {8, {{2048, 1}, {4096, 0}, {8192, 1}, {32768, 0}, {1048576, 2}, {0, 0}}},
    {16, {{16384, 1}, {1048576, 2}, {0, 0}}},
    {32, {{16384, 1}, {32768, 0}, {0, 2}}},
    {64, {{512, 1}, {8192, 2}, {16384, 1}, {0, 2}}},
    {0, {{512, 1}, {0, 2}}},
};

/* One algorithm for everything. */
const struct pf_rule pf_first_rules[] = {
    {0, {{0, 0}}},
};

static size_t measured(const struct pf_coll_call *call)
{
    size_t total = 0;
    if (call->kind != PF_COLL_ALLGATHERV && call->kind != PF_COLL_REDUCE_SCATTER)
        return call->bytes;
    for (int r = 0; r < call->n; r++)
        total += call->counts[r];
    return call->kind == PF_COLL_ALLGATHERV ? total / (size_t)call->n : total;
}

int pf_rules_choose(const struct pf_coll_call *call)
{
    const struct pf_kind *kind = &pf_kinds[call->kind];
    if (call->nonblocking)
        return kind->nonblocking(call);
    const struct pf_rule *rule = kind->ordered && !call->commutative ? kind->ordered : kind->rules;
    while (rule->n && call->n >= rule->n)
        rule++;
    size_t bytes = measured(call);
    int i = 0;
    while (rule->by_size[i].below && bytes >= rule->by_size[i].below)
        i++;
    return rule->by_size[i].algorithm;
}

static bool small(const struct pf_coll_call *call)
{
    return call->bytes < 65536;
}

static size_t elements(const struct pf_coll_call *call)
{
    return call->bytes / (call->element ? call->element : 1);
}

/* libnbc's choices. */
int pf_nonblocking_first(const struct pf_coll_call *call)
{
    (void)call;
    return 0;
}

int pf_nonblocking_barrier(const struct pf_coll_call *call)
{
    (void)call;
    return 3;
}

int pf_nonblocking_bcast(const struct pf_coll_call *call)
{
    return call->n <= 4 ? 0 : 5;
}

int pf_nonblocking_scatter(const struct pf_coll_call *call)
{
    return call->kind == PF_COLL_SCATTER ? 2 : 1;
}

int pf_nonblocking_allgather(const struct pf_coll_call *call)
{
    return call->kind == PF_COLL_ALLGATHER ? 6 : 5;
}

int pf_nonblocking_reduce(const struct pf_coll_call *call)
{
    if (call->commutative && call->n > 2 && elements(call) >= (size_t)1 << pf_log2((unsigned)call->n))
        return 6;
    return call->n > 4 || small(call) || !call->commutative ? 4 : 1;
}

int pf_nonblocking_allreduce(const struct pf_coll_call *call)
{
    return call->n < 4 || small(call) || !call->commutative ? 6 : 5;
}

int pf_nonblocking_reduce_scatter(const struct pf_coll_call *call)
{
    (void)call;
    return 4;
}
