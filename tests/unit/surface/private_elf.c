/* SPDX-License-Identifier: BSD-3-Clause */
/* Reading and renaming of shared objects: with this program itself, and with damaged copies of it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "middleware/process/private_elf.h"

static struct pf_elf_name *find(struct pf_elf *elf, const char *text)
{
    for (int i = 0; i < elf->name_count; i++)
        if (strncmp(elf->names[i].text, text, strlen(text)) == 0)
            return &elf->names[i];
    return NULL;
}

static void reads_itself(void **state)
{
    struct pf_elf elf;
    (void)state;
    assert_true(pf_elf_read(&elf, "/proc/self/exe"));
    assert_non_null(find(&elf, "libcmocka.so"));
    assert_true(find(&elf, "libcmocka.so")->needed);
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
    assert_true(pf_elf_read(&elf, info.dli_fname));
    assert_non_null(elf.soname);
    snprintf(name, sizeof name, "%s", elf.soname);
    memcpy(name, "00042", 5);
    struct pf_elf_name *own = find(&elf, elf.soname);
    strcpy(own->text, name);
    assert_string_equal(elf.soname, name);
    snprintf(path, sizeof path, "%s/%s", dir, name);
    assert_true(pf_elf_write(&elf, path));
    assert_false(pf_elf_write(&elf, path)); /* it exists */
    void *copy = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
    assert_non_null(copy);
    assert_ptr_equal(dlopen(name, RTLD_LAZY | RTLD_NOLOAD), copy);
    assert_ptr_not_equal(dlsym(copy, "_cmocka_run_group_tests"), (void *)(uintptr_t)_cmocka_run_group_tests);
    unlink(path);
    rmdir(dir);
    pf_elf_free(&elf);
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
    assert_false(pf_elf_read(&read, path)); /* empty */
    assert_false(pf_elf_read(&read, "/nowhere/at/all"));
    assert_true(pf_elf_read(&elf, "/proc/self/exe"));
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
        assert_true(pf_elf_write(&damaged, path));
        if (pf_elf_read(&read, path)) {
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
                                       cmocka_unit_test(survives_damage)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
