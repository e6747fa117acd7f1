/* SPDX-License-Identifier: BSD-3-Clause */
/* Looks for libraries as the dynamic linker does. */
#include "loader/elf_search.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <uthash.h>

#include "base/memory.h"

/* One directory of a search list, with $ORIGIN replaced; false if it is empty or too long. */
static bool directory(char *out, const char *list, int length, const char *origin)
{
    static const char *const words[] = {"$ORIGIN", "${ORIGIN}"};
    for (int i = 0; i < 2; i++) {
        int word = (int)strlen(words[i]);
        if (length >= word && strncmp(list, words[i], (size_t)word) == 0) {
            const char *slash = strrchr(origin, '/');
            int kept = slash ? (int)(slash - origin) : 1;
            return snprintf(out, PATH_MAX, "%.*s%.*s", kept, slash ? origin : ".", length - word,
                            list + word) < PATH_MAX;
        }
    }
    return length && snprintf(out, PATH_MAX, "%.*s", length, list) < PATH_MAX;
}

bool pf_elf_search(char *out, const char *list, const char *origin, const char *name)
{
    for (; list && *list; list += strcspn(list, ":"), list += *list == ':') {
        char dir[PATH_MAX];
        if (directory(dir, list, (int)strcspn(list, ":"), origin) &&
            snprintf(out, PATH_MAX, "%s/%s", dir, name) < PATH_MAX && access(out, R_OK) == 0)
            return true;
    }
    return false;
}

bool pf_elf_search_system(char *out, const char *name)
{
    static const char folders[] =
        "/lib/x86_64-linux-gnu:/usr/lib/x86_64-linux-gnu:/lib64:/usr/lib64:/lib:/usr/lib";
    return pf_elf_search(out, folders, "", name);
}

bool pf_elf_search_needed(char *out, const struct pf_elf *elf, const char *name)
{
    return !strchr(name, '/') &&
           (pf_elf_search(out, getenv("LD_LIBRARY_PATH"), elf->path, name) ||
            pf_elf_search(out, elf->search, elf->path, name) ||
            pf_elf_search(out, "/usr/local/lib", elf->path, name) || pf_elf_search_system(out, name));
}

/* A library that has been looked at, or is being looked at: it may need itself in a circle. */
struct seen {
    bool reaches;
    UT_hash_handle hh;
    char path[];
};

static bool library_reaches(const char *path, bool (*is)(const struct pf_elf *elf))
{
    static struct seen *all;
    struct seen *one;
    struct pf_elf elf;
    HASH_FIND_STR(all, path, one);
    if (one)
        return one->reaches;
    one = pf_calloc(1, sizeof *one + strlen(path) + 1);
    strcpy(one->path, path);
    HASH_ADD_STR(all, path, one);
    one->reaches = pf_elf_read(&elf, path) == PF_ELF_GOOD && pf_elf_reaches(&elf, is);
    pf_elf_free(&elf);
    return one->reaches;
}

bool pf_elf_reaches(const struct pf_elf *elf, bool (*is)(const struct pf_elf *elf))
{
    bool reaches = is(elf);
    for (int i = 0; i < elf->name_count && !reaches; i++) {
        char path[PATH_MAX];
        reaches = elf->names[i].kind == PF_ELF_NEEDED &&
                  pf_elf_search_needed(path, elf, elf->names[i].text) && library_reaches(path, is);
    }
    return reaches;
}
