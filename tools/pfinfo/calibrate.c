/* SPDX-License-Identifier: BSD-3-Clause */
/* pfinfo --fit --for=smpi: measures in a finer model, and finds settings with which SMPI comes near to it. */
#include "tools/pfinfo/commands.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "adapters/model.h"
#include "base/error.h"
#include "base/log.h"
#include "base/memory.h"
#include "tools/pfinfo/measuring.h"
#include "tools/pfinfo/smpi_settings.h"

enum { MOST_ROWS = 400, ALGORITHMS = 5 };

/* One line of the program: what, between which ranks or "all", bytes, seconds. */
struct row {
    char what[32], transport[16];
    long bytes;
    double seconds;
};

struct table {
    int count;
    struct row rows[MOST_ROWS];
};

/* Algorithms of SMPI that are right for any number of ranks and any size (some others are not): those that
 * Open MPI has as well, that are near to one that it has, or that choose by size. Some take about as long as
 * Open MPI's for another reason, such as more rounds that are shorter. On one rank SMPI's copies of Open
 * MPI's algorithms for reduce end the program, and two of those for reduce_scatter give wrong results. */
static const struct collective {
    const char *name, *measured; /* SMPI's name, the program's */
    const char *algorithms[ALGORITHMS + 1];
} collectives[] = {
    {"barrier", "barrier", {"ompi", "ompi_recursivedoubling", "ompi_bruck", "ompi_doublering", "mpich_smp"}},
    {"bcast", "bcast", {"ompi", "binomial_tree", "flattree", "ompi_pipeline", "default"}},
    {"reduce", "reduce", {"binomial", "mpich"}},
    {"allreduce", "allreduce", {"ompi", "rdb", "redbcast", "smp_binomial"}},
    {"gather", "gather", {"ompi", "ompi_basic_linear", "ompi_binomial", "mpich"}},
    {"scatter", "scatter", {"ompi", "ompi_basic_linear", "ompi_binomial", "mpich", "ompi_linear_nb"}},
    {"allgather", "allgather", {"ompi", "bruck", "ring", "ompi_neighborexchange", "mpich"}},
    {"allgatherv", "allgatherv", {"ompi", "ompi_bruck", "ring", "ompi_neighborexchange", "mpich"}},
    {"alltoall", "alltoall", {"ompi", "basic_linear", "bruck", "ring", "default"}},
    {"alltoallv", "alltoallv", {"ompi_basic_linear", "ring", "mpich"}}, /* SMPI's ompi cannot do 3 ranks */
    {"reduce_scatter",
     "reduce_scatter_block",
     {"ompi_basic_recursivehalving", "ompi_ring", "mpich", "default"}},
};

enum { COLLECTIVES = sizeof collectives / sizeof collectives[0] };

/* Runs the program and reads its rows. False when the run failed and need not work. */
static bool measure(const struct fit_request *request, const char *model, char *const *more, bool must,
                    const char *what, const char *from, struct table *table)
{
    char line[400];
    table->count = 0;
    if (measuring_run(request, model, more, must, what, from) != 0)
        return false;
    FILE *file = measuring_output();
    while (fgets(line, sizeof line, file)) {
        struct row row;
        if (table->count < MOST_ROWS &&
            sscanf(line, "%31s %15s %ld %lf", row.what, row.transport, &row.bytes, &row.seconds) == 4)
            table->rows[table->count++] = row;
    }
    fclose(file);
    return true;
}

static const struct row *find_row(const struct table *table, const char *what, const char *transport,
                                  long bytes)
{
    for (int i = 0; i < table->count; i++) {
        const struct row *row = &table->rows[i];
        if (strcmp(row->what, what) == 0 && strcmp(row->transport, transport) == 0 &&
            (bytes < 0 || row->bytes == bytes))
            return row;
    }
    return NULL;
}

static const struct row *need_row(const struct table *table, const char *what, const char *transport)
{
    const struct row *row = find_row(table, what, transport, -1);
    if (!row)
        measuring_give_up("--fit: no ranks on two nodes: %s was not measured (-np, -platform)", what);
    return row;
}

static void read_curve(const struct table *table, struct curve *curve)
{
    curve->count = 0;
    for (int i = 0; i < table->count; i++)
        if (strcmp(table->rows[i].what, "oneway") == 0 && strcmp(table->rows[i].transport, "near") == 0)
            curve_add(curve, table->rows[i].bytes, table->rows[i].seconds);
    curve_sort(curve);
    if (curve->count < 3)
        measuring_give_up("--fit: no ranks on two nodes (-np, -platform)");
}

