/* SPDX-License-Identifier: BSD-3-Clause */
/* Collectives that move data. Each PE puts what belongs to the others to its place there. */
#include <string.h>

#include "openshmem/active_set.h"

/* Of nothing, the address may be anything. */
static void check_target(struct pf_shmem *me, const void *to, size_t length)
{
    if (length > 0)
        pf_shmem_locate(me, to, length);
}

static void copy(void *to, const void *from, size_t length)
{
    if (length > 0)
        memmove(to, from, length);
}

void pf_shmem_broadcast(struct pf_shmem *me, void *to, const void *from, size_t length, int root,
                        PF_SHMEM_SET)
{
    struct pf_shmem_set set = pf_shmem_set_of(me, set_start, set_log_stride, set_size, sync);
    if (root < 0 || root >= set.size)
        pf_shmem_die(me, "PE_root %d is not in the active set, which has %d PEs", root, set.size);
    if (length > 0)
        pf_shmem_set_broadcast(&set, to, from, length, root);
}

/* The blocks `first`, first + 1, ... of the set, `count` of them round the end, to the same place elsewhere.
 */
static void put_blocks(const struct pf_shmem_set *set, char *to, size_t length, int first, int count, int pe)
{
    int before_end = first + count <= set->size ? count : set->size - first;
    pf_shmem_put_nbi(set->me, SHMEM_CTX_DEFAULT, to + (size_t)first * length, to + (size_t)first * length,
                     (size_t)before_end * length, pe);
    pf_shmem_put_nbi(set->me, SHMEM_CTX_DEFAULT, to, to, (size_t)(count - before_end) * length, pe);
}

/* In round k the PE has the 2^k blocks from its own on, and gives them to the one 2^k before it. */
void pf_shmem_fcollect(struct pf_shmem *me, void *to, const void *from, size_t length, PF_SHMEM_SET)
{
    struct pf_shmem_set set = pf_shmem_set_of(me, set_start, set_log_stride, set_size, sync);
    check_target(me, to, (size_t)set.size * length);
    copy((char *)to + (size_t)set.index * length, from, length);
    for (int round = 0, have = 1; have < set.size; round++, have *= 2) {
        int count = have < set.size - have ? have : set.size - have;
        put_blocks(&set, to, length, set.index, count, pf_shmem_set_pe(&set, set.index + set.size - have));
        pf_shmem_fence(me, SHMEM_CTX_DEFAULT);
        pf_shmem_set_signal(&set, round, set.index + set.size - have);
        pf_shmem_set_take(&set, round, set.index + have);
    }
    pf_shmem_quiet(me, SHMEM_CTX_DEFAULT);
}

/* The sum of a value of all PEs before the caller goes along the set; the last one knows the whole. */
static size_t offset_in(const struct pf_shmem_set *set, size_t length)
{
    long before = 0;
    if (set->index > 0) {
        pf_shmem_set_take(set, PF_SHMEM_READY, set->index - 1);
        before = set->sync[PF_SHMEM_VALUE];
        set->sync[PF_SHMEM_VALUE] = SHMEM_SYNC_VALUE;
    }
    if (set->index + 1 < set->size) {
        long next = before + (long)length;
        pf_shmem_put(set->me, SHMEM_CTX_DEFAULT, &set->sync[PF_SHMEM_VALUE], &next, sizeof next,
                     pf_shmem_set_pe(set, set->index + 1));
        pf_shmem_set_signal(set, PF_SHMEM_READY, set->index + 1);
    }
    return (size_t)before;
}

/* Each PE learns where its block stands from the one before it, and puts it to all. */
void pf_shmem_collect(struct pf_shmem *me, void *to, const void *from, size_t length, PF_SHMEM_SET)
{
    struct pf_shmem_set set = pf_shmem_set_of(me, set_start, set_log_stride, set_size, sync);
    char *place = (char *)to + offset_in(&set, length);
    check_target(me, place, length);
    copy(place, from, length);
    for (int i = 1; i < set.size; i++)
        pf_shmem_put_nbi(me, SHMEM_CTX_DEFAULT, place, from, length, pf_shmem_set_pe(&set, set.index + i));
    pf_shmem_quiet(me, SHMEM_CTX_DEFAULT);
    pf_shmem_set_sync(&set);
}

void pf_shmem_alltoall(struct pf_shmem *me, void *to, const void *from, size_t length, PF_SHMEM_SET)
{
    struct pf_shmem_set set = pf_shmem_set_of(me, set_start, set_log_stride, set_size, sync);
    char *place = (char *)to + (size_t)set.index * length;
    check_target(me, to, (size_t)set.size * length);
    copy(place, (const char *)from + (size_t)set.index * length, length);
    for (int i = 1; i < set.size; i++) {
        int other = (set.index + i) % set.size;
        pf_shmem_put_nbi(me, SHMEM_CTX_DEFAULT, place, (const char *)from + (size_t)other * length, length,
                         pf_shmem_set_pe(&set, other));
    }
    pf_shmem_quiet(me, SHMEM_CTX_DEFAULT);
    pf_shmem_set_sync(&set);
}

void pf_shmem_alltoalls(struct pf_shmem *me, void *to, const void *from, ptrdiff_t to_stride,
                        ptrdiff_t from_stride, size_t count, size_t size, PF_SHMEM_SET)
{
    struct pf_shmem_set set = pf_shmem_set_of(me, set_start, set_log_stride, set_size, sync);
    ptrdiff_t block = (ptrdiff_t)(count * size);
    char *place = (char *)to + set.index * block * to_stride;
    for (int i = 0; i < set.size; i++) {
        int other = (set.index + i) % set.size;
        pf_shmem_iput(me, SHMEM_CTX_DEFAULT, place, (const char *)from + other * block * from_stride,
                      to_stride, from_stride, count, size, pf_shmem_set_pe(&set, other));
    }
    pf_shmem_quiet(me, SHMEM_CTX_DEFAULT);
    pf_shmem_set_sync(&set);
}
