/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "base/export.h"

/*
 * The calls of a library to a function of its own that go past its import table, as linkers make them with
 * -Bsymbolic-functions: they are led elsewhere in its code.
 */
#ifdef __cplusplus
extern "C" {
#endif

/* Leads the calls of the library behind a dlopen handle to its function at `function` to `value`; that
 * function itself stays as it is. Returns how many calls changed: 0 also where there is no memory near enough
 * for a jump. */
PF_EXPORT int pf_calls_replace(void *library, const void *function, const void *value);

#ifdef __cplusplus
}
#endif
