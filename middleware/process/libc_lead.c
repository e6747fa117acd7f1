/* SPDX-License-Identifier: BSD-3-Clause */
/* How a rank's program, and the libraries that it uses, are led to what the rank has of the C library. */
#include <dlfcn.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>

#include "base/child.h"
#include "loader/elf_file.h"
#include "loader/image.h"
#include "loader/imports.h"
#include "loader/libc.h"
#include "middleware/process/libc.h"
#include "middleware/process/libc_openmp.h"
#include "middleware/process/libc_process.h"

#define PF_IMPORT(name, how)                                                                                 \
    extern char pf_real_##name[] __asm__(#name) __attribute__((weak));                                       \
    extern char pf_own_##name[] __asm__("pf_libc_" #name) __attribute__((visibility("hidden")));
#include "middleware/process/imports.def"

#undef PF_IMPORT
#define PF_IMPORT(name, how) {#name, PF_PROGRAM_##how, pf_real_##name, pf_own_##name},
enum who { EVERYBODY, PROGRAMS, OPENMP };
#define PF_PROGRAM_rank    EVERYBODY
#define PF_PROGRAM_program PROGRAMS
#define PF_PROGRAM_openmp  OPENMP
#define PF_PROGRAM_path    EVERYBODY
#define PF_PROGRAM_opens   EVERYBODY
#define PF_PROGRAM_file    EVERYBODY
#define PF_PROGRAM_named   EVERYBODY
#define PF_PROGRAM_number  EVERYBODY
#define PF_PROGRAM_reads   EVERYBODY
#define PF_PROGRAM_writes  EVERYBODY
#define PF_PROGRAM_spawn   EVERYBODY
#define PF_PROGRAM_caught  EVERYBODY

struct import {
    const char *name;
    enum who who; /* is led: not libraries of the system, or callers of a library that may come later */
    void *real, *own;
};

static struct import imports[] = {
#include "middleware/process/imports.def"
};
enum { IMPORTS = sizeof imports / sizeof imports[0] };

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct import *)a)->name, ((const struct import *)b)->name);
}

static struct import *find_import(const char *name)
{
    static bool sorted;
    if (!sorted)
        qsort(imports, IMPORTS, sizeof imports[0], by_name);
    sorted = true;
    return bsearch(&(struct import){.name = name}, imports, IMPORTS, sizeof imports[0], by_name);
}

/* Is this the function meant by that import? */
static bool is_real(struct import *found, void *real)
{
    if (found->who == OPENMP && !found->real && real) {
        found->real = real;
        pf_openmp_found(real);
    }
    return found->real == real;
}

void *pf_process_import(const char *name, const void *real)
{
    struct import *found = find_import(name);
    return real && found && is_real(found, (void *)real) ? found->own : NULL;
}

/* The C library's variables. */
static void *variable(struct pf_process *p, const char *name)
{
    static const char *const streams[PF_STREAMS] = {"stdin", "stdout", "stderr"};
    for (int i = 0; i < PF_STREAMS; i++)
        if (strcmp(name, streams[i]) == 0) {
            pf_process_own(p, i);
            return &p->stream[i];
        }
    if (strncmp(name, "opt", 3) == 0) {
        void *const variables[] = {&p->optarg, &p->optind, &p->opterr, &p->optopt};
        static const char *const names[] = {"arg", "ind", "err", "opt"};
        for (int i = 0; i < 4; i++)
            if (strcmp(name + 3, names[i]) == 0)
                return variables[i];
    }
    return strncmp(name, "_ZSt", 4) == 0 ? pf_cxx_stream(p, name) : NULL;
}

struct lead {
    void *library;
    struct pf_process *p; /* NULL: all ranks' */
};

