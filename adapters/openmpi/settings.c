/* SPDX-License-Identifier: BSD-3-Clause */
/* The OMPI_MCA_ settings of an instance: those that the adapter needs, then the user's. */
#include "adapters/openmpi/settings.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <uthash.h>

#include "adapters/openmpi/private/private.h"
#include "base/config.h"
#include "base/memory.h"
#include "lowlevel/ucx/settings.h"

static const char prefix[] = "OMPI_MCA_";

/* No choice. */
static const struct {
    const char *name, *value;
} fixed[] = {
#define X(name, value) {name, value},
    PF_OMPI_SETTINGS(X)
#undef X
};

/* Variables by which Open MPI or a plugin would find a launcher that did not launch it. */
static const char *const hidden[] = {"PMIX_",          "PMI_",        "SLURM_", "OMPI_COMM_WORLD_",
                                     "OMPI_UNIVERSE_", "SINGULARITY_"};

static const char *adjustable(const char *name)
{
    static char number[32], size[32], limit[32];
    if (strcmp(name, "mtl_portals4_short_limit") == 0) {
        snprintf(limit, sizeof limit, "%zu", pf_config.openmpi_short_limit);
        return limit;
    }
    if (strcmp(name, "mtl_portals4_short_recv_num") == 0) {
        snprintf(number, sizeof number, "%zu", pf_config.openmpi_short_recv_num);
        return number;
    }
    if (strcmp(name, "mtl_portals4_short_recv_size") == 0) {
        snprintf(size, sizeof size, "%zu", pf_config.openmpi_short_recv_size);
        return size;
    }
    /* A long send, and the fetch of one, keeps three places each: with the component's default of 1,024 two
     * ranks that send each other some hundred wait for ever, and so do those that send each other some
     * thousand short messages, whose events stay queued meanwhile. Memory is taken as it is used. */
    if (strcmp(name, "mtl_portals4_send_event_queue_size") == 0 ||
        strcmp(name, "mtl_portals4_recv_event_queue_size") == 0)
        return "65536";
    return NULL;
}

/*
 * Stock btl/portals4 loses the data of a fragment above the eager limit: it falls into the list entry that
 * keeps only headers. So no fragment may be longer (the component's own default is twice the limit).
 */
static const char *longest_fragment(void)
{
    const char *eager_limit = getenv("OMPI_MCA_btl_portals4_eager_limit");
    return eager_limit ? eager_limit : "32768";
}

/* Those of the code that Open MPI's components over UCX share, each under two names. */
static const char *of_common_ucx(const char *parameter)
{
    static const char *const prefixes[] = {PF_OMPI_UCX_PREFIXES};
    static const struct {
        const char *name, *value;
    } shared[] = {
#define X(name, value) {name, value},
        PF_OMPI_UCX_SETTINGS(X)
#undef X
    };
    for (size_t i = 0; i < sizeof prefixes / sizeof prefixes[0]; i++) {
        size_t length = strlen(prefixes[i]);
        for (size_t k = 0;
             strncmp(parameter, prefixes[i], length) == 0 && k < sizeof shared / sizeof shared[0]; k++)
            if (strcmp(parameter + length, shared[k].name) == 0)
                return shared[k].value;
    }
    return NULL;
}

static const char *find(const struct pf_ompi_stack *stack, const char *name)
{
    for (size_t i = 0; i < sizeof hidden / sizeof hidden[0]; i++)
        if (strncmp(name, hidden[i], strlen(hidden[i])) == 0)
            return "";
    if (strncmp(name, prefix, sizeof prefix - 1) != 0)
        return NULL;
    const char *parameter = name + sizeof prefix - 1;
    if (strcmp(parameter, "pml") == 0)
        return stack->ops->pml();
    if (strcmp(parameter, "osc") == 0)
        return stack->ops->osc();
    if (strcmp(parameter, "btl") == 0 && pf_ompi_stack_has_pml(stack, "ob1"))
        return "self,portals4";
    if (strcmp(parameter, "btl_portals4_max_send_size") == 0)
        return longest_fragment();
    for (size_t i = 0; i < sizeof fixed / sizeof fixed[0]; i++)
        if (strcmp(parameter, fixed[i].name) == 0)
            return fixed[i].value;
    const char *common = of_common_ucx(parameter);
    if (common)
        return common;
    const char *users = getenv(name);
    return users ? users : adjustable(parameter);
}

void pf_settings_of_process(void)
{
    static const struct {
        const char *name, *value;
    } variables[] = {
#define X(name, value) {name, value},
        PF_OMPI_ENVIRONMENT(X)
#undef X
            {NULL, NULL}};
    for (int i = 0; variables[i].name; i++)
        if (!getenv(variables[i].name) && setenv(variables[i].name, variables[i].value, false) == 0)
            pf_ucx_settings_own(variables[i].name);
}

/* Every rank asks for the same thousands of names, few of which are set, and mostly in the same order. */
struct answer {
    UT_hash_handle hh;
    const char *value;
    bool other; /* the real environment decides, when it is asked */
    char name[];
};

const char *pf_settings_get(const struct pf_ompi_stack *stack, const char *name)
{
    static struct known {
        struct answer *answers, *expected;
    } all[PF_OMPI_STACKS];
    struct known *known = &all[stack->number];
    struct answer *answer = known->expected;
    size_t length = strlen(name);
    if (!answer || strcmp(answer->name, name) != 0)
        HASH_FIND(hh, known->answers, name, length, answer);
    if (!answer) {
        answer = pf_malloc(sizeof *answer + length + 1);
        memcpy(answer->name, name, length + 1);
        answer->value = find(stack, name);
        answer->other = !answer->value && strncmp(name, prefix, sizeof prefix - 1) != 0;
        HASH_ADD_KEYPTR(hh, known->answers, answer->name, length, answer);
    }
    known->expected = answer->hh.next ? answer->hh.next : known->answers;
    return answer->other ? getenv(name) : answer->value;
}
