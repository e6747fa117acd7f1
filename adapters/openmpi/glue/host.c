/* SPDX-License-Identifier: BSD-3-Clause */
/* What the adapter does for this rank's glue: set by glue.c, used by all files here. */
#include "adapters/openmpi/glue/internal.h"

const struct pf_glue_host *pf_glue_host;
