/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/export.h"

/*
 * The configuration of the process, one field per row of config.def. Readers use the fields directly: a hot
 * path pays one load. It is complete after pf_config_load() and never changes afterwards.
 */
#define PF_CFG_T_BOOL   bool
#define PF_CFG_T_INT    long
#define PF_CFG_T_SIZE   size_t
#define PF_CFG_T_DOUBLE double
#define PF_CFG_T_STR    const char *

/* In the order of the table, by subject and not by size.
 * NOLINTNEXTLINE(clang-analyzer-optin.performance.Padding) */
struct pf_config {
#ifdef __cplusplus
#define private private_libraries /* a word of that language */
#endif
#define PF_CFG(type, field, def, unit, range, help) PF_CFG_T_##type field;
#include "base/config.def"
#undef PF_CFG
#undef private
};

PF_EXPORT extern struct pf_config pf_config;

/*
 * Reads the environment once (later calls return at once). A value that cannot be read or is out of its row's
 * range ends the process with one line that names the variable; a PARFOCAL_ variable that no row knows is
 * reported with the nearest known name.
 */
PF_EXPORT void pf_config_load(void);

/*
 * Sets one entry from text, as if the environment had held it. `given` is how the user named it, such as
 * "-model" or "--cfg=parfocal/model": an unknown name or an impossible value ends the process with one line
 * that begins with it. Meant for launchers, before the simulation starts.
 */
PF_EXPORT void pf_config_give(const char *given, const char *name, const char *value);

/* The same, but an entry that has been given already keeps its value: for what is more than a default and
 * less than the user's word. The value must be possible all the same. */
PF_EXPORT void pf_config_suggest(const char *given, const char *name, const char *value);

/* Whether there is an entry of this name that takes any text, such as the name of a file. */
PF_EXPORT bool pf_config_is_any_text(const char *name);

/* The text of an entry's default; empty when there is no such entry. */
PF_EXPORT const char *pf_config_default(const char *name);

/* The row openmpi_osc; where that is empty, what the Open MPI that Parfocal was built for has. */
PF_EXPORT const char *pf_config_osc(void);
/* The same of the row ucx_osc. */
PF_EXPORT const char *pf_config_ucx_osc(void);

/* How the user named the entry `name` when it was last given; the name itself when it was not. For messages
 * about values that only their reader can judge. */
PF_EXPORT const char *pf_config_given(const char *name);

/* Sets one entry from text. Returns false, and changes nothing, when the name is unknown or the value
 * impossible. */
PF_EXPORT bool pf_config_set(const char *name, const char *value);

/* Prints every entry with its value, default, unit and meaning. */
PF_EXPORT void pf_config_print(FILE *out);

/* Prints the entries whose names begin with `prefix`, "name=value" in a line each, such that
 * pf_config_set() reads exactly these values. */
PF_EXPORT void pf_config_write(FILE *out, const char *prefix);

/* The nearest word to `word` among `n` candidates by edit distance, or NULL when none is near. */
PF_EXPORT const char *pf_nearest_word(const char *word, const char *const *candidates, size_t n);
