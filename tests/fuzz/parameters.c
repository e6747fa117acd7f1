/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Texts of parameters of model analytic: either they are refused with one line that says why, or every price
 * is a number that makes sense. Written for libFuzzer: README.md.
 */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "adapters/analytic/cost/cost.h"
#include "base/config.h"
#include "base/log.h"

/* The harness stands without the rest of base; parameters are derived from the defaults of the configuration.
 */
#define PF_CFG(type, name, value, ...) .name = (value),
struct pf_config pf_config = {
#include "base/config.def"
};

const char *pf_config_osc(void)
{
    return pf_config.openmpi_osc;
}

const char *pf_config_given(const char *name)
{
    return name;
}

const char *pf_nearest_word(const char *word, const char *const *words, size_t count)
{
    (void)word;
    return count ? words[0] : NULL;
}

void pf_die(const char *format, ...) /* says the text without its arguments */
{
    fputs(format, stderr);
    abort();
}

void pf_warn(const char *format, ...)
{
    (void)format;
}

void pf_config_load(void)
{
}

static void check(bool holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "%s\n", what);
    abort();
}

static void route(void *context, int src, int dst, double *latency, double *bandwidth)
{
    (void)context;
    *latency = src == dst ? 1e-7 : 1e-6;
    *bandwidth = 1e10;
}

static int links(void *context, int src, int dst, struct pf_cost_link *out, int room)
{
    (void)context;
    for (int i = 0; i < 2 && i < room; i++)
        out[i] = (struct pf_cost_link){i ? 2 * dst : 2 * src + 1, 1e10};
    return 2;
}

static bool is_date(double value, double earliest)
{
    return isfinite(value) && value >= earliest;
}

static void ask(struct pf_cost *cost)
{
    static const size_t sizes[] = {0, 1, 1000, 70000, 1 << 30};
    const double slack = 1e-12; /* rounding */
    for (int pass = 0; pass < 2; pass++) {
        for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
            for (int dst = 0; dst < 5; dst++) {
                struct pf_cost_sent sent;
                struct pf_cost_received received;
                pf_cost_message(cost, 0, dst, sizes[i], 1, 2 * pass, PF_COST_STANDARD, &sent, &received);
                check(is_date(sent.returns, 1) && is_date(received.complete, 1 - slack) &&
                          is_date(received.safe, 1 - slack),
                      "a price that is no date");
            }
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const int nodes[] = {0, 0, 1, 2, 3};
    static const char *const stacks[] = {"portals", "ucx", "mpich"};
    char why[600] = "", *text = malloc(size + 1);
    memcpy(text, data, size);
    text[size] = 0;
    pf_config.analytic_parameters = "";
    pf_config.analytic_set = text;
    pf_config.analytic_stack = stacks[size % 3];
    struct pf_cost *cost = pf_cost_new(5, nodes, route, links, NULL, why, sizeof why);
    check(cost || (*why && strlen(why) + 1 < sizeof why), "refused without a reason");
    if (cost)
        ask(cost);
    pf_cost_free(cost);
    free(text);
    return 0;
}