/* The finer model's times, and the routes: what SMPI says when nothing else costs anything. */
static void find_base(const struct fit_request *request, struct smpi_base *base)
{
    static char *plain[] = {"--cfg=smpi/lat-factor:0:1",
                            "--cfg=smpi/bw-factor:0:1",
                            "--cfg=smpi/os:0:0:0",
                            "--cfg=smpi/ois:0:0:0",
                            "--cfg=smpi/or:0:0:0",
                            "--cfg=smpi/async-small-thresh:0",
                            "--cfg=smpi/send-is-detached-thresh:0",
                            NULL};
    static struct table table;
    static struct curve route;
    measure(request, request->model, NULL, true, "steps", NULL, &table);
    read_curve(&table, &base->near);
    base->threshold = need_row(&table, "threshold", "near")->bytes;
    base->test = need_row(&table, "test", "any")->seconds;
    base->probe = need_row(&table, "probe", "any")->seconds;
    measure(request, "smpi", plain, true, "steps", NULL, &table);
    read_curve(&table, &route);
    double last = route.seconds[route.count - 1], long_bytes = (double)route.bytes[route.count - 1];
    base->bandwidth = long_bytes / (last - route.seconds[0]);
    base->latency = route.seconds[0] - 16 / base->bandwidth;
    const struct row *far = find_row(&table, "oneway", "far", 0); /* none: all ranks are as near */
    base->far_latency = far ? far->seconds - 16 / base->bandwidth : base->latency;
}

static int compare(const void *left, const void *right)
{
    const double *a = left, *b = right;
    return (*a > *b) - (*a < *b);
}

/* The median of the relative errors, without sign, of `what`; NULL: of all. Of nothing: infinite. */
static double median_error(const struct table *reference, const struct table *table, const char *what,
                           struct row *worst)
{
    static double errors[MOST_ROWS];
    double largest = -1;
    int n = 0;
    for (int i = 0; i < reference->count; i++) {
        const struct row *row = &reference->rows[i];
        const struct row *other = find_row(table, row->what, row->transport, row->bytes);
        if ((what && strcmp(row->what, what) != 0) || !other || strcmp(row->what, "peer") == 0)
            continue;
        errors[n] = fabs(other->seconds / row->seconds - 1);
        if (worst && errors[n] > largest) {
            largest = errors[n];
            *worst = *row;
            worst->seconds = largest;
        }
        n++;
    }
    qsort(errors, (size_t)n, sizeof *errors, compare);
    return n ? errors[n / 2] : INFINITY;
}

/* How far the times of `what` are from the reference, in the mean: twice as long counts as much as half as
 * long. Of nothing: infinite. */
static double mean_distance(const struct table *reference, const struct table *table, const char *what)
{
    double sum = 0;
    int n = 0;
    for (int i = 0; i < reference->count; i++) {
        const struct row *row = &reference->rows[i];
        const struct row *other = find_row(table, row->what, row->transport, row->bytes);
        if (strcmp(row->what, what) != 0 || !other)
            continue;
        sum += fabs(log(other->seconds / row->seconds));
        n++;
    }
    return n ? sum / n : INFINITY;
}

/* For each collective the algorithm that is nearest at the sizes of the fit; the index in its list. All lists
 * are gone through at once, as the collectives do not know of each other. */
static void find_algorithms(const struct fit_request *request, const struct table *reference, int chosen[])
{
    static struct table table;
    double least[COLLECTIVES];
    for (int c = 0; c < COLLECTIVES; c++)
        least[c] = INFINITY;
    for (int a = 0; a < ALGORITHMS; a++) {
        char *more[COLLECTIVES + 3] = {"-calibrated", (char *)request->output};
        int n = 2;
        for (int c = 0; c < COLLECTIVES; c++)
            if (collectives[c].algorithms[a])
                more[n++] =
                    pf_asprintf("--cfg=smpi/%s:%s", collectives[c].name, collectives[c].algorithms[a]);
        bool works = n > 2 && measure(request, "smpi", more, a == 0, "aligned", "8", &table);
        for (int c = 0; works && c < COLLECTIVES; c++) {
            if (!collectives[c].algorithms[a])
                continue;
            double distance = mean_distance(reference, &table, collectives[c].measured);
            if (distance < least[c] - 0.01) {
                least[c] = distance;
                chosen[c] = a;
            }
        }
        for (int i = 2; i < n; i++)
            free(more[i]);
    }
}

