/* SPDX-License-Identifier: BSD-3-Clause */
/* Direct calls inside a library, and the function that they went to. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <dlfcn.h>
#include <sys/mman.h>

#include "loader/calls.h"
#include "loader/imports.h"

static int (*step)(int value), (*twice)(int value), (*last)(int value);

static int ours(int value)
{
    return 100 * step(value);
}

/* As when other libraries fill what follows. */
static void fill_what_follows(const void *library)
{
    enum { STEP = 1 << 20 };
    for (uintptr_t i = 1; i <= 1000; i++)
        mmap((void *)(((uintptr_t)library & ~(uintptr_t)(STEP - 1)) + i * STEP), 2, PROT_NONE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
}

static void test_calls(void **state)
{
    (void)state;
    void *library = dlopen(TEST_LIBRARY, RTLD_NOW | RTLD_LOCAL);
    assert_non_null(library);
    step = (int (*)(int))dlsym(library, "calls_step");
    twice = (int (*)(int))dlsym(library, "calls_twice");
    last = (int (*)(int))dlsym(library, "calls_last");
    assert_int_equal(twice(10), 11 + 21);
    assert_int_equal(pf_imports_replace_one(library, "calls_step", (void *)ours), 0);
    assert_int_equal(twice(10), 11 + 21);
    fill_what_follows((void *)step);
    assert_int_equal(pf_calls_replace(library, (void *)step, (void *)ours), 3);
    assert_int_equal(twice(10), 1100 + 2100);
    assert_int_equal(last(10), 3100);
    assert_int_equal(step(10), 11);
    assert_int_equal(pf_calls_replace(library, (void *)step, (void *)ours), 0);
    dlclose(library);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_calls)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
