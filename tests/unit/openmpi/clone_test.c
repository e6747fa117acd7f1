/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "adapters/openmpi/clone.h"
#include "adapters/openmpi/family.h"
#include "adapters/openmpi/job_limits.h"
#include "adapters/openmpi/parts.h"
#include "base/config.h"
#include "loader/copy.h"

/* Of Open MPI, and of its plugins, which some versions have inside their libraries. */
static const char *const libraries[] = {
#define X(name, file) TEST_LIBDIR "/" file,
    PF_OMPI_LIBRARIES(X)
#undef X
};
enum { LIBRARIES = sizeof libraries / sizeof libraries[0] };

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

/* What `readelf -d` says about a file, one line per name. */
static void dynamic_names(const char *path, char *text, size_t n)
{
    char command[PATH_MAX + 64];
    snprintf(command, sizeof command,
             "readelf -dW %s | sed -n 's/.*(\\(NEEDED\\|SONAME\\)).*\\[\\(.*\\)\\]/\\1 \\2/p'", path);
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    text[fread(text, 1, n - 1, pipe)] = 0;
    pclose(pipe);
}

static void write_clone(const char *source, int rank, char *path, size_t n)
{
    char why[256] = "";
    struct pf_family *member = pf_family_open(source, why, sizeof why);
    assert_string_equal(why, "");
    assert_non_null(member);
    snprintf(path, n, "%s/clone", directory);
    assert_true(pf_family_number(member, 7)); /* the last number counts */
    assert_true(pf_family_number(member, rank));
    const struct pf_copy copy = {.elf = &member->elf, .path = path, .replace = true};
    assert_int_equal(pf_copy_write(&copy), 0);
    struct stat original, written;
    assert_int_equal(stat(source, &original) | stat(path, &written), 0);
    assert_int_equal(original.st_size, written.st_size);
    pf_family_close(member);
}

static void names_of_libmpi_are_rewritten(void **state)
{
    char path[PATH_MAX], names[2048], expected[64];
    (void)state;
    write_clone(TEST_LIBDIR "/libmpi.so.40", 123, path, sizeof path);
    dynamic_names(path, names, sizeof names);
    assert_non_null(strstr(names, "SONAME libmpi.00123\n"));
    for (int i = 0; i < LIBRARIES - 1; i++) { /* the last is libmpi */
        const char *file = strrchr(libraries[i], '/') + 1;
        snprintf(expected, sizeof expected, "NEEDED %.*s.00123\n", (int)(strstr(file, ".so.") - file), file);
        assert_non_null(strstr(names, expected));
        assert_null(strstr(names, file));
    }
    assert_non_null(strstr(names, "NEEDED libc.so.6\n"));
    assert_null(strstr(names, "so.40"));
}

static void plugin_without_needs_gets_libmpi(void **state)
{
    char path[PATH_MAX], names[2048];
    (void)state;
    write_clone(TEST_PLUGIN_DIR "/mca_pml_ob1.so", 99999, path, sizeof path);
    dynamic_names(path, names, sizeof names);
    assert_non_null(strstr(names, "NEEDED libmpi.99999\n"));
    assert_null(strstr(names, "SONAME"));
}

static void rank_out_of_range_is_refused(void **state)
{
    char why[256];
    (void)state;
    struct pf_family *elf = pf_family_open(libraries[0], why, sizeof why);
    assert_non_null(elf);
    assert_false(pf_family_number(elf, PF_FAMILY_MAX_RANK + 1));
    assert_false(pf_family_number(elf, -1));
    pf_family_close(elf);
}

static void version_is_read_from_the_file(void **state)
{
    char why[256];
    (void)state;
    struct pf_family *elf = pf_family_open(TEST_LIBDIR "/libmpi.so.40", why, sizeof why);
    assert_non_null(elf);
    const char *version = pf_elf_string(&elf->elf, "ompi_version_string");
    assert_non_null(version);
    assert_non_null(strstr(version, PF_OMPI_VERSION));
    assert_null(pf_elf_string(&elf->elf, "no_such_symbol_here"));
    pf_family_close(elf);
}

/* Files that are no Open MPI library, cut short anywhere or spoilt: a reason, never a crash. */
static void bad_files_are_refused(void **state)
{
    char path[PATH_MAX], why[512];
    (void)state;
    assert_null(pf_family_open("/no/such/file", why, sizeof why));
    assert_non_null(strstr(why, "/no/such/file: No such file"));
    assert_null(pf_family_open("/etc/passwd", why, sizeof why));
    assert_non_null(strstr(why, "not a shared object"));
    FILE *source = fopen(TEST_SMALL, "r");
    assert_non_null(source);
    static char content[1 << 20];
    size_t size = fread(content, 1, sizeof content, source);
    fclose(source);
    snprintf(path, sizeof path, "%s/cut", directory);
    for (size_t length = 1; length < size; length += 61) {
        FILE *file = fopen(path, "w");
        fwrite(content, 1, length, file);
        fclose(file);
        struct pf_family *elf = pf_family_open(path, why, sizeof why);
        if (elf)
            pf_family_close(elf);
    }
    unsigned seed = 1;
    for (int i = 0; i < 300; i++) {
        static char spoilt[1 << 20];
        memcpy(spoilt, content, size);
        for (int k = 0; k < 40; k++)
            spoilt[(size_t)rand_r(&seed) % (i < 150 ? 1024 : size)] = (char)rand_r(&seed);
        FILE *file = fopen(path, "w");
        fwrite(spoilt, 1, size, file);
        fclose(file);
        struct pf_family *elf = pf_family_open(path, why, sizeof why);
        if (elf)
            pf_family_close(elf);
    }
    unlink(path);
}

