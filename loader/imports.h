/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>
#include <stdint.h>

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

/* What a library behind a dlopen handle itself defines, and not what it needs: functions, but those that are
 * chosen when it is loaded, and variables of the process; NULL: nothing. `hash` is that of the name, which
 * is the same for all libraries. */
uint32_t pf_imports_hash(const char *name);
void *pf_imports_defined(const void *library, const char *name, uint32_t hash);

#ifdef __cplusplus
}
#endif
