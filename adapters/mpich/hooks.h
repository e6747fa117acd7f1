/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "loader/imports.h"

/* Where the imports of MPICH lead, for struct pf_image_plan. */
bool pf_mpich_hooks_find(const char *name, bool undefined, const void *arg, void **value);
