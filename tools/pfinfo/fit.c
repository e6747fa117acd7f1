/* SPDX-License-Identifier: BSD-3-Clause */
/* pfinfo --fit: measures in a finer model, fits, and tests the fit at other sizes. */
#include "tools/pfinfo/fit.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "adapters/adapter.h"
#include "adapters/analytic/cost/cost.h"
#include "adapters/analytic/cost/parameters/fit.h"
#include "base/config.h"
#include "base/error.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/output_file.h"
#include "adapters/model.h"
#include "tools/pfinfo/measured.h"
#include "tools/pfinfo/measuring.h"

/* The path alone: no overhead, no limit of bandwidth. */
#define PATHS_ALONE                                                                                          \
    "model = loggp; bandwidth = unlimited; nic_bandwidth = unlimited; memory.bandwidth = unlimited"

struct residual {
    enum pf_fit_transport_id transport;
    long bytes;
    double measured, modelled;
};

enum { MAX_RESIDUALS = 3 * PF_FIT_SIZES };

/* The name of a model is one, whatever files there are. */
static bool is_file(const struct fit_request *request)
{
    enum pf_model model;
    return !pf_model_parse(request->model, strlen(request->model), &model) &&
           access(request->model, R_OK) == 0;
}

static void read_points(struct pf_fit *fit)
{
    char line[400];
    FILE *file = measuring_output();
    while (fgets(line, sizeof line, file))
        pf_fit_line(fit, line);
    fclose(file);
}

/* The latencies of the paths that were measured: what model analytic says when nothing else costs anything.
 */
static void find_paths(const struct fit_request *request, struct pf_fit *fit)
{
    static struct pf_fit paths;
    setenv("PARFOCAL_ANALYTIC_PARAMETERS", "", 1);
    setenv("PARFOCAL_ANALYTIC_SET", PATHS_ALONE, 1);
    measuring_run(request, "analytic", NULL, true, "paths", NULL);
    unsetenv("PARFOCAL_ANALYTIC_SET");
    pf_fit_init(&paths);
    read_points(&paths);
    for (int i = 0; i < PF_FIT_TRANSPORTS; i++) {
        struct pf_fit_transport *transport = &fit->transports[i];
        if (!transport->count)
            continue;
        /* A transport whose partner is another one there has no known distance; then one distance must do. */
        if (paths.transports[i].peer == transport->peer && paths.transports[i].count)
            transport->path = paths.transports[i].points[0].one_way;
        else if (i == PF_FIT_FAR)
            transport->count = 0;
    }
}

static void write_parameters(const struct fit_request *request, const struct pf_parameters *parameters)
{
    FILE *file = pf_output_open(request->output, "w");
    if (!file)
        measuring_give_up("--fit: cannot write '%s': %s", request->output, strerror(errno));
    fprintf(file, "# Parameters of model analytic, fitted to %s%s by pfinfo --fit=%s",
            is_file(request) ? "the times in " : "model ", request->model, request->model);
    for (int i = 0; i < request->run_count; i++)
        fprintf(file, "%s%s", i ? " " : " -- ", request->run[i]);
    fputs("\n# The keys are explained in docs/analytic.md.\n", file);
    pf_parameters_write(parameters, file);
    if (fclose(file) != 0)
        measuring_give_up("--fit: cannot write '%s': %s", request->output, strerror(errno));
}

static void route_of_fit(void *context, int src, int dst, double *latency, double *bandwidth)
{
    const struct pf_fit *fit = context;
    int step = src < dst ? dst - src : src - dst;
    *latency = fit->transports[step].path; /* node 1 is near to node 0, node 2 far */
    *bandwidth = INFINITY;
}

/* What the file that was just written says about sizes between those of the fit. */
static int find_residuals(const struct fit_request *request, struct pf_fit *fit, const struct pf_fit *between,
                          struct residual *residuals)
{
    static const int nodes[] = {0, 0, 1, 2}, partner[] = {1, 2, 3};
    char why[600];
    int n = 0;
    pf_config_set("analytic_parameters", request->output);
    pf_config_set("analytic_set", "");
    struct pf_cost *cost = pf_cost_new(4, nodes, route_of_fit, NULL, fit, why, sizeof why);
    if (!cost)
        measuring_give_up("--fit: %s", why);
    for (int transport = 0; transport < PF_FIT_TRANSPORTS; transport++) {
        for (int i = 0; i < between->transports[transport].count && fit->transports[transport].count; i++) {
            const struct pf_fit_point *point = &between->transports[transport].points[i];
            struct pf_cost_received received;
            double now = 100.0 * (n + 1); /* every NIC is idle again */
            pf_cost_message(cost, 0, partner[transport], (size_t)point->bytes, now, 0, PF_COST_STANDARD, NULL,
                            &received);
            residuals[n++] =
                (struct residual){transport, point->bytes, point->one_way, received.complete - now};
        }
    }
    pf_cost_free(cost);
    return n;
}

