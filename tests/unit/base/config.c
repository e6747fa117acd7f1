/* SPDX-License-Identifier: BSD-3-Clause */
/* Every row of the configuration table: its default lies in its range, and what lies outside is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/config.h"

static const struct row {
    const char *name, *type, *def, *range;
} rows[] = {
#define PF_CFG(type, field, def, unit, range, help) {#field, #type, #def, range},
#include "base/config.def"
#undef PF_CFG
};

#define ROW_COUNT (sizeof rows / sizeof rows[0])

static bool is(const struct row *row, const char *type)
{
    return strcmp(row->type, type) == 0;
}

/* A default as a user would write it: without the quotation marks of C. */
static const char *unquoted(const char *def, char *text, size_t size)
{
    snprintf(text, size, "%.*s", (int)strlen(def) - 2, def + 1);
    return text;
}

static void test_defaults(void **state)
{
    (void)state;
    for (size_t i = 0; i < ROW_COUNT; i++) {
        char text[80];
        if (!pf_config_set(rows[i].name,
                           is(&rows[i], "STR") ? unquoted(rows[i].def, text, sizeof text) : rows[i].def))
            fail_msg("the default of %s is not in its range", rows[i].name);
    }
}

static void refused(const struct row *row, const char *value)
{
    struct pf_config before = pf_config;
    if (pf_config_set(row->name, value))
        fail_msg("%s may be '%s'", row->name, value);
    assert_memory_equal(&before, &pf_config, sizeof before);
}

static void accepted(const struct row *row, double number)
{
    char text[40];
    snprintf(text, sizeof text, "%.17g", number);
    if (!pf_config_set(row->name, text))
        fail_msg("%s may not be '%s'", row->name, text);
}

static void test_numbers(void **state)
{
    (void)state;
    static const char *const no_numbers[] = {"",     "x",     "1x",  "nan", "inf",
                                             "-inf", "1e400", "1 2", "--1", "1e30"};
    for (size_t i = 0; i < ROW_COUNT; i++) {
        double least, most;
        if (is(&rows[i], "STR") || is(&rows[i], "BOOL"))
            continue;
        if (sscanf(rows[i].range, "%lf to %lf", &least, &most) != 2 || least >= most)
            fail_msg("%s has no range", rows[i].name);
        if (!is(&rows[i], "DOUBLE") && most + 1 > 9007199254740992.)
            fail_msg("%s: whole numbers are read as double, whose are exact to 2^53", rows[i].name);
        accepted(&rows[i], least);
        accepted(&rows[i], most);
        for (size_t j = 0; j < sizeof no_numbers / sizeof no_numbers[0]; j++)
            refused(&rows[i], no_numbers[j]);
        char text[40];
        snprintf(text, sizeof text, "%.17g", least - 1);
        refused(&rows[i], text);
        snprintf(text, sizeof text, "%.17g", 2 * most + 1);
        refused(&rows[i], text);
        if (!is(&rows[i], "DOUBLE"))
            refused(&rows[i], "64.5");
    }
}

static void test_words(void **state)
{
    (void)state;
    for (size_t i = 0; i < ROW_COUNT; i++) {
        bool limited = is(&rows[i], "BOOL") || (is(&rows[i], "STR") && *rows[i].range);
        if (!limited)
            continue;
        static const char *const wrong[] = {"perhaps", "n", "yesno", "cm|ob1", "|", " ", "-1", "2"};
        for (size_t j = 0; j < sizeof wrong / sizeof wrong[0]; j++)
            refused(&rows[i], wrong[j]);
        char words[100], *save;
        snprintf(words, sizeof words, "%s",
                 is(&rows[i], "BOOL") ? "yes|no|1|0|true|false|on|off" : rows[i].range);
        for (char *word = strtok_r(words, "|", &save); word; word = strtok_r(NULL, "|", &save))
            assert_true(pf_config_set(rows[i].name, word));
        assert_int_equal(pf_config_set(rows[i].name, ""), *rows[i].range == '|');
    }
}

/* What a process says that is given this; it must end with status 1. */
static void assert_says(const char *given, const char *name, const char *value, const char *expected)
{
    int ends[2], status;
    char text[300] = "";
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], STDERR_FILENO);
        pf_config_give(given, name, value);
        _exit(0);
    }
    close(ends[1]);
    for (size_t n = 0; n < sizeof text - 1;) {
        ssize_t more = read(ends[0], text + n, sizeof text - 1 - n);
        if (more <= 0)
            break;
        n += (size_t)more;
    }
    close(ends[0]);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 1 << 8);
    assert_string_equal(text, expected);
}

static void test_messages(void **state)
{
    (void)state;
    assert_says("PARFOCAL_NET_LOSS", "net_loss", "2",
                "parfocal: error: PARFOCAL_NET_LOSS: '2' is not a number from 0 to 1\n");
    assert_says("--cfg=parfocal/nic_tx_time", "NIC_TX_TIME", "-1",
                "parfocal: error: --cfg=parfocal/nic_tx_time: '-1' is not a number from 0 to 10 s\n");
    assert_says("PARFOCAL_PLATFORM_CORES", "platform_cores", "1.5",
                "parfocal: error: PARFOCAL_PLATFORM_CORES: '1.5' is not a whole number from 1 to 65536\n");
    assert_says("PARFOCAL_TABLE", "table", "perhaps",
                "parfocal: error: PARFOCAL_TABLE: 'perhaps' is not yes or no\n");
    assert_says("-agree", "agree", "x", "parfocal: error: -agree: 'x' is not one of: follow, strict\n");
    assert_says("PARFOCAL_OPENMPI_COLL", "openmpi_coll", "tuned",
                "parfocal: error: PARFOCAL_OPENMPI_COLL: 'tuned' is not one of: (nothing), portals4\n");
    assert_says("--cfg=parfocal/net_los", "net_los", "1",
                "parfocal: error: --cfg=parfocal/net_los: there is no setting 'net_los', maybe net_loss? "
                "(pfinfo -c lists all)\n");
}

static void test_given(void **state)
{
    (void)state;
    assert_string_equal(pf_config_given("model"), "model");
    pf_config_give("PARFOCAL_MODEL", "model", "smpi");
    assert_string_equal(pf_config_given("model"), "PARFOCAL_MODEL");
    pf_config_give("-model", "model", "portals");
    assert_string_equal(pf_config_given("model"), "-model");
    assert_string_equal(pf_config.model, "portals");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_defaults), cmocka_unit_test(test_numbers), cmocka_unit_test(test_words),
        cmocka_unit_test(test_messages), cmocka_unit_test(test_given),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
