/* SPDX-License-Identifier: BSD-3-Clause */
#include "middleware/model.h"

#include <string.h>

#include "base/config.h"

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
    return model == PF_MODEL_SMPI || model == PF_MODEL_PORTALS ? NULL : "not available in this build";
}
