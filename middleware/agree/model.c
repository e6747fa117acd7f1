/* SPDX-License-Identifier: BSD-3-Clause */
#include "middleware/agree/model.h"

#include <stdio.h>
#include <string.h>

#include "adapters/adapter.h"
#include "base/config.h"
#include "base/error.h"

/* Weak, so that what only wants names and parsing does not bring in the MPI implementations. */
const struct pf_adapter *pf_adapter_get(enum pf_impl impl) __attribute__((weak));

static const char *const names[PF_MODEL_COUNT] = {"analytic", "smpi", "portals", "packet"};

const char *pf_model_name(enum pf_model model)
{
    return model >= 0 && model < PF_MODEL_COUNT ? names[model] : "none";
}

bool pf_model_parse(const char *name, size_t length, enum pf_model *out)
{
    for (int i = 0; i < PF_MODEL_COUNT; i++) {
        if (strlen(names[i]) == length && memcmp(names[i], name, length) == 0) {
            *out = (enum pf_model)i;
            return true;
        }
    }
    return false;
}

const char *pf_model_suggest(const char *word)
{
    return pf_nearest_word(word, names, PF_MODEL_COUNT);
}

const char *pf_model_missing(enum pf_model model)
{
    return model != PF_MODEL_PACKET ? NULL : "not available in this build";
}

int pf_model_probe(enum pf_model model, char *why, size_t why_size)
{
    const char *missing = pf_model_missing(model);
    enum pf_impl impl = model == PF_MODEL_SMPI       ? PF_IMPL_SMPI
                        : model == PF_MODEL_ANALYTIC ? PF_IMPL_ANALYTIC
                                                     : PF_IMPL_OPENMPI;
    const struct pf_adapter *adapter = !missing && pf_adapter_get ? pf_adapter_get(impl) : NULL;
    if (adapter)
        return adapter->ops->probe(why, why_size);
    snprintf(why, why_size, "%s", missing ? missing : "its adapter is not part of this build");
    return PF_ERR_UNSUPPORTED;
}
