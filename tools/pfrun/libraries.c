/* SPDX-License-Identifier: BSD-3-Clause */
#include "tools/pfrun/libraries.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "tools/pfrun/binary.h"

/* SMPI gives a copy a new name of the same length, whose first seven characters are the rank. */
#define MIN_NAME 7

/* Replaces $ORIGIN by the directory of the object that names it. */
static void expand(char *out, size_t size, const char *directory, int length, const char *origin)
{
    static const char *const words[] = {"$ORIGIN", "${ORIGIN}"};
    for (int i = 0; i < 2; i++) {
        int word = (int)strlen(words[i]);
        if (length >= word && strncmp(directory, words[i], (size_t)word) == 0) {
            snprintf(out, size, "%s%.*s", origin, length - word, directory + word);
            return;
        }
    }
    snprintf(out, size, "%.*s", length, directory);
}

/* Looks a library up in a list of directories. The result keeps the library's name, also where that is a
 * link: SMPI looks for it in the application. */
static bool search(char *out, const char *list, const char *origin, const char *name)
{
    while (list && *list) {
        char directory[PATH_MAX], absolute[PATH_MAX];
        int length = (int)strcspn(list, ":");
        expand(directory, sizeof directory, list, length, origin);
        if (length && realpath(directory, absolute) &&
            snprintf(out, PATH_MAX, "%s/%s", absolute, name) < PATH_MAX && access(out, R_OK) == 0)
            return true;
        list += length + (list[length] == ':');
    }
    return false;
}

/* In the order of the dynamic linker. A library that is only in the system's own directories was not built
 * for Parfocal. */
static bool find_library(char *out, const struct binary_facts *user, const char *origin, const char *name)
{
    if (strchr(name, '/'))
        return false; /* a path cannot be renamed */
    return search(out, getenv("LD_LIBRARY_PATH"), origin, name) || search(out, user->search, origin, name) ||
           search(out, "/usr/local/lib", origin, name);
}

static bool is_ours(const char *name)
{
    return strncmp(name, "libparfocal.so", 14) == 0 || strncmp(name, "libportals.so", 13) == 0 ||
           strncmp(name, "libsimgrid.so", 13) == 0;
}

static void origin_of(char *out, const char *path)
{
    if (!realpath(path, out))
        snprintf(out, PATH_MAX, "%s", path);
    char *slash = strrchr(out, '/');
    if (slash)
        *slash = 0;
}

/* SMPI renames what the application itself needs, and not what its libraries need of each other. */
static void warn_about_nested(const char *library, const struct binary_facts *facts)
{
    char origin[PATH_MAX], path[PATH_MAX];
    origin_of(origin, library);
    for (int i = 0; i < facts->needed_count; i++) {
        struct binary_facts inner = {0};
        if (is_ours(facts->needed[i]) || !find_library(path, facts, origin, facts->needed[i]))
            continue;
        binary_read(path, &inner);
        if (inner.parfocal)
            pf_warn("the globals of '%s' are shared by all ranks in what '%s' uses of them; link the two "
                    "into one "
                    "library",
                    path, library);
        binary_forget(&inner);
    }
}

static void append(char **list, const char *path)
{
    char *longer;
    if (asprintf(&longer, "%s%s%s", *list ? *list : "", *list ? ";" : "", path) < 0)
        pf_die("out of memory");
    free(*list);
    *list = longer;
}

char *libraries_to_privatize(const char *application)
{
    struct binary_facts facts;
    char origin[PATH_MAX], path[PATH_MAX], *list = NULL;
    binary_read(application, &facts);
    origin_of(origin, application);
    for (int i = 0; i < facts.needed_count; i++) {
        struct binary_facts library = {0};
        const char *name = facts.needed[i];
        if (is_ours(name) || !find_library(path, &facts, origin, name))
            continue;
        binary_read(path, &library);
        if (library.parfocal && strlen(name) < MIN_NAME)
            pf_die("the name of the library '%s' is too short to give each rank its own; rename it", name);
        if (library.parfocal) {
            append(&list, path);
            warn_about_nested(path, &library);
        }
        binary_forget(&library);
    }
    binary_forget(&facts);
    return list;
}
