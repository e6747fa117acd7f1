/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/export.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Makes SimGrid read a platform, in XML or in C++. False, with one line in `error`: it is none, or one of its
 * hosts or links has a value that cannot be simulated. Where SimGrid does not return at all, the text of
 * pf_simgrid_last_words() and pf_platform_reading() say why. */
PF_EXPORT bool pf_platform_load(const char *file, char *error, size_t error_size);

/* The platform that is being read; NULL when none is. */
PF_EXPORT const char *pf_platform_reading(void);

/*
 * SMPI reads the platform itself, and SimGrid says only of one in XML that it is there. So SMPI is given
 * `name` (which ends in .so), a link to this library, whose function load_platform() reads `file` and then
 * calls `ready`. The process ends with one line when the file is no platform.
 */
PF_EXPORT void pf_platform_stand_in(const char *name, const char *file, void (*ready)(void));

#ifdef __cplusplus
}
#endif
