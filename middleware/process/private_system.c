/* SPDX-License-Identifier: BSD-3-Clause */
/* Which libraries of the system each rank has a copy of, and how it is opened. */
#include "middleware/process/private_system.h"

#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/config.h"
#include "base/log.h"
#include "base/memory.h"
#include "middleware/process/libc_process.h"
#include "middleware/process/private_fortran.h"

/* What `pfcc -private libNAME` defines in a program: a symbol of this beginning and the library's name. */
static const char noted[] = "pf_private_";

/* One that was asked for: libNAME, with or without ".so" and a version. */
struct asked {
    const char *name;
    bool met; /* a library has that name, or its absence was reported */
};

static struct asked *all;
static int count;

static bool begins(const char *name, const char *with)
{
    return strncmp(name, with, strlen(with)) == 0;
}

/* There is one of each for all callers. */
static bool exists_once(const char *name)
{
    static const char *const names[] = {"libc.",       "libpthread", "ld-linux",  "libgcc_s",
                                        "libstdc++",   "libasan",    "libubsan",  "libgomp",
                                        "libparfocal", "libportals", "libsimgrid"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (begins(name, names[i]))
            return true;
    return strcmp(name, "libc") == 0;
}

static void ask(const char *name, const char *by)
{
    if (!begins(name, "lib") || strlen(name) < 4 || strchr(name, '/'))
        pf_die("%s: '%s' is no name of a library, such as libpython3.11", by, name);
    if (exists_once(name))
        pf_die("%s: %s exists once in the process, and no rank can have a copy", by, name);
    all = pf_reallocarray(all, (size_t)count + 1, sizeof *all);
    all[count++] = (struct asked){.name = name};
}

static bool ask_noted(char *name, size_t address, size_t size, const void *arg)
{
    (void)address, (void)size, (void)arg;
    if (begins(name, noted))
        ask(pf_strdup(name + sizeof noted - 1), "pfcc -private");
    return false;
}

void pf_private_system_ask(const struct pf_elf *program)
{
    char *left = pf_strdup(pf_config.private), *rest = left;
    for (const char *name; (name = strsep(&rest, ","));)
        if (*name)
            ask(pf_strdup(name), "PARFOCAL_PRIVATE");
    free(left);
    pf_elf_symbols(program, ask_noted, NULL);
}

bool pf_private_system_is(const char *name)
{
    bool is = pf_fortran_runtime_is(name);
    for (int i = 0; i < count; i++) {
        size_t length = strlen(all[i].name);
        if (!begins(name, all[i].name) ||
            (name[length] && name[length] != '.' && !begins(name + length, ".so")))
            continue;
        all[i].met = is = true;
    }
    return is;
}

const char *pf_private_system_unused(void)
{
    for (int i = 0; i < count; i++)
        if (!all[i].met) {
            all[i].met = true;
            return all[i].name;
        }
    return NULL;
}

bool pf_private_system_find(char path[PATH_MAX], const char *name)
{
    struct link_map *map = dlopen(name, RTLD_LAZY | RTLD_LOCAL);
    if (!map)
        return false;
    bool fits = snprintf(path, PATH_MAX, "%s", map->l_name) < PATH_MAX;
    dlclose(map);
    return fits;
}

static void *open_led(const char *path, int flags)
{
    void *handle = dlopen(path, flags);
    if (handle)
        pf_process_lead(handle);
    return handle;
}

pf_private_system_open *pf_private_system_opener(const char *name)
{
    if (pf_fortran_runtime_is(name))
        return pf_fortran_runtime_open;
    return pf_private_system_is(name) ? open_led : NULL;
}
