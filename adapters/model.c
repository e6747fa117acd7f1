/* SPDX-License-Identifier: BSD-3-Clause */
/* The models at run time: their names, which are loaded, which share an implementation. */
#include "adapters/model.h"

#include <stdio.h>
#include <string.h>

#include "adapters/adapter.h"
#include "base/config.h"
#include "base/error.h"

/* Weak, so that what only wants names and parsing does not bring in the MPI implementations. */
const struct pf_adapter *pf_adapter_get(enum pf_impl impl) __attribute__((weak));

/* What a model is called, and from PF_MODEL_COUNT on what else. */
static const char *const names[2 * PF_MODEL_COUNT] = {
#define PF_MODEL(id, name, pair, implementation, network, colour, text)                                      \
    [PF_MODEL_##id] = name, [PF_MODEL_COUNT + PF_MODEL_##id] = pair,
#include "base/models.def"
#undef PF_MODEL
};

static const struct {
    const char *network, *text;
    unsigned int colour;
    enum pf_impl impl;
} rows[PF_MODEL_COUNT] = {
#define PF_MODEL(id, name, pair, implementation, network, colour, text)                                      \
    {network, text, colour, PF_IMPL_##implementation},
#include "base/models.def"
#undef PF_MODEL
};

static bool exists(enum pf_model model)
{
    return model >= 0 && model < PF_MODEL_COUNT;
}

const char *pf_model_name(enum pf_model model)
{
    return exists(model) ? names[model] : model == PF_MODEL_COUNT ? "several models" : "none";
}

unsigned int pf_model_colour(enum pf_model model)
{
    return rows[model].colour;
}

const char *pf_model_text(enum pf_model model)
{
    return rows[model].text;
}

const char *pf_model_list(void)
{
    static const char list[] =
#define PF_MODEL(id, name, pair, implementation, network, colour, text) ", " name
#include "base/models.def"
#undef PF_MODEL
        ;
    return list + 2;
}

int pf_model_impl(enum pf_model model)
{
    return exists(model) ? (int)rows[model].impl : -1;
}

const char *pf_model_network(enum pf_model model)
{
    static const char external[] = "external";
    if (strcmp(rows[model].network, "flow") != 0)
        return rows[model].network;
    return strncmp(pf_config.net_model, external, sizeof external - 1) == 0 ? external : pf_config.net_model;
}

bool pf_model_has_network(enum pf_model model)
{
    return *rows[model].network;
}

bool pf_model_parse(const char *name, size_t length, enum pf_model *out)
{
    for (int i = 0; i < 2 * PF_MODEL_COUNT; i++) {
        if (strlen(names[i]) == length && memcmp(names[i], name, length) == 0) {
            *out = (enum pf_model)(i % PF_MODEL_COUNT);
            return true;
        }
    }
    return false;
}

const char *pf_model_suggest(const char *word)
{
    return pf_nearest_word(word, names, 2 * PF_MODEL_COUNT);
}

const char *pf_model_missing(enum pf_model model)
{
    bool has_address = *pf_config.net_external || strchr(pf_config.net_model, ':');
    if (strcmp(pf_model_network(model), "external") == 0 && !has_address)
        return "without a network: PARFOCAL_NET_EXTERNAL says where its simulator is "
               "(docs/external-network.md)";
    return NULL;
}

int pf_model_probe(enum pf_model model, char *why, size_t why_size)
{
    const char *missing = pf_model_missing(model);
    const struct pf_adapter *adapter = !missing && pf_adapter_get ? pf_adapter_get(rows[model].impl) : NULL;
    if (adapter)
        return adapter->ops->probe(why, why_size);
    snprintf(why, why_size, "%s", missing ? missing : "its adapter is not part of this build");
    return PF_ERR_UNSUPPORTED;
}
