/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PF_TEST_FAKE_ENGINE_H
#define PF_TEST_FAKE_ENGINE_H

#include "lowlevel/engine/engine.h"

/* Runs the next event; false when there is none. */
bool fake_engine_step(void);
/* Runs all events up to a date and moves the clock there. */
void fake_engine_run_at(double date);

#endif
