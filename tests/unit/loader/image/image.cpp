/* SPDX-License-Identifier: BSD-3-Clause */
/* Libraries as one image: each copy has its own data, and what the dynamic linker would have done is done. */
#include <csetjmp>
#include <cstdarg>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>

extern "C" { /* whose headers do not say so */
#include <cmocka.h>
#include "loader/copy.h"
}
#include "loader/image.h"

enum { COPIES = 3 };

static pf_elf low, high;
static pf_image *image;
static const char *const inner[] = {"high_add", "calls_step", nullptr};

static int answer()
{
    return 77;
}

/* Of the calls that leave the image one is led to the test. */
static bool find_own(const char *name, bool undefined, const void *arg, void **value)
{
    *value = reinterpret_cast<void *>(answer);
    return undefined && !arg && strcmp(name, "getppid") == 0;
}

static void read(pf_elf *elf, const char *name)
{
    std::string path = std::string(TEST_LIBRARIES "/") + name;
    assert_int_equal(pf_elf_read(elf, path.c_str()), PF_ELF_GOOD);
}

static pf_image *make(const pf_elf *first, const pf_elf *second, char *why, size_t n)
{
    const pf_elf *files[] = {first, second};
    pf_image_plan plan = {files,   second ? 2 : 1, COPIES, pf_copy_flags(), false,   find_own, nullptr,
                          nullptr, nullptr,        inner,  nullptr,         nullptr, 0,        0};
    return pf_image_make(&plan, why, n);
}

template <typename F> static F *function(void *loaded, const char *name)
{
    auto *found = reinterpret_cast<F *>(pf_copy_symbol(loaded, name));
    assert_non_null(reinterpret_cast<void *>(found));
    return found;
}

static int set_up(void **state)
{
    char why[300] = "";
    (void)state;
    read(&low, "libimagelow.so");
    read(&high, "libimagehigh.so");
    image = make(&low, &high, why, sizeof why);
    if (!image)
        fprintf(stderr, "%s\n", why);
    return image ? 0 : 1;
}

static int tear_down(void **state)
{
    (void)state;
    pf_image_free(image);
    pf_elf_free(&low);
    pf_elf_free(&high);
    return 0;
}

static void each_copy_has_its_own_data(void **state)
{
    (void)state;
    int (*add[COPIES])(int);
    for (int copy = COPIES - 1; copy >= 0; copy--) {
        void *first = pf_image_open(image, copy, &low);
        assert_int_equal(function<int()>(first, "low_begun")(), 1);
        assert_ptr_equal(pf_image_open(image, copy, &low), first); /* and is not initialised again */
        void *second = pf_image_open(image, copy, &high);
        assert_int_equal(function<int()>(first, "low_begun")(), 1);
        assert_int_equal(function<int()>(second, "high_seen")(), 2);
        assert_int_equal(function<int()>(second, "low_weak")(), 1);
        assert_ptr_equal(**static_cast<FILE ***>(pf_copy_symbol(first, "low_output")), stdout);
        add[copy] = function<int(int)>(second, "high_add");
    }
    for (int copy = 0; copy < COPIES; copy++)
        assert_int_equal(add[copy](copy + 1), 41 + copy);
    for (int copy = 0; copy < COPIES; copy++)
        assert_int_equal(add[copy](0), 41 + copy);
    assert_null(pf_image_open(image, COPIES, &low));
}

static void calls_lead_where_they_are_led(void **state)
{
    (void)state;
    void *first = pf_image_open(image, 0, &low), *second = pf_image_open(image, 1, &low);
    assert_int_equal(function<int()>(first, "low_asks")(), 77);
    assert_int_equal(pf_imports_replace_one(first, "low_value", reinterpret_cast<void *>(answer)), 1);
    assert_int_equal(function<int()>(first, "low_calls")(), 77);
    assert_int_equal(function<int()>(second, "low_calls")(), 1);
    void *above = pf_image_open(image, 0, &high);
    assert_int_equal(function<int()>(above, "high_calls")(), 1); /* its calls are its own */
    assert_int_equal(function<int()>(first, "low_both")(), 1);
    assert_int_equal(function<int()>(above, "high_both")(), 2);
    assert_int_equal(pf_imports_replace_one(first, "high_add", nullptr), 0);
    assert_null(pf_copy_symbol(first, "high_add")); /* which it does not need */
    assert_null(pf_copy_symbol(first, "no such thing"));
    assert_true(pf_image_holds(first));
    assert_false(pf_image_holds(image));
}

