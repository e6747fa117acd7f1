/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/export.h"

/* The models, from coarse to fine: the rows of base/models.def. A model is an MPI implementation and, where
 * it has a NIC, a network; the order is part of what users see. */
enum pf_model {
    PF_MODEL_NONE = -1,
#define PF_MODEL(id, name, pair, implementation, network, colour, text) PF_MODEL_##id,
#include "base/models.def"
#undef PF_MODEL
    PF_MODEL_COUNT
};

/* The user's name of a model, "none" for PF_MODEL_NONE, "several models" for PF_MODEL_COUNT. */
PF_EXPORT const char *pf_model_name(enum pf_model model);

/* Its colour in traces and pictures, 0xrrggbb. */
PF_EXPORT unsigned int pf_model_colour(enum pf_model model);

/* One line about it. */
PF_EXPORT const char *pf_model_text(enum pf_model model);

/* All names, from coarse to fine, "a, b, c": for messages. */
PF_EXPORT const char *pf_model_list(void);

/* The MPI implementation that runs a model (enum pf_impl), -1 for no model. */
PF_EXPORT int pf_model_impl(enum pf_model model);

/* The network under its NIC, "" where there is no NIC. */
PF_EXPORT const char *pf_model_network(enum pf_model model);
/* Whether there is one. */
bool pf_model_has_network(enum pf_model model);

/* Reads a name of `length` characters, its own or STACK:NETWORK. Returns false for a word that names no
 * model. */
PF_EXPORT bool pf_model_parse(const char *name, size_t length, enum pf_model *out);

/* The model name nearest to a misspelt word, or NULL. */
PF_EXPORT const char *pf_model_suggest(const char *word);

/* NULL when this build can load the model, else the reason why it cannot, for a message. */
PF_EXPORT const char *pf_model_missing(enum pf_model model);

/* Can the model be used here and now? Loads nothing. Returns an enum pf_error, and in `why` one line when it
 * is not PF_SUCCESS. */
PF_EXPORT int pf_model_probe(enum pf_model model, char *why, size_t why_size);
