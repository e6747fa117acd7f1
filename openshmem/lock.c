/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Locks: a queue of PEs, so that a waiting PE is parked and is woken by the one before. The lower half of the
 * lock at its home, PE 0, is the last PE of the queue (its number + 1, 0: free). The upper half, at each PE,
 * is the PE behind it (number + 1), and WAITS while it is not its turn.
 */
#include "openshmem/internal.h"

#define WAITS 0x40000000

struct halves {
    int last;
    int next;
};

enum { HOME = 0 };

static struct halves *halves_of(struct pf_shmem *me, long *lock)
{
    pf_shmem_locate(me, lock, sizeof *lock);
    return (struct halves *)lock;
}

static int compare(struct pf_shmem *me, int *at, int condition, int value)
{
    int result;
    pf_shmem_atomic_compare(me, SHMEM_CTX_DEFAULT, PTL_INT32_T, at, &condition, &value, &result, HOME);
    return result;
}

static void add(struct pf_shmem *me, int *at, int value, int pe)
{
    pf_shmem_atomic(me, SHMEM_CTX_DEFAULT, PTL_INT32_T, PTL_SUM, at, &value, pe);
}

static bool is_my_turn(const void *at, int comparison, const void *value)
{
    return !(*(const volatile int *)at & WAITS);
}

static bool has_next(const void *at, int comparison, const void *value)
{
    return *(const volatile int *)at != 0;
}

void pf_shmem_set_lock(struct pf_shmem *me, long *lock)
{
    struct halves *own = halves_of(me, lock);
    int mine = me->rank + 1, before;
    own->next = WAITS;
    pf_shmem_atomic_swap(me, SHMEM_CTX_DEFAULT, PTL_INT32_T, &own->last, &mine, &before, HOME);
    if (before == mine)
        pf_shmem_die(me, "the PE has the lock already, and would wait for itself");
    if (before == 0) {
        own->next = own->next & ~WAITS;
        return;
    }
    add(me, &own->next, mine, before - 1);
    me->waits_for = before - 1;
    pf_shmem_await(me, &own->next, sizeof own->next, is_my_turn, 0, NULL);
    me->waits_for = -1;
}

int pf_shmem_test_lock(struct pf_shmem *me, long *lock)
{
    struct halves *own = halves_of(me, lock); /* `next` is 0 unless the PE has the lock itself */
    return compare(me, &own->last, 0, me->rank + 1) != 0;
}

/* What was done under the lock is complete before the next PE has it. */
void pf_shmem_clear_lock(struct pf_shmem *me, long *lock)
{
    struct halves *own = halves_of(me, lock);
    pf_shmem_quiet(me, SHMEM_CTX_DEFAULT);
    if (own->next == 0 && compare(me, &own->last, me->rank + 1, 0) == me->rank + 1)
        return;
    pf_shmem_await(me, &own->next, sizeof own->next, has_next, 0, NULL);
    add(me, &own->next, -WAITS, own->next - 1);
    own->next = 0;
}
