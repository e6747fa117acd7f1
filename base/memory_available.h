/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "base/export.h"

/* Bytes of memory that the machine and the container leave, whichever is less; 0: unknown. */
PF_EXPORT double pf_memory_available(void);