/* Of a library that was linked with -Bsymbolic-functions. */
static void references_to_itself_are_led(void **state)
{
    char why[300] = "";
    pf_elf calls;
    (void)state;
    read(&calls, "libloadercalls.so");
    pf_image *alone = make(&calls, nullptr, why, sizeof why);
    assert_non_null(alone);
    void *first = pf_image_open(alone, 0, &calls), *second = pf_image_open(alone, 1, &calls);
    assert_int_equal(function<int(int)>(first, "calls_twice")(10), 11 + 21);
    assert_int_equal(pf_imports_replace_one(first, "calls_step", reinterpret_cast<void *>(answer)), 1);
    assert_int_equal(function<int(int)>(first, "calls_twice")(10), 77 + 77);
    assert_int_equal(function<int(int)>(first, "calls_last")(10), 77);
    assert_int_equal(function<int(int)>(first, "calls_step")(10), 11); /* which itself stays */
    assert_int_equal(function<int(int)>(second, "calls_last")(10), 31);
    pf_image_free(alone);
    pf_elf_free(&calls);
}

static void throw_it(void *what)
{
    throw what;
}

static void exceptions_pass(void **state)
{
    for (int copy = 0; copy < COPIES; copy++) {
        auto *visit = function<void(void (*)(void *), void *)>(pf_image_open(image, copy, &low), "low_visit");
        bool caught = false;
        try {
            visit(throw_it, state);
        } catch (void *what) {
            caught = what == state;
        }
        assert_true(caught);
    }
}

static void places_have_names(void **state)
{
    pf_image_place place;
    auto *visit = static_cast<char *>(pf_copy_symbol(pf_image_open(image, 2, &low), "low_visit"));
    assert_true(pf_image_where(visit + 1, &place));
    assert_string_equal(place.file, low.path);
    assert_string_equal(place.name, "low_visit");
    assert_int_equal(place.beyond, 1);
    assert_false(pf_image_where(state, &place));
}

/* One more mapping for each copy, however many libraries there are. */
static void a_copy_is_one_mapping(void **state)
{
    (void)state;
    int maps = 0;
    std::ifstream file("/proc/self/maps");
    for (int copy = 0; copy < COPIES; copy++)
        pf_image_open(image, copy, &high);
    for (std::string line; std::getline(file, line);)
        maps += line.find("parfocal-image") != std::string::npos;
    assert_in_range(maps, 1, COPIES);
}

static void each_copy_has_its_own_thread_local_variables(void **state)
{
    (void)state;
    pf_elf elf;
    char why[300] = "";
    read(&elf, "libimagelocal.so");
    pf_image *locals = make(&elf, nullptr, why, sizeof why);
    print_message("%s\n", why);
    assert_non_null(locals);
    for (int copy = 0; copy < COPIES; copy++) {
        void *loaded = pf_image_open(locals, copy, &elf);
        for (int i = 0; i < 3; i++) {
            assert_int_equal(function<int()>(loaded, "local_count")(), 41 + i);
            assert_int_equal(function<int()>(loaded, "local_zeroes")(), 1 + i);
            assert_int_equal(function<int()>(loaded, "local_target")(), 5 + i);
        }
    }
    pf_image_free(locals);
    pf_elf_free(&elf);
}

static void what_takes_more_is_refused(void **state)
{
    const struct {
        const char *file, *why;
    } cases[] = {{"libimagethread.so", "has relocations of the type"},
                 {"libimagechosen.so", "has symbols that are resolved when it is loaded"},
                 {"libimagemissing.so", "nothing defines of_nobody"}};
    (void)state;
    for (const auto &one : cases) {
        pf_elf elf;
        char why[300] = "";
        read(&elf, one.file);
        assert_null(make(&elf, nullptr, why, sizeof why));
        print_message("%s\n", why);
        assert_non_null(strstr(why, one.why));
        pf_elf_free(&elf);
    }
    char why[300] = "";
    assert_null(make(&high, &low, why, sizeof why)); /* in the wrong order */
    assert_non_null(strstr(why, "comes after it"));
}

int main()
{
    const CMUnitTest tests[] = {
        cmocka_unit_test(each_copy_has_its_own_data),
        cmocka_unit_test(calls_lead_where_they_are_led),
        cmocka_unit_test(references_to_itself_are_led),
        cmocka_unit_test(exceptions_pass),
        cmocka_unit_test(places_have_names),
        cmocka_unit_test(a_copy_is_one_mapping),
        cmocka_unit_test(each_copy_has_its_own_thread_local_variables),
        cmocka_unit_test(what_takes_more_is_refused),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
