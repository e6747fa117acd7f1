/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "base/export.h"
#include "loader/elf_file.h"

/* Where the dynamic linker would find a library. `out` has room for PATH_MAX bytes, `origin` is the file that
 * names it, whose folder $ORIGIN in the list of folders means. False if it is in none, or the list is NULL.
 */
bool pf_elf_search(char *out, const char *list, const char *origin, const char *name);

/* The same in the system's folders. */
bool pf_elf_search_system(char *out, const char *name);

/* The same for a library that an object needs, also where /usr/local/lib has it. */
bool pf_elf_search_needed(char *out, const struct pf_elf *elf, const char *name);

/* Whether that is true of an object or of a library that it needs, or that one of these needs, and so on.
 * What has been found is kept by the files' names, for one `is`. */
PF_EXPORT bool pf_elf_reaches(const struct pf_elf *elf, bool (*is)(const struct pf_elf *elf));
