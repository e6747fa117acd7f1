/* SPDX-License-Identifier: BSD-3-Clause */
/* Active sets, and what all collectives on them are made of. */
#include "openshmem/active_set.h"

struct pf_shmem_set pf_shmem_set_of(struct pf_shmem *me, PF_SHMEM_SET)
{
    if (set_log_stride < 0 || set_log_stride > 30 || set_size < 1 || set_start < 0 ||
        (long)set_start + ((long)(set_size - 1) << set_log_stride) >= me->size)
        pf_shmem_die(me,
                     "PE_start %d, logPE_stride %d, PE_size %d name PEs that do not exist: the job has %d",
                     set_start, set_log_stride, set_size, me->size);
    int stride = 1 << set_log_stride, distance = me->rank - set_start;
    if (distance < 0 || distance % stride || distance / stride >= set_size)
        pf_shmem_die(me, "the PE is not in its active set: PE_start %d, logPE_stride %d, PE_size %d",
                     set_start, set_log_stride, set_size);
    pf_shmem_locate(me, sync, SHMEM_SYNC_SIZE * sizeof *sync);
    return (struct pf_shmem_set){me, set_start, stride, set_size, distance / stride, sync};
}

struct pf_shmem_set pf_shmem_set_all(struct pf_shmem *me)
{
    return (struct pf_shmem_set){me, 0, 1, me->size, me->rank, me->sync};
}

void pf_shmem_set_signal(const struct pf_shmem_set *set, int element, int index)
{
    pf_shmem_signal(set->me, &set->sync[element], pf_shmem_set_pe(set, index));
}

void pf_shmem_set_take(const struct pf_shmem_set *set, int element, int index)
{
    pf_shmem_take_signal(set->me, &set->sync[element], pf_shmem_set_pe(set, index));
}

void pf_shmem_set_sync(const struct pf_shmem_set *set)
{
    for (int round = 0, distance = 1; distance < set->size; round++, distance *= 2) {
        pf_shmem_set_signal(set, round, set->index + distance);
        pf_shmem_set_take(set, round, set->index + set->size - distance);
    }
}

void pf_shmem_set_broadcast(const struct pf_shmem_set *set, void *to, const void *own, size_t length,
                            int root)
{
    struct pf_shmem *me = set->me;
    int place = (set->index - root + set->size) % set->size, bit = 1; /* the root is at 0 */
    while (bit < set->size && !(place & bit))
        bit *= 2;
    if (place)
        pf_shmem_set_take(set, PF_SHMEM_DATA, set->index + set->size - bit);
    const void *data = place ? to : own;
    /* All children first, the one with the largest subtree before the others; then each gets a signal. */
    for (int child = bit / 2; child > 0; child /= 2)
        if (place + child < set->size)
            pf_shmem_put_nbi(me, SHMEM_CTX_DEFAULT, to, data, length,
                             pf_shmem_set_pe(set, set->index + child));
    pf_shmem_fence(me, SHMEM_CTX_DEFAULT);
    for (int child = bit / 2; child > 0; child /= 2)
        if (place + child < set->size)
            pf_shmem_set_signal(set, PF_SHMEM_DATA, set->index + child);
    pf_shmem_quiet(me, SHMEM_CTX_DEFAULT); /* the source may be changed */
}

void pf_shmem_barrier_all(struct pf_shmem *me)
{
    pf_shmem_quiet(me, SHMEM_CTX_DEFAULT);
    pf_shmem_sync_all(me);
}

void pf_shmem_sync_all(struct pf_shmem *me)
{
    struct pf_shmem_set set = pf_shmem_set_all(me);
    pf_shmem_set_sync(&set);
}

void pf_shmem_barrier(struct pf_shmem *me, PF_SHMEM_SET)
{
    pf_shmem_quiet(me, SHMEM_CTX_DEFAULT);
    pf_shmem_sync(me, set_start, set_log_stride, set_size, sync);
}

void pf_shmem_sync(struct pf_shmem *me, PF_SHMEM_SET)
{
    struct pf_shmem_set set = pf_shmem_set_of(me, set_start, set_log_stride, set_size, sync);
    pf_shmem_set_sync(&set);
}
