/* SPDX-License-Identifier: BSD-3-Clause */
/* Copies of a library in memory, which begin late. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "loader/copy.h"

enum { COPIES = 3 };

static int call(void *loaded, const char *name)
{
    int (*function)(void);
    *(void **)&function = dlsym(loaded, name);
    assert_non_null(function);
    return function();
}

/* A library that is mapped from its file: its code must be. */
static bool shares_code(const void *function)
{
    char line[4096];
    unsigned long from, to;
    bool shares = false;
    FILE *maps = fopen("/proc/self/maps", "r");
    while (maps && fgets(line, sizeof line, maps))
        if (sscanf(line, "%lx-%lx", &from, &to) == 2 && (uintptr_t)function >= from &&
            (uintptr_t)function < to)
            shares = strstr(line, TEST_LIBRARY) != NULL;
    if (maps)
        fclose(maps);
    return shares;
}

static void begins_late(void **state)
{
    struct pf_elf elf;
    void *loaded[COPIES];
    char name[COPIES][40], why[100];
    (void)state;
    assert_int_equal(pf_elf_read(&elf, TEST_LIBRARY), PF_ELF_GOOD);
    assert_true(pf_elf_keep_begin(&elf));
    for (int i = 0; i < COPIES; i++) {
        snprintf(name[i], sizeof name[i], "/nowhere/copy%d.so", i);
        const struct pf_copy copy = {.elf = &elf, .path = name[i], .flags = RTLD_LAZY, .of = TEST_LIBRARY};
        assert_int_equal(pf_copy_load(&copy, &loaded[i], why, sizeof why), PF_COPY_GOOD);
        assert_int_equal(call(loaded[i], "low_begun"), 0);
        pf_copy_begin(loaded[i]);
        assert_int_equal(call(loaded[i], "low_begun"), 1);
        assert_true(shares_code(dlsym(loaded[i], "low_begun")));
    }
    for (int i = 0; i < COPIES; i++) {
        int *count = dlsym(loaded[i], "low_count");
        assert_int_equal(*count, 40);
        assert_ptr_equal(*(int **)dlsym(loaded[i], "low_pointer"), count);
        *count = i;
        assert_ptr_equal(dlopen(name[i], RTLD_LAZY | RTLD_NOLOAD), loaded[i]);
    }
    for (int i = 0; i < COPIES; i++)
        assert_int_equal(dlclose(loaded[i]), 0);
    pf_elf_free(&elf);
}

/* Its functions are called when it is relocated, so its code must be there then. */
static void begins_as_usual(void **state)
{
    struct pf_elf elf;
    (void)state;
    assert_int_equal(pf_elf_read(&elf, TEST_CHOSEN), PF_ELF_GOOD);
    assert_false(pf_elf_keep_begin(&elf));
    pf_elf_free(&elf);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(begins_late), cmocka_unit_test(begins_as_usual)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
