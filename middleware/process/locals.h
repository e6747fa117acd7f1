/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>

#include "loader/image.h"

/*
 * Thread-local variables of an executable that pfcc has not built. Its code finds them right below the thread
 * pointer, where any program's are: there pfrun has room of its own (PF_LOCALS_ROOM bytes), which holds the
 * variables of the rank that runs. The others' are kept aside.
 */
enum { PF_LOCALS_ROOM = 16384, PF_LOCALS_ALIGNMENT = 64 };

/* Gives the calling rank its variables, as they begin. Ends the process with one line where that cannot be:
 * in another program than pfrun, or with another SimGrid. */
void pf_locals_begin(const struct pf_image_locals *locals);

/* Whether a rank has some: its threads would not, and none may be started. */
bool pf_locals_any(void);
