/* SPDX-License-Identifier: BSD-3-Clause */
/* Reading and renaming of shared objects: with this program itself, and with damaged copies of it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "loader/copy.h"
#include "loader/elf_file.h"

static struct pf_elf_name *find(struct pf_elf *elf, const char *text)
{
    for (int i = 0; i < elf->name_count; i++)
        if (strncmp(elf->names[i].text, text, strlen(text)) == 0)
            return &elf->names[i];
    return NULL;
}

static bool write_bytes(const struct pf_elf *elf, const char *path)
{
    const struct pf_copy copy = {.elf = elf, .path = path};
    int error = pf_copy_write(&copy);
    errno = error;
    return error == 0;
}

static bool read_object(struct pf_elf *elf, const char *path)
{
    if (pf_elf_read(elf, path) == PF_ELF_GOOD)
        return true;
    pf_elf_free(elf);
    return false;
}

static void reads_itself(void **state)
{
    struct pf_elf elf;
    (void)state;
    assert_true(read_object(&elf, "/proc/self/exe"));
    assert_non_null(find(&elf, "libcmocka.so"));
    assert_int_equal(find(&elf, "libcmocka.so")->kind, PF_ELF_NEEDED);
    assert_true(pf_elf_needs(&elf, "libcmocka.so"));
    assert_false(pf_elf_needs(&elf, "libno-such.so"));
    assert_true(elf.is_executable);
    assert_non_null(find(&elf, "libc.so.6"));
    assert_null(elf.soname);
    pf_elf_free(&elf);
}

/* A copy of cmocka's library under another name of the same length is another library for the dynamic
 * linker. */
static void renames_a_library(void **state)
{
    Dl_info info;
    struct pf_elf elf;
    char name[100], path[200], dir[] = "/tmp/pf-elf-XXXXXX";
    (void)state;
    assert_non_null(mkdtemp(dir));
    assert_int_not_equal(dladdr((void *)(uintptr_t)_cmocka_run_group_tests, &info), 0);
    assert_true(read_object(&elf, info.dli_fname));
    assert_non_null(elf.soname);
    snprintf(name, sizeof name, "%s", elf.soname);
    memcpy(name, "00042", 5);
    struct pf_elf_name *own = find(&elf, elf.soname);
    strcpy(own->text, name);
    assert_string_equal(elf.soname, name);
    snprintf(path, sizeof path, "%s/%s", dir, name);
    assert_true(write_bytes(&elf, path));
    assert_false(write_bytes(&elf, path)); /* it exists */
    void *copy = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
    assert_non_null(copy);
    assert_false(elf.is_executable);
    assert_ptr_equal(dlopen(name, RTLD_LAZY | RTLD_NOLOAD), copy);
    assert_ptr_not_equal(dlsym(copy, "_cmocka_run_group_tests"), (void *)(uintptr_t)_cmocka_run_group_tests);
    unlink(path);
    rmdir(dir);
    pf_elf_free(&elf);
}

static const char text[] __attribute__((used)) = "of no symbol";
extern const char pf_test_text[] __attribute__((visibility("default")));
const char pf_test_text[] = "the version";

/* What the file says of itself, not what is loaded. */
static void finds_symbols(void **state)
{
    struct pf_elf elf;
    (void)state;
    assert_true(read_object(&elf, "/proc/self/exe"));
    assert_string_equal(pf_elf_string(&elf, "pf_test_text"), "the version");
    assert_null(pf_elf_string(&elf, "text"));
    assert_null(pf_elf_string(&elf, "_cmocka_run_group_tests")); /* cmocka's */
    pf_elf_free(&elf);
}

/* Each fault has its own error. */
static void says_what_is_wrong(void **state)
{
    struct pf_elf elf;
    char path[] = "/tmp/pf-elf-XXXXXX";
    int fd = mkstemp(path);
    (void)state;
    assert_int_equal(pf_elf_read(&elf, "/nowhere/at/all"), PF_ELF_UNREADABLE);
    pf_elf_free(&elf);
    assert_int_equal(pf_elf_read(&elf, path), PF_ELF_EMPTY);
    pf_elf_free(&elf);
    assert_int_equal(pf_elf_read(&elf, "/etc/passwd"), PF_ELF_FOREIGN);
    pf_elf_free(&elf);
    assert_true(read_object(&elf, "/proc/self/exe"));
    assert_int_equal(write(fd, elf.bytes, elf.size), elf.size);
    pf_elf_free(&elf);
    assert_int_equal(pwrite(fd, "\1\0", 2, 18), 2); /* e_machine: an unused one */
    assert_int_equal(pf_elf_read(&elf, path), PF_ELF_MACHINE);
    pf_elf_free(&elf);
    assert_int_equal(truncate(path, 2000), 0);
    assert_int_equal(pf_elf_read(&elf, path), PF_ELF_MACHINE);
    pf_elf_free(&elf);
    close(fd);
    unlink(path);
}

/* Nothing outside the file is touched, whatever it says; valgrind and the sanitizers look on. */
static void survives_damage(void **state)
{
    struct pf_elf elf, read;
    char path[] = "/tmp/pf-elf-XXXXXX";
    int fd = mkstemp(path), good = 0;
    (void)state;
    assert_true(fd >= 0);
    close(fd);
    assert_false(read_object(&read, path)); /* empty */
    assert_false(read_object(&read, "/nowhere/at/all"));
    assert_true(read_object(&elf, "/proc/self/exe"));
    unsigned seed = 1;
    for (int i = 0; i < 300; i++) {
        struct pf_elf damaged = elf;
        damaged.bytes = malloc(elf.size);
        assert_non_null(damaged.bytes);
        memcpy(damaged.bytes, elf.bytes, elf.size);
        if (i % 3 == 0)
            damaged.size = elf.size * (size_t)(i + 1) / 301;
        for (int j = 0; j < 8; j++) {
            seed = seed * 1103515245u + 12345u;
            damaged.bytes[(seed >> 8) % 1024] = (char)(seed >> 3); /* headers */
        }
        unlink(path);
        assert_true(write_bytes(&damaged, path));
        if (read_object(&read, path)) {
            good++;
            for (int j = 0; j < read.name_count; j++)
                assert_true(read.names[j].text >= read.bytes && read.names[j].text < read.bytes + read.size);
            pf_elf_free(&read);
        }
        free(damaged.bytes);
    }
    assert_true(good < 300);
    unlink(path);
    pf_elf_free(&elf);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(reads_itself), cmocka_unit_test(renames_a_library),
                                       cmocka_unit_test(finds_symbols), cmocka_unit_test(says_what_is_wrong),
                                       cmocka_unit_test(survives_damage)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
