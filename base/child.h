/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>

#include "base/export.h"

/*
 * A process that a rank has made with fork() is a copy of the whole simulation, in which the rank is about to
 * run. It is no rank: it must neither simulate the rest of the run a second time, nor remove the files of the
 * first.
 */

/* Called in each child, first. */
PF_EXPORT void pf_child_set_born(void (*born)(void));

/* From now on pf_in_child() answers. `closed` (or NULL) is called in each child. Once. Empties the buffers of
 * stdio before each fork, because all ranks share them and the child would write them again. */
PF_EXPORT void pf_child_watch(void (*closed)(void));

PF_EXPORT bool pf_in_child(void);
