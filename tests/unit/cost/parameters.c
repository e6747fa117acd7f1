/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers with units, and the file of parameters: what it means, what is refused with file, line and reason.
 */
#include "adapters/analytic/cost/parameters/parameters.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "adapters/analytic/cost/cost.h"
#include "adapters/analytic/cost/parameters/quantity.h"
#include "base/config.h"

static void test_quantities(void **state)
{
    static const struct {
        const char *text;
        enum pf_quantity kind;
        double value;
    } good[] = {
        {"2.5 us", PF_QUANTITY_TIME, 2.5e-6},
        {"2.5us", PF_QUANTITY_TIME, 2.5e-6},
        {"100 ns", PF_QUANTITY_TIME, 100e-9},
        {"3e-7", PF_QUANTITY_TIME, 3e-7},
        {"0", PF_QUANTITY_TIME, 0},
        {"1 ms", PF_QUANTITY_TIME, 1e-3},
        {"64 KiB", PF_QUANTITY_SIZE, 65536},
        {"1.5 kB", PF_QUANTITY_SIZE, 1500},
        {"unlimited", PF_QUANTITY_SIZE, INFINITY},
        {"11.1 GB/s", PF_QUANTITY_RATE, 11.1e9},
        {"8 Gbit/s", PF_QUANTITY_RATE, 1e9},
        {"unlimited", PF_QUANTITY_RATE, INFINITY},
        {"0.92", PF_QUANTITY_FACTOR, 0.92},
    };
    static const struct {
        const char *text;
        enum pf_quantity kind;
        const char *reason;
    } bad[] = {
        {"fast", PF_QUANTITY_TIME, "does not begin with a number"},
        {"-1 us", PF_QUANTITY_TIME, "is negative"},
        {"nan", PF_QUANTITY_TIME, "is not a finite number"},
        {"inf", PF_QUANTITY_TIME, "not a finite"},
        {"-inf", PF_QUANTITY_RATE, "not a finite"},
        {"1e999", PF_QUANTITY_TIME, "not a finite"},
        {"1 GB/s", PF_QUANTITY_TIME, "unit that does not belong"},
        {"1 US", PF_QUANTITY_TIME, "unit"},
        {"1.5 B", PF_QUANTITY_SIZE, "not a whole number"},
        {"0 GB/s", PF_QUANTITY_RATE, "for ever"},
        {"0.0001 B/s", PF_QUANTITY_RATE, "for ever"},
        {"2e9 s", PF_QUANTITY_TIME, "is too large"},
        {"2e9", PF_QUANTITY_FACTOR, "is too large"},
        {"unlimited", PF_QUANTITY_TIME, "does not begin"},
        {"1 us x", PF_QUANTITY_TIME, "unit"},
        {"", PF_QUANTITY_TIME, "does not begin"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        double value;
        const char *wrong = pf_quantity_read(good[i].text, good[i].kind, &value);
        if (wrong || value != good[i].value)
            fail_msg("'%s': %s, %.17g", good[i].text, wrong ? wrong : "read", wrong ? 0 : value);
    }
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        double value = 42;
        const char *wrong = pf_quantity_read(bad[i].text, bad[i].kind, &value);
        if (!wrong || !strstr(wrong, bad[i].reason) || value != 42)
            fail_msg("'%s': %s", bad[i].text, wrong ? wrong : "accepted");
    }
}

static void test_quantities_come_back(void **state)
{
    static const double values[] = {0,     1e-9, 1.23456789e-6, 1.0 / 3,      4096,
                                    65535, 1e15, 11.1e9,        12345678901.5};
    (void)state;
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        for (enum pf_quantity kind = PF_QUANTITY_TIME; kind <= PF_QUANTITY_FACTOR; kind++) {
            char text[60];
            double value;
            if ((kind == PF_QUANTITY_SIZE && values[i] != floor(values[i])) ||
                (kind == PF_QUANTITY_RATE && values[i] < 1e-3) ||
                ((kind == PF_QUANTITY_TIME || kind == PF_QUANTITY_FACTOR) && values[i] > 1e9))
                continue; /* refused, see above */
            pf_quantity_write(values[i], kind, text, sizeof text);
            const char *wrong = pf_quantity_read(text, kind, &value);
            if (wrong || value != values[i])
                fail_msg("%.17g is written '%s': %s", values[i], text, wrong ? wrong : "another value");
        }
    }
}

static char file_name[] = "parametersXXXXXX";

