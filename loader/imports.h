/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>

#include "base/export.h"

/*
 * The import table of a library that is loaded: what it calls can be led elsewhere without a change to its
 * code or to anybody else's. docs/stock.md lists every name for which that is done.
 */
#ifdef __cplusplus
extern "C" {
#endif

/* What an import of this name is to lead to, through `value`; false to leave it as the dynamic linker has it.
 * `undefined`: the library does not define the name itself. */
typedef bool pf_imports_find(const char *name, bool undefined, const void *arg, void **value);

/* Asks `find` for each import of the library behind a dlopen handle. The library must be bound already, or
 * bind lazily. Returns how many entries changed. */
PF_EXPORT int pf_imports_replace(void *library, pf_imports_find *find, const void *arg);

/* Leads the library's calls of `name`, its own export or another's, elsewhere; NULL: nowhere. Returns how
 * many entries changed. */
PF_EXPORT int pf_imports_replace_one(void *library, const char *name, void *value);

#ifdef __cplusplus
}
#endif