static void loading_leaves_no_file(void **state)
{
    char why[512] = "", link[PATH_MAX];
    (void)state;
    assert_true(pf_clone_dir_open(1, why, sizeof why));
    struct pf_family *elf = pf_family_open(libraries[0], why, sizeof why);
    assert_non_null(elf);
    void *first = pf_clone_load(elf, 1, why, sizeof why), *second = pf_clone_load(elf, 2, why, sizeof why);
    assert_non_null(first);
    assert_non_null(second);
    /* Two libraries with data of their own. */
    assert_ptr_not_equal(dlsym(first, "opal_timer_base_get_usec"), dlsym(second, "opal_timer_base_get_usec"));
    snprintf(link, sizeof link, "%s/parfocal-clones.%ld", directory, (long)getpid());
    assert_int_equal(access(link, F_OK), 0);
    pf_clone_dir_close();
    assert_int_not_equal(access(link, F_OK), 0); /* it was empty */
    /* A plugin that is loaded late, after the directory is gone. */
    assert_non_null(pf_clone_load(elf, 3, why, sizeof why));
    assert_int_not_equal(access(link, F_OK), 0);
    pf_family_close(elf);
}

static void directories_of_the_dead_are_removed(void **state)
{
    char dead[PATH_MAX], file[PATH_MAX + 16], alive[PATH_MAX];
    (void)state;
    snprintf(dead, sizeof dead, "%s/parfocal-clones.999999", directory);
    snprintf(file, sizeof file, "%s/left", dead);
    snprintf(alive, sizeof alive, "%s/parfocal-clones.1", directory);
    assert_int_equal(mkdir(dead, 0700), 0);
    assert_int_equal(mkdir(alive, 0700), 0);
    close(open(file, O_CREAT | O_WRONLY, 0600));
    int lock = open(alive, O_RDONLY | O_DIRECTORY);
    assert_int_equal(flock(lock, LOCK_EX), 0);
    assert_int_equal(pf_clone_dir_sweep(directory), 1);
    assert_int_not_equal(access(dead, F_OK), 0);
    assert_int_equal(access(alive, F_OK), 0);
    close(lock);
    assert_int_equal(pf_clone_dir_sweep(directory), 1);
}

/* Another process has found our directory before we had its lock, and removes it; that takes a while. */
static void a_sweeper_is_waited_for(void **state)
{
    char path[PATH_MAX], why[512] = "";
    int ready[2], status;
    (void)state;
    snprintf(path, sizeof path, "%s/parfocal-clones.%ld", directory, (long)getpid());
    assert_int_equal(pipe(ready), 0);
    pid_t child = fork();
    if (child == 0) {
        int failed = mkdir(path, 0700);
        int lock = open(path, O_RDONLY | O_DIRECTORY);
        failed |= flock(lock, LOCK_EX) | (write(ready[1], "", 1) != 1);
        usleep(200000);
        _exit(failed | rmdir(path));
    }
    char byte;
    assert_int_equal(read(ready[0], &byte, 1), 1);
    if (!pf_clone_dir_open(1, why, sizeof why))
        fail_msg("%s", why);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    pf_clone_dir_close();
    assert_int_not_equal(access(path, F_OK), 0);
    close(ready[0]);
    close(ready[1]);
}

/* Runs a check in a child, whose limits and configuration can be spoilt; the child's message comes back. */
static void in_child(bool (*check)(char *why, size_t n), const char *expected)
{
    int ends[2];
    char why[600] = "";
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0) {
        bool good = check(why, sizeof why);
        if (good)
            snprintf(why, sizeof why, "no error");
        _exit(write(ends[1], why, strlen(why) + 1) < 0);
    }
    close(ends[1]);
    size_t length = 0;
    for (ssize_t got;
         length < sizeof why - 1 && (got = read(ends[0], why + length, sizeof why - 1 - length)) > 0;)
        length += (size_t)got;
    close(ends[0]);
    int status;
    waitpid(child, &status, 0);
    assert_int_equal(status, 0);
    assert_null(strchr(why, '\n'));
    if (!strstr(why, expected))
        fail_msg("expected '%s' in '%s'", expected, why);
}

