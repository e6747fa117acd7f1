/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PF_MIDDLEWARE_MODEL_H
#define PF_MIDDLEWARE_MODEL_H

#include <stdbool.h>
#include <stddef.h>

#include "base/export.h"

/* The rungs of the fidelity ladder, from coarse to fine. The order is part of what users see (tables, masks).
 */
enum pf_model {
    PF_MODEL_NONE = -1,
    PF_MODEL_ANALYTIC,
    PF_MODEL_SMPI,
    PF_MODEL_PORTALS,
    PF_MODEL_PACKET,
    PF_MODEL_COUNT
};

/* The user's name of a model, "none" for PF_MODEL_NONE. */
PF_EXPORT const char *pf_model_name(enum pf_model model);

/* Reads a name of `length` characters. Returns false for a word that names no model. */
PF_EXPORT bool pf_model_parse(const char *name, size_t length, enum pf_model *out);

/* The model name nearest to a misspelt word, or NULL. */
PF_EXPORT const char *pf_model_suggest(const char *word);

/* NULL when this build can load the model, else the reason why it cannot, for a message. */
PF_EXPORT const char *pf_model_missing(enum pf_model model);

/* Can the model be used here and now? Loads nothing. Returns an enum pf_error, and in `why` one line when it
 * is not PF_SUCCESS. */
PF_EXPORT int pf_model_probe(enum pf_model model, char *why, size_t why_size);

#endif
