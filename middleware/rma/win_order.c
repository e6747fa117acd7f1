/* SPDX-License-Identifier: BSD-3-Clause */
/* Locks and atomic calls on windows in the order that MPI promises. */
#include "middleware/rma/win_order.h"

#include <stdlib.h>
#include <string.h>

#include <simgrid/semaphore.h>

#include "middleware/comm/routing.h"
#include "middleware/p2p/wait_set.h"
#include "base/memory.h"

/* A rank that waits, on its own stack; in the order of arrival. */
struct waiter {
    sg_sem_t sem;
    int type; /* of a lock */
    struct waiter *next;
};

/* A lock of one member's memory. */
struct lock {
    int sharers;
    bool exclusive;
    struct waiter *queue;
};

/* Whose turn it is to work atomically on one member's memory. */
struct turn {
    bool taken;
    struct waiter *queue;
};

/* A compare-and-swap has swapped, but SMPI's put may still be under way. */
struct swap {
    struct pf_win *by;
    int target;
    char *place;
    size_t size;
    char value[16]; /* the longest of MPI's types that can be compared */
    struct swap *next;
};

/* What an exclusive epoch writes. After the unlock it is on its way while the next one may begin. */
struct epoch {
    const struct pf_win *by;
    int target;
    bool unlocked;
    struct range {
        char *first, *last;
    } * ranges;
    int count, capacity;
    struct waiter *waiters;
    struct epoch *next;
};

struct pf_win_order {
    struct lock *locks; /* by target */
    struct turn *turns;
    struct swap *swaps;
    struct epoch *epochs;
    int unlocked; /* epochs that are */
};

static struct pf_win_order *order_of(const struct pf_win *win)
{
    struct pf_win_shared *shared = win->shared;
    if (!shared->order) {
        shared->order = pf_calloc(1, sizeof *shared->order);
        shared->order->locks = pf_calloc((size_t)shared->members, sizeof *shared->order->locks);
        shared->order->turns = pf_calloc((size_t)shared->members, sizeof *shared->order->turns);
    }
    return shared->order;
}

static void wait_in(struct waiter **queue, int type)
{
    struct waiter me = {.sem = sg_sem_init(0), .type = type};
    while (*queue)
        queue = &(*queue)->next;
    *queue = &me;
    sg_sem_acquire(me.sem);
    sg_sem_destroy(me.sem);
}

/* The waiter is gone from the queue before it runs. */
static void wake_first(struct waiter **queue)
{
    struct waiter *first = *queue;
    *queue = first->next;
    sg_sem_release(first->sem);
}

static bool meets(const char *first, const char *last, const char *from, const char *to)
{
    return first < to && from < last;
}

/* Waits until no epoch of others that has given back its lock still writes there. */
static void await_epochs(const struct pf_win_access *access)
{
    struct pf_win_order *order = access->win->shared->order;
again:
    for (struct epoch *epoch = order->unlocked ? order->epochs : NULL; epoch; epoch = epoch->next)
        for (int i = 0; epoch->unlocked && epoch->target == access->target && i < epoch->count; i++)
            if (meets(epoch->ranges[i].first, epoch->ranges[i].last, access->first, access->last)) {
                wait_in(&epoch->waiters, 0);
                goto again;
            }
}

/* A swap that has arrived is seen in memory. One that has not is waited for, as its origin would do itself.
 */
static void await_swaps(const struct pf_win_access *access)
{
    struct pf_win_order *order = access->win->shared->order;
    struct swap **link = &order->swaps;
    while (*link) {
        struct swap *swap = *link;
        bool there = swap->target == access->target && memcmp(swap->place, swap->value, swap->size) == 0;
        bool meant = swap->target == access->target &&
                     meets(swap->place, swap->place + swap->size, access->first, access->last);
        if (!there && !meant) {
            link = &swap->next;
            continue;
        }
        *link = swap->next;
        if (!there) {
            struct pf_instance *in = swap->by->in;
            in->fn->Win_flush(swap->target, swap->by->object.native[in->impl]);
            link = &order->swaps; /* others were at work meanwhile */
        }
        free(swap);
    }
}

static struct epoch *my_epoch(const struct pf_win *win, int target)
{
    struct epoch *epoch = win->shared->order->epochs;
    while (epoch && (epoch->by != win || epoch->target != target || epoch->unlocked))
        epoch = epoch->next;
    return epoch;
}

static void note_writing(const struct pf_win_access *access)
{
    struct epoch *epoch = my_epoch(access->win, access->target);
    if (!epoch)
        return;
    PF_ARRAY_ROOM(epoch->ranges, epoch->capacity, epoch->count + 1);
    epoch->ranges[epoch->count++] = (struct range){access->first, access->last};
}

/* Items of a derived type may lie anywhere. */
static void find_place(struct pf_win_access *access, MPI_Aint disp, int count, MPI_Datatype datatype)
{
    const struct pf_win_part *part = &access->win->shared->parts[access->target];
    if (!pf_is_predefined(datatype)) {
        access->first = NULL;
        access->last = (char *)UINTPTR_MAX;
        return;
    }
    access->first = access->win->flavor == MPI_WIN_FLAVOR_DYNAMIC ? (char *)(intptr_t)disp
                                                                  : part->base + disp * part->disp_unit;
    access->last = access->first + (size_t)count * (size_t)pf_datatype_size(datatype);
}