/* Clocks and waits of libraries of the system: what else is a rank's is in imports.def. */
#define PF_LIBC_own(name)
#define PF_LIBC_rank(name)
#define PF_LIBC_charged(name)                     PF_LIBC_ENTRY(name, pf_libc_)
#define PF_LIBC_ahead(name)                       PF_LIBC_ENTRY(name, pf_libc_)
#define PF_LIBC_unseen(name)                      PF_LIBC_ENTRY(name, pf_unseen_)
#define PF_LIBC_waits(name)                       PF_LIBC_ENTRY(name, pf_libc_)
#define PF_LIBC_warned(name)                      PF_LIBC_ENTRY(name, pf_libc_)
#define PF_LIBC(name, program, runtime, instance) PF_LIBC_##runtime(name)
static const struct pf_libc_function library_column[] = {
#include "loader/libc.def"
    {0}};

/* A function of this name that the program, or one of its libraries, defines is not the C library's. */
static bool lead_one(const char *name, bool undefined, const void *arg, void **value)
{
    const struct lead *lead = arg;
    if (!undefined)
        return false;
    struct import *found = find_import(name);
    if (found && (lead->p || found->who != PROGRAMS) && is_real(found, dlsym(lead->library, name)))
        *value = found->own;
    else
        *value = lead->p ? variable(lead->p, name) : pf_libc_find(library_column, name);
    return *value != NULL;
}

static const char *const variables[] = {"stdin",     "stdout",     "stderr",    "optarg",     "optind",
                                        "opterr",    "optopt",     "_ZSt4cout", "_ZSt3cin",   "_ZSt4cerr",
                                        "_ZSt4clog", "_ZSt5wcout", "_ZSt4wcin", "_ZSt5wcerr", "_ZSt5wclog"};

/* Functions are led when the image is made. Of a variable that an executable has in its own data there is one
 * for each rank already: the image's. */
static void lead_image(struct pf_process *p, void *loaded)
{
    for (size_t i = 0; i < sizeof variables / sizeof variables[0]; i++) {
        void *copied = pf_image_symbol(loaded, variables[i]);
        if (copied && i < PF_STREAMS)
            *(p->copied[i] = copied) = pf_process_own(p, (int)i);
        else if (copied)
            pf_cxx_place(p, variables[i], copied);
        else if (pf_image_imports(loaded, variables[i]))
            pf_image_replace(loaded, variables[i], variable(p, variables[i]));
    }
    struct pf_ends ends;
    ends.functions = pf_image_ends(loaded, &ends.count);
    pf_process_add_ends(p, ends);
}

/* What pf_elf_keep_ends() has left for the rank's end. */
static void lead_ends(struct pf_process *p, const struct link_map *map)
{
    struct pf_ends ends = {0};
    for (const ElfW(Dyn) *entry = map->l_ld; entry->d_tag != DT_NULL; entry++)
        if (entry->d_tag == PF_ELF_ENDS)
            ends.functions = (void (**)(void))(map->l_addr + entry->d_un.d_ptr);
        else if (entry->d_tag == PF_ELF_ENDS_SIZE)
            ends.count = entry->d_un.d_val / sizeof *ends.functions;
    if (ends.functions)
        pf_process_add_ends(p, ends);
}

void pf_process_lead(void *loaded)
{
    struct pf_process *p = pf_process();
    if (!p)
        return;
    pf_child_set_born(pf_process_child);
    if (pf_image_holds(loaded)) {
        lead_image(p, loaded);
        return;
    }
    lead_ends(p, loaded);
    pf_imports_replace(loaded, lead_one, &(struct lead){loaded, p});
}

void pf_process_lead_system(void *library)
{
    pf_imports_replace(library, lead_one, &(struct lead){library, NULL});
}

void pf_process_lead_at(const void *address)
{
    Dl_info info;
    struct link_map *map = NULL;
    if (!pf_process())
        return;
    if (pf_image_holds(address))
        pf_process_lead((void *)address);
    else if (dladdr1(address, &info, (void **)&map, RTLD_DL_LINKMAP))
        pf_process_lead(map);
}
