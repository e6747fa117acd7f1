/* SPDX-License-Identifier: BSD-3-Clause */
/* The dynamic linker's functions for programs of which each rank has a copy that it does not know. */
#include "middleware/process/abi_linker.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "loader/elf_search.h"
#include "loader/image.h"
#include "middleware/process/abi.h"
#include "middleware/process/libc.h"
#include "middleware/process/libc_process.h"
#include "middleware/process/own_library.h"

/* Where the caller's own list of folders has it: the linker would look in ours. False: nowhere, or the name
 * is a path. */
static bool find(char *path, const struct pf_elf *caller, const char *name)
{
    return !strchr(name, '/') && caller && !pf_elf_search(path, getenv("LD_LIBRARY_PATH"), "", name) &&
           pf_elf_search(path, caller->search, caller->path, name);
}

static void *linker_open(const char *name, int flags)
{
    char path[PATH_MAX];
    void *program = pf_process_image(), *inside = NULL;
    if (program)
        inside = name ? pf_image_library(program, name) : program;
    if (inside || !program)
        return inside ? inside : pf_libc_dlopen(name, flags);
    bool found = find(path, pf_image_file(__builtin_return_address(0)), name) ||
                 (!strchr(name, '/') && pf_elf_search_system(path, name));
    return pf_libc_dlopen(found ? path : name, flags);
}

static int linker_close(void *handle)
{
    return pf_image_holds(handle) ? 0 : dlclose(handle);
}

/* A library of the copy has its own names and those of what it needs, the rest of the system among them. */
static void *linker_symbol(void *handle, const char *name)
{
    void *program = pf_process_image(), *value = NULL;
    bool inside = program && (handle == RTLD_DEFAULT || pf_image_holds(handle));
    if (inside && (value = pf_own_library_handle(name)))
        return value;
    if (inside)
        value = pf_image_symbol(handle == RTLD_DEFAULT ? program : handle, name);
    if (value || (inside && pf_abi_answer(name, &value)))
        return value;
    return pf_libc_dlsym(inside ? RTLD_DEFAULT : handle, name);
}

static void *linker_symbol_of_version(void *handle, const char *name, const char *version)
{
    (void)version; /* a program of one version of MPI, and the C library's latest functions */
    return linker_symbol(handle, name);
}

static int linker_address(const void *address, Dl_info *info)
{
    struct pf_image_place place;
    if (!pf_image_where(address, &place))
        return pf_libc_dladdr(address, info);
    const char *at = address;
    *info = (Dl_info){.dli_fname = place.file, .dli_fbase = (void *)(at - place.offset)};
    if (place.name) {
        info->dli_sname = place.name;
        info->dli_saddr = (void *)(at - place.beyond);
    }
    return 1;
}

void *pf_abi_linker(const char *name)
{
    static const struct {
        const char *name;
        void *function;
    } functions[] = {{"dlopen", (void *)linker_open},
                     {"dlclose", (void *)linker_close},
                     {"_dl_find_object", (void *)_dl_find_object}, /* loader/image.c */
                     {"dlsym", (void *)linker_symbol},
                     {"dlvsym", (void *)linker_symbol_of_version},
                     {"dladdr", (void *)linker_address},
                     {"backtrace_symbols", (void *)backtrace_symbols}, /* addresses without names */
                     {"backtrace_symbols_fd", (void *)backtrace_symbols_fd}};
    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++)
        if (strcmp(name, functions[i].name) == 0)
            return functions[i].function;
    return NULL;
}