static double error_of(const struct residual *residual)
{
    return residual->modelled / residual->measured - 1;
}

static int compare_errors(const void *a, const void *b)
{
    double x = fabs(error_of(a)), y = fabs(error_of(b));
    return (x > y) - (x < y);
}

static void print_residuals(struct residual *residuals, int n, const char *prefix, FILE *out)
{
    static const char *const names[] = {"memory", "near", "far"};
    fprintf(out,
            "%sone-way times of sizes that were not fitted\n%stransport       bytes    measured    analytic  "
            " error\n",
            prefix, prefix);
    for (int i = 0; i < n; i++)
        fprintf(out, "%s%-6s %9ld %8.3f us %8.3f us %6.2f %%\n", prefix, names[residuals[i].transport],
                residuals[i].bytes, residuals[i].measured * 1e6, residuals[i].modelled * 1e6,
                100 * error_of(&residuals[i]));
}

static void print_summary(struct residual *residuals, int n, const char *prefix, FILE *out)
{
    if (!n)
        return;
    qsort(residuals, (size_t)n, sizeof *residuals, compare_errors);
    fprintf(out, "%smedian error %.2f %%, largest %.2f %% (%ld B)\n", prefix,
            100 * fabs(error_of(&residuals[n / 2])), 100 * fabs(error_of(&residuals[n - 1])),
            residuals[n - 1].bytes);
}

static void check_request(const struct fit_request *request)
{
    char why[600];
    enum pf_model model;
    if (is_file(request))
        return;
    if (!pf_model_parse(request->model, strlen(request->model), &model) || model == PF_MODEL_ANALYTIC)
        pf_die(
            "--fit: '%s' is no model to fit to (one of %s, but not analytic), and no file of measured times",
            request->model, pf_model_list());
    if (pf_model_probe(model, why, sizeof why) != PF_SUCCESS)
        pf_die("--fit: model %s: %s", request->model, why);
}

/* From a run in the model, or from a file. */
static void find_times(const struct fit_request *request, struct pf_fit *fit, struct pf_fit *between)
{
    pf_fit_init(fit);
    pf_fit_init(between);
    if (is_file(request)) {
        const char *wrong = measured_read(request->model, fit, between);
        if (wrong)
            measuring_give_up("--fit: %s", wrong);
        return;
    }
    measuring_run(request, request->model, NULL, true, "fit", NULL);
    read_points(fit);
    measuring_run(request, request->model, NULL, true, "between", NULL);
    read_points(between);
}

/*
 * The times say nothing of windows: the path of one-sided communication follows from the model and the
 * setting that the run had.
 */
static void choose_windows(const struct fit_request *request, struct pf_parameters *parameters)
{
    static const char row[] = "--cfg=parfocal/openmpi_osc:";
    enum pf_model model;
    const char *osc = pf_config_osc();
    if (is_file(request) || !pf_model_parse(request->model, strlen(request->model), &model) ||
        pf_model_impl(model) != PF_IMPL_OPENMPI)
        return;
    for (int i = 0; i < request->run_count; i++)
        if (strncmp(request->run[i], row, sizeof row - 1) == 0)
            osc = request->run[i] + sizeof row - 1;
    bool by_nic = strcmp(osc, "portals4") == 0;
    pf_parameters_read_text(parameters, by_nic ? "windows = nic" : "windows = pt2pt", "fit");
}

int fit_model(const struct fit_request *request)
{
    static struct pf_fit fit, between;
    static struct pf_parameters parameters;
    static struct residual residuals[MAX_RESIDUALS];
    check_request(request);
    measuring_begin();
    find_times(request, &fit, &between);
    find_paths(request, &fit);
    const char *wrong = pf_fit_make(&fit, &parameters);
    if (wrong)
        measuring_give_up("--fit: %s", wrong);
    choose_windows(request, &parameters);
    write_parameters(request, &parameters);
    int n = find_residuals(request, &fit, &between, residuals);
    measuring_end();
    FILE *file = fopen(request->output, "a");
    if (!file)
        pf_die("--fit: cannot write '%s': %s", request->output, strerror(errno));
    print_residuals(residuals, n, "# ", file);
    print_residuals(residuals, n, "", stdout);
    print_summary(residuals, n, "# ", file);
    print_summary(residuals, n, "", stdout);
    if (fclose(file) != 0)
        pf_die("--fit: cannot write '%s': %s", request->output, strerror(errno));
    printf("written: %s (PARFOCAL_ANALYTIC_PARAMETERS=%s)\n", request->output, request->output);
    return 0;
}