static bool low_files(char *why, size_t n)
{
    struct rlimit limit = {40, 200};
    setrlimit(RLIMIT_NOFILE, &limit);
    /* 20 ranks fit after the soft limit has been raised, 64 do not. */
    if (!pf_limits_check(20, 1, why, n) || getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur != 200)
        return false;
    return pf_limits_check(64, 1, why, n);
}

static bool many_ranks(char *why, size_t n)
{
    return pf_limits_check(50, 1u << 30, why, n);
}

static bool no_libmpi(char *why, size_t n)
{
    pf_config_set("openmpi_libdir", "/nonexistent");
    return pf_parts_find(&pf_ompi_portals, why, n);
}

static bool no_plugins(char *why, size_t n)
{
    pf_config_set("openmpi_plugin_dir", "/nonexistent");
    return pf_parts_find(&pf_ompi_portals, why, n);
}

/* A folder with all of Open MPI's libraries but the last one. */
static bool make_libraries(const char *libdir)
{
    char command[1024];
    snprintf(command, sizeof command, "mkdir -p %s/openmpi3", libdir);
    bool good = system(command) == 0;
    for (int i = 0; i < LIBRARIES - 1 && good; i++) {
        snprintf(command, sizeof command, "ln -sf %s %s", libraries[i], libdir);
        good = system(command) == 0;
    }
    return good;
}

/* libmpi with another version number in it, without the other files of this version. */
static bool wrong_version(char *why, size_t n)
{
    char command[1024], libdir[64], version[32] = "", other[32] = ""; /* of one length */
    for (const char *c = PF_OMPI_VERSION; *c; c++) {
        snprintf(version + strlen(version), sizeof version - strlen(version), *c == '.' ? "\\." : "%c", *c);
        strcat(other, *c == '.' ? "." : "7");
    }
    snprintf(libdir, sizeof libdir, "%s/lib", directory);
    snprintf(command, sizeof command, "mkdir %s && sed 's/%s/%s/g' %s >%s/libmpi.so.40", libdir, version,
             other, libraries[LIBRARIES - 1], libdir);
    if (system(command) != 0)
        return true;
    pf_config_set("openmpi_libdir", libdir);
    return pf_parts_find(&pf_ompi_portals, why, n);
}

static bool missing_plugin(char *why, size_t n)
{
    char command[1024], libdir[64];
    snprintf(libdir, sizeof libdir, "%s/less", directory);
    snprintf(command, sizeof command,
             "ln -sf %s %s && ln -sf %s/*.so %s/openmpi3 && rm %s/openmpi3/mca_coll_tuned.so",
             libraries[LIBRARIES - 1], libdir, TEST_PLUGIN_DIR, libdir, libdir);
    if (!make_libraries(libdir) || system(command) != 0)
        return true;
    pf_config_set("openmpi_libdir", libdir);
    return pf_parts_find(&pf_ompi_portals, why, n);
}

static bool no_space(char *why, size_t n)
{
    return pf_clone_dir_open((size_t)1 << 60, why, n);
}

static bool no_directory(char *why, size_t n)
{
    pf_config_set("clone_dir", "/proc/nowhere");
    return pf_clone_dir_open(1, why, n);
}

static void what_is_missing_is_said_in_one_line(void **state)
{
    (void)state;
    in_child(low_files, "open files");
    in_child(many_ranks, "vm.max_map_count");
    in_child(no_libmpi, "install the Debian package " PF_OMPI_PACKAGE);
    in_child(no_plugins, "PARFOCAL_OPENMPI_PLUGIN_DIR");
    in_child(wrong_version, "built for " PF_OMPI_VERSION);
    in_child(no_space, "PARFOCAL_CLONE_DIR");
    in_child(no_directory, "PARFOCAL_CLONE_DIR");
}

static void a_missing_plugin_is_said_in_one_line(void **state)
{
    (void)state;
    in_child(missing_plugin, "mca_coll_tuned.so is missing: install the Debian package " PF_OMPI_PACKAGE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_of_libmpi_are_rewritten),
        cmocka_unit_test(rank_out_of_range_is_refused),
        cmocka_unit_test(version_is_read_from_the_file),
        cmocka_unit_test(bad_files_are_refused),
        cmocka_unit_test(loading_leaves_no_file),
        cmocka_unit_test(directories_of_the_dead_are_removed),
        cmocka_unit_test(a_sweeper_is_waited_for),
        cmocka_unit_test(what_is_missing_is_said_in_one_line),
    };
    const struct CMUnitTest of_plugins[] = {
        cmocka_unit_test(plugin_without_needs_gets_libmpi),
        cmocka_unit_test(a_missing_plugin_is_said_in_one_line),
    };
    int failed = cmocka_run_group_tests(tests, set_up, tear_down);
    strcpy(strrchr(directory, '-'), "-XXXXXX");
    return failed + (TEST_HAS_PLUGINS ? cmocka_run_group_tests(of_plugins, set_up, tear_down) : 0);
}
