/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "lowlevel/engine/engine.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The earliest pending event, NULL when there is none. */
struct pf_event *pf_heap_first(void);
size_t pf_heap_size(void);
void pf_heap_insert(struct pf_event *event);
void pf_heap_remove(struct pf_event *event);
/* Puts an event in the place of one that is not later. */
void pf_heap_replace(struct pf_event *event, struct pf_event *successor);

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
