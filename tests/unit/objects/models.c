/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of models: all pairs of a stack and a network, by their names and as STACK:NETWORK. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "adapters/adapter.h"
#include "adapters/model.h"

static enum pf_model parsed(const char *name)
{
    enum pf_model model = PF_MODEL_NONE;
    return pf_model_parse(name, strlen(name), &model) ? model : PF_MODEL_NONE;
}

static void pairs(void **state)
{
    static const char *const stacks[] = {"portals", "ucx", "mpich"};
    static const enum pf_impl impls[] = {PF_IMPL_OPENMPI, PF_IMPL_UCX, PF_IMPL_MPICH};
    static const char *const networks[] = {"ideal", "flow", "packet", "external"};
    int next = PF_MODEL_SMPI + 1;
    (void)state;
    for (size_t n = 0; n < sizeof networks / sizeof networks[0]; n++)
        for (size_t s = 0; s < sizeof stacks / sizeof stacks[0]; s++) {
            char pair[40];
            snprintf(pair, sizeof pair, "%s:%s", stacks[s], networks[n]);
            enum pf_model model = parsed(pair);
            assert_int_equal(model, next++);
            assert_int_equal(pf_model_impl(model), impls[s]);
            assert_string_equal(pf_model_network(model), networks[n]);
        }
    assert_int_equal(next, PF_MODEL_COUNT);
}

static void names(void **state)
{
    static const char *const same[][2] = {
        {"portals", "portals:flow"},  {"portals-ideal", "portals:ideal"},
        {"packet", "portals:packet"}, {"external", "portals:external"},
        {"ucx", "ucx:flow"},          {"mpich", "mpich:flow"},
        {"ucx:packet", "ucx:packet"}, {"mpich:ideal", "mpich:ideal"},
        {"analytic", "analytic"},     {"smpi", "smpi"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof same / sizeof same[0]; i++) {
        assert_int_not_equal(parsed(same[i][0]), PF_MODEL_NONE);
        assert_int_equal(parsed(same[i][0]), parsed(same[i][1]));
        assert_string_equal(pf_model_name(parsed(same[i][1])), same[i][0]);
    }
    for (enum pf_model a = 0; a < PF_MODEL_COUNT; a++) {
        assert_int_equal(parsed(pf_model_name(a)), a);
        assert_non_null(strstr(pf_model_list(), pf_model_name(a)));
        for (enum pf_model b = 0; b < a; b++)
            assert_int_not_equal(pf_model_colour(a), pf_model_colour(b));
    }
}

static void others(void **state)
{
    static const char *const wrong[] = {
        "",           "ucx:",        ":flow",           "smpi:flow", "analytic:packet", "flow", "ucx:portals",
        "packet:ucx", "packet:flow", "ucx:packet:flow", "UCX:packet"};
    enum pf_model model;
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        assert_int_equal(parsed(wrong[i]), PF_MODEL_NONE);
    assert_true(pf_model_parse("ucx:packet|smpi", strlen("ucx:packet"), &model));
    assert_string_equal(pf_model_name(model), "ucx:packet");
    assert_string_equal(pf_model_suggest("ucx:packt"), "ucx:packet");
    assert_string_equal(pf_model_suggest("portal:packet"), "portals:packet");
    assert_string_equal(pf_model_suggest("mpch"), "mpich");
    assert_null(pf_model_suggest("openfabrics"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pairs),
        cmocka_unit_test(names),
        cmocka_unit_test(others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