static FILE *open_output(const struct fit_request *request, const char *mode)
{
    FILE *file = fopen(request->output, mode);
    if (!file)
        measuring_give_up("--fit: cannot write '%s': %s", request->output, strerror(errno));
    return file;
}

static void close_output(const struct fit_request *request, FILE *file)
{
    if (fclose(file) != 0)
        measuring_give_up("--fit: cannot write '%s': %s", request->output, strerror(errno));
}

static void write_settings(const struct fit_request *request, const struct smpi_base *base, const int *chosen)
{
    FILE *file = open_output(request, "w");
    fprintf(file, "# Settings of SimGrid that bring model smpi near to model %s: pfinfo --fit=%s --for=smpi",
            request->model, request->model);
    for (int i = 0; i < request->run_count; i++)
        fprintf(file, "%s%s", i ? " " : " -- ", request->run[i]);
    fputs("\n# They hold for this platform and this number of ranks: pfrun -calibrated FILE. See "
          "docs/models.md.\n",
          file);
    smpi_settings_write(base, file);
    for (int c = 0; chosen && c < COLLECTIVES; c++)
        if (strcmp(collectives[c].algorithms[chosen[c]], "ompi") != 0)
            fprintf(file, "smpi/%s = %s  # in place of what SMPI has as Open MPI's rules\n",
                    collectives[c].name, collectives[c].algorithms[chosen[c]]);
    close_output(request, file);
}

static void print_errors(const struct fit_request *request, const struct table reference[2],
                         const struct table stock[2], const struct table smpi[2])
{
    static const char *const names[] = {"ping-pong", "collectives"};
    FILE *outs[] = {stdout, open_output(request, "a")};
    for (int o = 0; o < 2; o++) {
        const char *prefix = o ? "# " : "";
        fprintf(outs[o], "%sdifference to model %s at sizes that were not used: median, largest\n", prefix,
                request->model);
        for (int i = 0; i < 2; i++) {
            struct row worst = {0}, before = {0};
            double median = median_error(&reference[i], &smpi[i], NULL, &worst);
            double uncalibrated = median_error(&reference[i], &stock[i], NULL, &before);
            fprintf(outs[o], "%s%-12s smpi %.1f %%, %.0f %%; calibrated %.1f %%, %.0f %% (%s %ld B)\n",
                    prefix, names[i], 100 * uncalibrated, 100 * before.seconds, 100 * median,
                    100 * worst.seconds, i ? worst.what : worst.transport, worst.bytes);
        }
        for (int c = 0; c < COLLECTIVES; c++)
            fprintf(outs[o], "%s  %-20s smpi %.1f %%, calibrated %.1f %%\n", prefix, collectives[c].measured,
                    100 * median_error(&reference[1], &stock[1], collectives[c].measured, NULL),
                    100 * median_error(&reference[1], &smpi[1], collectives[c].measured, NULL));
    }
    close_output(request, outs[1]);
}

static void check_request(const struct fit_request *request)
{
    char why[600];
    enum pf_model model;
    if (!pf_model_parse(request->model, strlen(request->model), &model) || model == PF_MODEL_SMPI ||
        model == PF_MODEL_ANALYTIC)
        pf_die("--fit: '%s' is no model that smpi can be fitted to (one of %s, but not smpi or analytic)",
               request->model, pf_model_list());
    if (pf_model_probe(model, why, sizeof why) != PF_SUCCESS)
        pf_die("--fit: model %s: %s", request->model, why);
}

int calibrate_smpi(const struct fit_request *request)
{
    static struct smpi_base base;
    static struct table fitted, reference[2], stock[2], smpi[2];
    int chosen[COLLECTIVES] = {0};
    char *calibrated[] = {"-calibrated", (char *)request->output, NULL};
    check_request(request);
    measuring_begin();
    find_base(request, &base);
    write_settings(request, &base, NULL);
    measure(request, request->model, NULL, true, "aligned", "8", &fitted);
    find_algorithms(request, &fitted, chosen);
    write_settings(request, &base, chosen);
    for (int i = 0; i < 2; i++) {
        const char *what = i ? "aligned" : "between", *from = i ? "24" : NULL;
        measure(request, request->model, NULL, true, what, from, &reference[i]);
        measure(request, "smpi", NULL, true, what, from, &stock[i]);
        measure(request, "smpi", calibrated, true, what, from, &smpi[i]);
    }
    measuring_end();
    print_errors(request, reference, stock, smpi);
    printf("written: %s (pfrun -calibrated %s)\n", request->output, request->output);
    return 0;
}
