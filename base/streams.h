/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "base/export.h"

/* As fflush(), which waits for ever for a stream that another thread keeps: one that it reads has nothing to
 * be written, and one that is not free within a second is written nevertheless, as exit() does it. */
PF_EXPORT void pf_flush(FILE *stream);
PF_EXPORT void pf_flush_all(void);

/* Whether another thread keeps a stream, for which exit() waits in newer C libraries. */
PF_EXPORT bool pf_streams_kept(void);