void pf_win_access_begin(struct pf_win_access *access, struct pf_win *win, int target, MPI_Aint disp,
                         int count, MPI_Datatype datatype, enum pf_win_access_kind kind)
{
    access->win = NULL;
    if (!win->in->values->rma_unordered || target < 0 || target >= win->shared->members || count < 0)
        return;
    if (kind != PF_WIN_ATOMIC && !win->shared->order)
        return;
    access->win = win;
    access->target = target;
    access->kind = kind;
    struct pf_win_order *order = order_of(win);
    find_place(access, disp, count, datatype);
    if (kind == PF_WIN_ATOMIC) {
        struct turn *turn = &order->turns[target];
        if (turn->taken)
            wait_in(&turn->queue, 0);
        turn->taken = true;
        await_swaps(access);
    }
    await_epochs(access);
    if (kind == PF_WIN_WRITES)
        note_writing(access);
}

void pf_win_access_end(struct pf_win_access *access)
{
    if (!access->win || access->kind != PF_WIN_ATOMIC)
        return;
    struct turn *turn = &access->win->shared->order->turns[access->target];
    if (turn->queue)
        wake_first(&turn->queue); /* it has the turn now */
    else
        turn->taken = false;
}

void pf_win_access_swapped(struct pf_win_access *access, const void *origin, const void *compare,
                           const void *result)
{
    size_t size = access->win ? (size_t)(access->last - access->first) : 0;
    if (size > 0 && size <= sizeof((struct swap *)0)->value && memcmp(result, compare, size) == 0) {
        struct pf_win_order *order = access->win->shared->order;
        struct swap *swap = pf_malloc(sizeof *swap);
        *swap = (struct swap){.by = access->win,
                              .target = access->target,
                              .place = access->first,
                              .size = size,
                              .next = order->swaps};
        memcpy(swap->value, origin, size);
        order->swaps = swap;
        note_writing(access);
    }
    pf_win_access_end(access);
}

/* Shared locks that follow each other at the head of the queue are granted together. */
static void grant(struct lock *lock)
{
    while (lock->queue && !lock->exclusive) {
        if (lock->queue->type == MPI_LOCK_EXCLUSIVE) {
            if (lock->sharers > 0)
                return;
            lock->exclusive = true;
        } else {
            lock->sharers++;
        }
        wake_first(&lock->queue);
    }
}

void pf_win_order_lock(struct pf_win *win, int type, int target)
{
    struct pf_win_order *order = order_of(win);
    struct lock *lock = &order->locks[target];
    bool exclusive = type == MPI_LOCK_EXCLUSIVE;
    if (lock->exclusive || lock->queue || (exclusive && lock->sharers > 0)) {
        wait_in(&lock->queue, type);
    } else {
        lock->exclusive = exclusive;
        lock->sharers += !exclusive;
    }
    if (!exclusive)
        return;
    struct epoch *epoch = pf_calloc(1, sizeof *epoch);
    epoch->by = win;
    epoch->target = target;
    epoch->next = order->epochs;
    order->epochs = epoch;
}

/* SMPI gives an exclusive lock to the next one before it waits for what the epoch has sent, and so it is
 * here: the next one waits only when it touches that. */
void pf_win_order_unlock(struct pf_win *win, int target)
{
    struct pf_win_order *order = order_of(win);
    struct lock *lock = &order->locks[target];
    struct epoch *epoch = my_epoch(win, target);
    if (epoch) {
        epoch->unlocked = true;
        order->unlocked++;
        lock->exclusive = false;
    } else if (lock->sharers > 0) {
        lock->sharers--;
    }
    grant(lock);
}

void pf_win_order_unlocked(struct pf_win *win, int target)
{
    struct pf_win_order *order = order_of(win);
    struct epoch **link = &order->epochs;
    while (*link && ((*link)->by != win || (*link)->target != target || !(*link)->unlocked))
        link = &(*link)->next;
    struct epoch *epoch = *link;
    if (!epoch)
        return;
    *link = epoch->next;
    order->unlocked--;
    epoch->unlocked = false;
    while (epoch->waiters)
        wake_first(&epoch->waiters);
    free(epoch->ranges);
    free(epoch);
}

void pf_win_order_get(struct pf_win *win, struct pf_request *request, int target)
{
    if (!win->in->values->rma_unordered || request->native == win->in->values->request_null)
        return;
    request->peer = target;
    request->next_get = win->gets;
    request->get_link = &win->gets;
    if (win->gets)
        win->gets->get_link = &request->next_get;
    win->gets = request;
}

void pf_win_order_await_gets(struct pf_win *win, int target)
{
    struct pf_request *next;
    for (struct pf_request *request = win->gets; request; request = next) {
        next = request->next_get;
        if (target >= 0 && request->peer != target)
            continue;
        pf_request_forget_get(request);
        if (!request->done)
            pf_request_finish(request);
    }
}

void pf_win_order_forget(struct pf_win *win, const void *base, MPI_Aint size)
{
    struct pf_win_order *order = win->shared->order;
    const char *first = base;
    for (struct swap **link = order ? &order->swaps : NULL; link && *link;) {
        struct swap *swap = *link;
        if (meets(swap->place, swap->place + swap->size, first, first + size)) {
            *link = swap->next;
            free(swap);
        } else {
            link = &swap->next;
        }
    }
}

void pf_win_order_free(struct pf_win_order *order)
{
    if (!order)
        return;
    while (order->swaps) {
        struct swap *gone = order->swaps;
        order->swaps = gone->next;
        free(gone);
    }
    while (order->epochs) {
        struct epoch *gone = order->epochs;
        order->epochs = gone->next;
        free(gone->ranges);
        free(gone);
    }
    free(order->locks);
    free(order->turns);
    free(order);
}
