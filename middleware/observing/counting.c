/* SPDX-License-Identifier: BSD-3-Clause */
/* Counts calls by function and model. */
#include "middleware/observing/counting.h"

#include <jansson.h>
#include <parfocal.h>
#include <stdint.h>
#include <string.h>

#include "base/config.h"
#include "middleware/summary/summary.h"
#include "middleware/observing/start.h"

enum outcome { SUCCEEDED, FAILED, UNSUPPORTED, OUTCOMES };

bool pf_counting_on;

static uint64_t counts[PF_FN_COUNT][PF_MODEL_COUNT][OUTCOMES];

static const char *const names[PF_FN_COUNT] = {
#define X(stem, route, group, smpi) [PF_FN_##stem] = "MPI_" #stem,
    PF_FN_LIST(X)
#undef X
};

enum pf_model pf_counting_model(void)
{
    enum pf_model model;
    const char *name = pf_model_current();
    return pf_model_parse(name, strlen(name), &model) ? model : PF_MODEL_NONE;
}

void pf_counting_add(int fn, enum pf_model model, int code)
{
    int class = MPI_SUCCESS;
    if (model == PF_MODEL_NONE)
        model = pf_counting_model();
    if (model == PF_MODEL_NONE && !pf_model_parse(pf_config.model, strlen(pf_config.model), &model))
        model = PF_MODEL_SMPI;
    if (code != MPI_SUCCESS && pf_PMPI_Error_class(code, &class) != MPI_SUCCESS)
        class = MPI_ERR_UNKNOWN;
    enum outcome outcome = class == MPI_SUCCESS                     ? SUCCEEDED
                           : class == MPI_ERR_UNSUPPORTED_OPERATION ? UNSUPPORTED
                                                                    : FAILED;
    counts[fn][model][outcome]++;
}

/* One function: {"smpi": {"calls": 3, "errors": 0, "unsupported": 0}, ...}, or NULL if it was not called. */
static json_t *function(int fn)
{
    json_t *object = NULL;
    for (int model = 0; model < PF_MODEL_COUNT; model++) {
        const uint64_t *n = counts[fn][model];
        json_int_t failed = (json_int_t)n[FAILED], unsupported = (json_int_t)n[UNSUPPORTED];
        json_int_t calls = (json_int_t)n[SUCCEEDED] + failed + unsupported;
        if (!calls)
            continue;
        if (!object)
            object = json_object();
        json_object_set_new(object, pf_model_name(model),
                            json_pack("{s:I, s:I, s:I}", "calls", calls, "errors", failed + unsupported,
                                      "unsupported", unsupported));
    }
    return object;
}

static json_t *functions(void)
{
    json_t *object = json_object();
    for (int fn = 0; fn < PF_FN_COUNT; fn++) {
        json_t *one = function(fn);
        if (one)
            json_object_set_new(object, names[fn], one);
    }
    return object;
}

void pf_counting_start(void)
{
    pf_counting_on = true;
    pf_summary_add_section("functions", functions);
}
