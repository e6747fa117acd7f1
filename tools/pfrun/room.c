/* SPDX-License-Identifier: BSD-3-Clause */
/* Room right below the thread pointer, for thread-local variables of a program. */
#include "middleware/process/locals.h"

static __thread char room[PF_LOCALS_ROOM] __attribute__((used, aligned(PF_LOCALS_ALIGNMENT)));
