/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "lowlevel/engine/engine.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Events by date, at one date by order. All zeros at the beginning. */
__extension__ typedef unsigned __int128 pf_heap_key;
struct pf_heap {
    pf_heap_key *keys; /* by leaf; free leaves are later than everything */
    struct pf_event **events;
    uint32_t *winners; /* node i is above 2i and 2i + 1; leaf l is node leaves + l */
    uint32_t *unused;  /* leaves, the next one to use last */
    uint32_t leaves;   /* a power of two */
    uint32_t size;
    struct pf_event *first; /* stands aside: earlier than all leaves; or NULL */
    pf_heap_key first_key;
};

/* The earliest event, NULL when there is none. */
struct pf_event *pf_heap_first(const struct pf_heap *heap);
size_t pf_heap_size(const struct pf_heap *heap);
void pf_heap_insert(struct pf_heap *heap, struct pf_event *event);
void pf_heap_remove(struct pf_heap *heap, struct pf_event *event);
/* Puts an event in the place of one that is not later. */
void pf_heap_replace(struct pf_heap *heap, struct pf_event *event, struct pf_event *successor);

/* What the scheduler and the binding to SimGrid share. */
double pf_engine_next_date(double clock);
double pf_engine_run_ahead(double clock, double limit);
void pf_engine_run_until(double clock);
double pf_engine_until_alarm(double clock);

/* Binding to SimGrid (engine_simgrid.cpp). */
void pf_engine_bind(void);
size_t pf_engine_live_actors(void);
void pf_waiter_block(struct pf_waiter *waiter);
void pf_waiter_release(struct pf_waiter *waiter);
/* Without one, SimGrid's internal way is used, at half the price. */
bool pf_waiter_needs_semaphore(void);

#ifdef __cplusplus
}
#endif
