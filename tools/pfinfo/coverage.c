/* SPDX-License-Identifier: BSD-3-Clause */
/* pfinfo --coverage: what answers each MPI function in each model. */
#include "tools/pfinfo/commands.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "pf_evidence.h"
#include "pf_fn.h"
#include "pf_refused.h"

enum route { LOCAL, MIDDLEWARE, ACTIVE, RECIPE, OWNER, EMULATED, FALLBACK, REFUSED, ROUTE_COUNT };

/* What SMPI has under the name; Open MPI has everything in the table. */
enum smpi { yes, stub, noop, no };

static const struct {
    const char *name, *group;
    enum route route;
    enum smpi smpi;
} functions[] = {
#define X(stem, route, group, smpi) {"MPI_" #stem, #group, route, smpi},
    PF_FN_LIST(X)
#undef X
};

#define FUNCTION_COUNT (sizeof functions / sizeof functions[0])

/* Whatever the table plans for them: this version answers with MPI_ERR_UNSUPPORTED_OPERATION. */
static const bool refused[PF_FN_COUNT] = {
#define X(stem) [PF_FN_##stem] = true,
    PF_REFUSED_LIST(X)
#undef X
};

/* Calls on variables and categories of the tool interface: there are none, so each returns the standard's
 * error for what does not exist. */
static const bool no_variables[PF_FN_COUNT] = {
    [PF_FN_T_cvar_get_info] = true,      [PF_FN_T_cvar_get_index] = true,
    [PF_FN_T_cvar_handle_alloc] = true,  [PF_FN_T_cvar_handle_free] = true,
    [PF_FN_T_cvar_read] = true,          [PF_FN_T_cvar_write] = true,
    [PF_FN_T_enum_get_info] = true,      [PF_FN_T_enum_get_item] = true,
    [PF_FN_T_pvar_get_info] = true,      [PF_FN_T_pvar_get_index] = true,
    [PF_FN_T_pvar_handle_alloc] = true,  [PF_FN_T_pvar_handle_free] = true,
    [PF_FN_T_pvar_read] = true,          [PF_FN_T_pvar_write] = true,
    [PF_FN_T_pvar_readreset] = true,     [PF_FN_T_category_get_info] = true,
    [PF_FN_T_category_get_index] = true, [PF_FN_T_category_get_cvars] = true,
    [PF_FN_T_category_get_pvars] = true, [PF_FN_T_category_get_categories] = true,
};

/* The programs of tests/e2e that show it. */
static const char *const evidence[PF_FN_COUNT] = {
#define X(stem, programs) [PF_FN_##stem] = programs,
    PF_EVIDENCE_LIST(X)
#undef X
};

static const char *in_portals(enum route route)
{
    static const char *const texts[ROUTE_COUNT] = {
        "middleware", "middleware", "Open MPI", "Open MPI", "Open MPI", "emulated", "Open MPI", "refused",
    };
    return texts[route];
}

/* Files are always Open MPI's. */
static const char *in_smpi(enum route route, enum smpi smpi, const char *group)
{
    static const char *const texts[ROUTE_COUNT] = {
        "middleware", "middleware", "SMPI", "SMPI", "SMPI", "emulated", "fallback", "refused",
    };
    if (route == OWNER && strcmp(group, "file") == 0)
        route = FALLBACK;
    bool own = route == ACTIVE || route == RECIPE || route == OWNER;
    return own && smpi != yes ? "not in SMPI" : texts[route];
}

/* The engine has messages, collectives, communicators and windows of its own; local objects are SMPI's. */
static const char *in_analytic(enum route route, enum smpi smpi, const char *group)
{
    static const char *const of_smpi[] = {"file", "type", "op", "pack", "info", "group", "time"};
    bool intercomm = route == FALLBACK && strcmp(group, "comm") == 0;
    bool own = route == ACTIVE || route == RECIPE || route == OWNER || intercomm;
    for (size_t i = 0; i < sizeof of_smpi / sizeof of_smpi[0]; i++)
        if (strcmp(group, of_smpi[i]) == 0)
            own = false;
    return own ? "engine" : in_smpi(route, smpi, group);
}

void coverage_print(FILE *out)
{
    size_t counts[ROUTE_COUNT] = {0};
    fprintf(out, "%-32s %-12s %-12s %-12s %-12s %s\n", "function", "group", "smpi", "portals", "analytic",
            "program");
    for (size_t i = 0; i < FUNCTION_COUNT; i++) {
        enum route route = refused[i] ? REFUSED : functions[i].route;
        fprintf(out, "%-32s %-12s %-12s %-12s %-12s %s\n", functions[i].name, functions[i].group,
                no_variables[i] ? "no variables" : in_smpi(route, functions[i].smpi, functions[i].group),
                no_variables[i] ? "no variables" : in_portals(route),
                no_variables[i] ? "no variables" : in_analytic(route, functions[i].smpi, functions[i].group),
                evidence[i]);
        counts[route]++;
    }
    fprintf(out,
            "%zu functions: %zu by the middleware, %zu by the model in force or the owner, %zu emulated, %zu "
            "by a fallback model, %zu refused\n",
            FUNCTION_COUNT, counts[LOCAL] + counts[MIDDLEWARE],
            counts[ACTIVE] + counts[RECIPE] + counts[OWNER], counts[EMULATED], counts[FALLBACK],
            counts[REFUSED]);
}
