/* SPDX-License-Identifier: BSD-3-Clause */
/* pfnet: latency against offered load of a packet network, without any program. */
#include <argp.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/config.h"
#include "base/log.h"
#include "base/machine.h"
#include "base/memory.h"
#include "base/output_file.h"
#include "tools/pfnet/options.h"
#include "tools/pfnet/run.h"

/* What a sweep without --load stops at. */
#define STEP 0.05

static FILE *open_output(const struct options *o)
{
    FILE *file = o->output ? pf_output_open(o->output, "w") : stdout;
    if (!file)
        pf_die("--output: cannot write '%s': %s", o->output, strerror(errno));
    return file;
}

static void write_head(const struct options *o, const struct pf_routing *routing, FILE *out)
{
    fprintf(out, "# topology %s, routing %s (%d classes: %s), pattern %s, seed %llu\n", routing->fabric->text,
            routing->ops->name, routing->classes, routing->reason, o->pattern, (unsigned long long)o->seed);
    fputs("load,offered,accepted,accepted_half,latency,latency_half,latency_50,latency_99,latency_max,hops,"
          "busiest,"
          "packets,dropped,saturated\n",
          out);
}

static void write_point(const struct run_point *p, FILE *out)
{
    fprintf(out, "%.6g,%.6g,%.6g,%.3g,%.9g,%.3g,%.6g,%.6g,%.6g,%.6g,%.6g,%llu,%llu,%s\n", p->load, p->offered,
            p->accepted, p->accepted_half, p->latency, p->latency_half, p->middle, p->high, p->most, p->hops,
            p->busiest, (unsigned long long)p->measured, (unsigned long long)p->dropped,
            p->saturated ? "yes" : "no");
    fflush(out);
}

struct sweep {
    const struct options *o;
    struct run_request request;
    FILE *out;
};

/* One point; whether the network keeps up. */
static bool measure(struct sweep *s, double load)
{
    struct run_point point;
    char error[300];
    s->request.load = load;
    options_times(s->o, &s->request);
    if (!run_point(&s->request, &point, error, sizeof error))
        pf_die("%s", error);
    write_point(&point, s->out);
    if (!point.clean)
        pf_die("at load %g packets or credits stayed in the network: it is stuck", load);
    return !point.saturated;
}

/* Halves the interval between a load that the network takes and one that it does not. */
static void find_saturation(struct sweep *s)
{
    double low = 0, high = 1;
    if (measure(s, 1))
        low = 1;
    while (high - low > s->o->precision) {
        double middle = (low + high) / 2;
        *(measure(s, middle) ? &low : &high) = middle;
    }
    fprintf(s->out, "# saturation %.6g\n", low);
}

static void go(struct sweep *s)
{
    if (s->o->saturation) {
        find_saturation(s);
    } else if (s->o->load_count) {
        for (int i = 0; i < s->o->load_count; i++)
            measure(s, s->o->loads[i]);
    } else {
        for (int i = 1; i <= 20; i++)
            if (!measure(s, i * STEP))
                break;
    }
}

int main(int argc, char **argv)
{
    struct options o;
    struct pf_routing routing;
    char error[300];
    pf_config_load();
    pf_machine_apply();
    options_read(&o, argc, argv);
    struct pf_fabric *fabric = options_fabric(&o);
    if (!pf_routing_open(&routing, o.routing, fabric, &o.routing_settings, error, sizeof error))
        pf_die("%s", error);
    struct pf_pattern *pattern = pf_pattern_make(o.pattern, fabric, o.seed, error, sizeof error);
    if (!pattern)
        pf_die("%s", error);
    struct sweep sweep = {.o = &o,
                          .request = {.routing = &routing, .settings = &o.settings, .pattern = pattern}};
    sweep.out = open_output(&o);
    options_request(&o, fabric, &sweep.request);
    double slot = o.slot_bytes > 0 ? o.slot_bytes : o.packet_bytes + o.header_bytes;
    o.settings.cycle =
        (o.flit_bytes > 0 ? o.flit_bytes : slot) / (sweep.request.rate * o.settings.crossbar_speedup);
    write_head(&o, &routing, sweep.out);
    go(&sweep);
    if (fflush(sweep.out) || ferror(sweep.out) || (o.output && fclose(sweep.out)))
        pf_die("cannot write the points: %s", strerror(errno));
    pf_pattern_free(pattern);
    pf_fabric_free(fabric);
    if (o.picture)
        options_draw(&o);
    free(o.loads);
    return 0;
}