static const char *read_file(struct pf_parameters *p, const char *text)
{
    FILE *file = fopen(file_name, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
    memset(p, 0, sizeof *p);
    return pf_parameters_read_file(p, file_name);
}

static void test_file(void **state)
{
    static struct pf_parameters p, again;
    (void)state;
    assert_null(read_file(&p, "# fitted\n\nmodel = smp\n latency[ 4 KiB ] = 2 us # long ones\n"
                              "latency = 1.5 us\ntopology = torus:4x4,wrap=1x0\neager_max=1KiB"));
    assert_true(pf_parameters_at(&p, PF_MODEL, 0, -1) == 2);
    assert_true(pf_parameters_at(&p, PF_LATENCY, 0, -1) == 1.5e-6);
    assert_true(pf_parameters_at(&p, PF_LATENCY, 4095, -1) == 1.5e-6);
    assert_true(pf_parameters_at(&p, PF_LATENCY, 4096, -1) == 2e-6);
    assert_true(pf_parameters_at(&p, PF_EAGER_MAX, 0, -1) == 1024);
    assert_true(pf_parameters_at(&p, PF_GAP, 0, -1) == -1);
    assert_string_equal(p.value[PF_TOPOLOGY].text, "torus:4x4,wrap=1x0");

    char *written = NULL;
    size_t size;
    FILE *out = open_memstream(&written, &size);
    pf_parameters_write(&p, out);
    fclose(out);
    assert_null(read_file(&again, written));
    free(written);
    for (int key = 0; key < PF_PARAMETER_COUNT; key++) {
        assert_int_equal(p.value[key].count, again.value[key].count);
        assert_string_equal(p.value[key].text, again.value[key].text);
        for (int i = 0; i < p.value[key].count; i++)
            assert_true(p.value[key].from[i] == again.value[key].from[i] &&
                        p.value[key].number[i] == again.value[key].number[i]);
    }

    assert_null(pf_parameters_read_text(&p, "latency = 3 us; gap[1 KiB] = 5 ns;", "SET"));
    assert_int_equal(p.value[PF_LATENCY].count, 1);
    assert_true(pf_parameters_at(&p, PF_LATENCY, 1 << 20, -1) == 3e-6);
    assert_true(pf_parameters_at(&p, PF_GAP, 1024, -1) == 5e-9);
    assert_string_equal(pf_parameters_read_text(&p, "gap = 1 ns; gop = 2 ns", "SET"),
                        "SET: entry 2: unknown key 'gop', maybe gap?");
}

static void test_refused(void **state)
{
    static struct pf_parameters p;
    static const struct {
        const char *text, *reason;
    } cases[] = {
        {"latency 1 us\n", "line 1: 'latency 1 us': an entry is 'key = value'"},
        {"\nlatancy = 1 us\n", "line 2: unknown key 'latancy', maybe latency?"},
        {"latency = 1 us\nlatency = 2 us\n", "line 2: latency is given twice (first at "},
        {"latency[64 B] = 1 us\nlatency[64 B] = 2 us\n", "line 2: latency is given twice for this size"},
        {"latency = -1 us\n", "line 1: latency: '-1 us' is negative"},
        {"latency = nan\n", "line 1: latency: 'nan' is not a finite number"},
        {"bandwidth = inf\n", "line 1: bandwidth: 'inf' is not a finite number"},
        {"bandwidth = 0\n", "line 1: bandwidth: '0' would take for ever"},
        {"latency =\n", "line 1: latency has no value"},
        {"latency[1 us] = 1 us\n", "line 1: '1 us' has a unit that does not belong here"},
        {"latency[unlimited] = 1 us\n", "line 1: latency: no message is unlimited"},
        {"latency[4 = 1 us\n", "line 1: 'latency[4': a size is written key[SIZE]"},
        {"call[4] = 1 us\n", "line 1: call does not depend on a size"},
        {"model = logp\n", "line 1: model: 'logp' is none of: loggps loggp smp"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const char *wrong = read_file(&p, cases[i].text);
        if (!wrong || strncmp(wrong, file_name, strlen(file_name)) != 0 || !strstr(wrong, cases[i].reason))
            fail_msg("'%s': %s", cases[i].text, wrong ? wrong : "accepted");
    }
    assert_non_null(strstr(pf_parameters_read_file(&p, "no/such"), "no/such: cannot read it"));
    assert_non_null(strstr(pf_parameters_read_file(&p, "/"), "/: cannot read it"));
}

/* Entries that are well formed and do not fit together. */
static void test_inconsistent(void **state)
{
    static const struct {
        const char *text, *reason;
    } cases[] = {
        {"time = 1 us; latency = 1 us", "time: cannot be combined with latency"},
        {"memory.time = 1 us; memory.bandwidth = 1 GB/s",
         "memory.time: cannot be combined with memory.bandwidth"},
        {"bandwidth = 1 GB/s; bandwidth_factor = 2", "bandwidth: cannot be combined with bandwidth_factor"},
        {"time[1 B] = 2 us; time[1 KiB] = 1 us", "a larger message must not be faster"},
        {"model = loggp; eager_max = 1 KiB", "entry 2: eager_max: model loggp sends everything at once"},
        {"link_latency = 1 us", "link_latency: the platform has its own links"},
        {"link_latency = 1 us; topology = platform", "link_latency: the platform has its own links"},
        {"topology = torus:2x2", "topology: link_latency and link_bandwidth are missing"},
        {"topology = torus:2x2; link_latency = 1 us", "topology: link_bandwidth is missing"},
        {"topology = torus:1x2", "entry 1: topology: torus:1x2 has 2 positions, 4 are needed"},
        {"topology = torus 2x2", "such as torus:16x8 for torus 8x16"},
        {"topology = taurus:2x2", "'taurus:2x2' is no topology, maybe torus?"},
        {"node.topology = mesh:1x1", "node.topology: mesh:1x1 has 1 positions, 2 are needed"},
        {"node.topology = mesh:2", "node.topology: node.link_latency is missing"},
        {"node.link_latency = 1 us", "has no meaning without node.topology"},
    };
    static const int nodes[] = {0, 1, 2, 3, 3};
    char why[600];
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_true(pf_config_set("analytic_set", cases[i].text));
        struct pf_cost *cost = pf_cost_new(5, nodes, NULL, NULL, NULL, why, sizeof why);
        if (cost || !strstr(why, cases[i].reason) || !strstr(why, "PARFOCAL_ANALYTIC_SET: entry"))
            fail_msg("'%s': %s", cases[i].text, cost ? "accepted" : why);
    }
    pf_config_set("analytic_set", "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_quantities),   cmocka_unit_test(test_quantities_come_back),
        cmocka_unit_test(test_file),         cmocka_unit_test(test_refused),
        cmocka_unit_test(test_inconsistent),
    };
    int descriptor = mkstemp(file_name);
    if (descriptor < 0)
        return 1;
    close(descriptor);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    unlink(file_name);
    return failed;
}
