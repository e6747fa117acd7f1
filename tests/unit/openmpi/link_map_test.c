/* SPDX-License-Identifier: BSD-3-Clause */
/* While a clone is opened the linker's list shows its own rank's only; afterwards it is whole again. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "adapters/openmpi/clone.h"
#include "loader/link_map.h"
#include "base/config.h"

enum { RANKS = 4 };

static char directory[] = "/tmp/parfocal-test-XXXXXX";

static int set_up(void **state)
{
    (void)state;
    if (!mkdtemp(directory))
        return -1;
    pf_config_load();
    return pf_config_set("clone_dir", directory) ? 0 : -1;
}

static int tear_down(void **state)
{
    char command[128];
    (void)state;
    snprintf(command, sizeof command, "rm -rf %s", directory);
    return system(command);
}

static struct pf_family *library(const char *path)
{
    char why[512] = "";
    struct pf_family *elf = pf_family_open(path, why, sizeof why);
    assert_string_equal(why, "");
    return elf;
}

/* The rank of a clone, -1 of anything else. */
static int rank_of(const struct link_map *map)
{
    if (strncmp(map->l_name, directory, strlen(directory)) != 0)
        return -1;
    const char *slash = strrchr(map->l_name, '/');
    return (int)strtol(slash + 1, NULL, 10);
}

struct count {
    int others, clones[RANKS];
};

/* Walks the list in both directions: the links agree, and a rank's clones are side by side. */
static struct count look(void)
{
    struct count count = {0};
    const struct link_map *before = NULL;
    bool seen[RANKS] = {false};
    for (const struct link_map *map = _r_debug.r_map; map; before = map, map = map->l_next) {
        assert_ptr_equal(map->l_prev, before);
        int rank = rank_of(map);
        if (rank < 0) {
            count.others++;
            continue;
        }
        assert_in_range(rank, 0, RANKS - 1);
        if (!before || rank_of(before) != rank) {
            assert_false(seen[rank]);
            seen[rank] = true;
        }
        count.clones[rank]++;
    }
    return count;
}

static void expect(int others, int first, int second, int third)
{
    struct count count = look();
    assert_int_equal(count.others, others);
    assert_int_equal(count.clones[0], first);
    assert_int_equal(count.clones[1], second);
    assert_int_equal(count.clones[2], third);
}

static void load(struct pf_family *elf, int rank)
{
    char why[512] = "";
    void *handle = pf_clone_load(elf, rank, why, sizeof why);
    assert_string_equal(why, "");
    assert_non_null(handle);
}

static void the_list_is_whole_after_each_clone(void **state)
{
    (void)state;
    char why[512] = "";
    struct pf_family *pal = library(TEST_FIRST), *above = library(TEST_SECOND);
    assert_true(pf_clone_dir_open(1, why, sizeof why));
    load(pal, 0); /* brings the libraries that it needs, which are no clones */
    int others = look().others;
    expect(others, 1, 0, 0);
    load(pal, 1);
    expect(others, 1, 1, 0);
    load(above, 0); /* finds its rank's libopen-pal, in the first place of all */
    int more = look().others;
    assert_true(more >= others);
    expect(more, 2, 1, 0);
    load(pal, 2);
    load(above, 1); /* in the middle */
    load(above, 2); /* at the end */
    expect(more, 2, 2, 2);
    /* Something else comes and goes. The linker counts its list when it goes. */
    void *other = dlopen("libresolv.so.2", RTLD_LAZY);
    assert_non_null(other);
    struct pf_family *missing = library(TEST_THIRD);
    load(missing, 1);
    int with_other = look().others;
    assert_true(with_other > more);
    expect(with_other, 2, 3, 2);
    assert_int_equal(dlclose(other), 0);
    expect(look().others, 2, 3, 2);
    load(missing, 0);
    load(missing, 2);
    expect(look().others, 3, 3, 3);
    /* What is hidden, and what is not. */
    struct count all = look();
    pf_link_map_hide(1);
    expect(all.others, 0, 3, 0);
    pf_link_map_show(1, directory);
    pf_link_map_hide(3);
    expect(all.others, 0, 0, 0);
    pf_link_map_show(3, directory);
    expect(all.others, 3, 3, 3);
    pf_clone_dir_close();
    pf_family_close(missing);
    pf_family_close(above);
    pf_family_close(pal);
}

/* A file that cannot be loaded: the list is as before. */
static void a_refused_clone_changes_nothing(void **state)
{
    (void)state;
    struct count all = look();
    pf_link_map_hide(2);
    assert_null(dlopen("libpf-no-such-library.so", RTLD_LAZY));
    pf_link_map_show(2, directory);
    expect(all.others, all.clones[0], all.clones[1], all.clones[2]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_list_is_whole_after_each_clone),
                                       cmocka_unit_test(a_refused_clone_changes_nothing)};
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
