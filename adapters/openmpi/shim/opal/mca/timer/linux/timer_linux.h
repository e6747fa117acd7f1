/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/* The timer interface that libopen-pal exports; the header with its types is not among the installed ones. */
#include <opal_config.h>
#include <stdint.h>

typedef uint64_t opal_timer_t;

OPAL_DECLSPEC extern opal_timer_t (*opal_timer_base_get_cycles)(void);
OPAL_DECLSPEC extern opal_timer_t (*opal_timer_base_get_usec)(void);
OPAL_DECLSPEC extern opal_timer_t opal_timer_base_get_freq(void);

#define OPAL_TIMER_CYCLE_NATIVE    1
#define OPAL_TIMER_CYCLE_SUPPORTED 1
#define OPAL_TIMER_USEC_NATIVE     1
#define OPAL_TIMER_USEC_SUPPORTED  1
