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
#include "loader/image.h"
#include "loader/imports.h"
#include "middleware/compute/compute.h"
#include "middleware/core/job_state.h"
#include "middleware/process/libc.h"
#include "middleware/process/libc_environment.h"
#include "middleware/process/libc_process.h"
#include "middleware/process/own_library.h"
#include "middleware/process/private_fortran.h"

/* What `pfcc -private libNAME` defines in a program: a symbol of this beginning and the library's name. */
static const char noted[] = "pf_private_";

/* One that was asked for: libNAME, with or without ".so" and a version. */
struct asked {
    const char *name;
    bool met; /* a library has that name */
    struct found {
        char *name, *path;
        struct found *next;
    } * found; /* such libraries: copies that are open have the same names for the dynamic linker */
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
    for (int i = 0; i < count; i++)
        if (strcmp(all[i].name, name) == 0)
            return; /* by another program of the job */
    all = pf_reallocarray(all, (size_t)count + 1, sizeof *all);
    all[count++] = (struct asked){.name = name};
}

static bool ask_noted(char *name, size_t address, size_t size, const void *arg)
{
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

bool pf_private_system_any(void)
{
    return count > 0;
}

static struct asked *find_asked(const char *name)
{
    for (int i = 0; i < count; i++) {
        size_t length = strlen(all[i].name);
        if (begins(name, all[i].name) && (!name[length] || name[length] == '.'))
            return &all[i];
    }
    return NULL;
}

/* Tables that are computed once, memory that was set aside, counters of objects; libevent_* is Open MPI's. */
static const char *const harmless[] = {
    "ld-linux",     "libc.",       "libm.",        "libmvec.",    "libdl.",
    "librt.",       "libpthread.", "libgcc_s.",    "libstdc++.",  "libgfortran.",
    "libquadmath.", "libgomp.",    "libomp.",      "libasan.",    "libubsan.",
    "libblas.",     "libcblas.",   "liblapack",    "libopenblas", "libscipy_openblas",
    "libatlas.",    "libblis",     "libfftw3",     "libgsl",      "libz.",
    "libhdf5",      "libnetcdf",   "libarmadillo", "libarpack",   "libsuperlu",
    "libmetis.",    "libscotch",   "libboost_",    "libsimgrid.", "libparfocal",
    "libportals.",  "libcrypto.",  "libssl.",      "libtinfo.",   "libhwloc.",
    "libudev.",     "libevent_",   "libsqlite3.",  "libicu",      "libdeflate."};

bool pf_private_system_harmless(const char *name)
{
    for (size_t i = 0; i < sizeof harmless / sizeof harmless[0]; i++)
        if (begins(name, harmless[i]))
            return true;
    return false;
}

/* Interpreters, collectors of garbage, and what keeps a user's lines. */
static bool is_of_one_process(const char *name)
{
    static const char *const names[] = {"libpython3.", "libR.so",      "libruby-", "libperl.so",
                                        "libtcl",      "libreadline.", "libgc.so", "libguile-"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (begins(name, names[i]))
            return true;
    return false;
}

bool pf_private_system_is(const char *name)
{
    struct asked *asked = find_asked(name);
    if (asked)
        asked->met = true;
    return asked || pf_fortran_runtime_is(name) || is_of_one_process(name);
}

void pf_private_system_report(void)
{
    for (int i = 0; i < count; i++)
        if (!all[i].met)
            pf_warn("PARFOCAL_PRIVATE: the program has used no library %s", all[i].name);
}

bool pf_private_system_find(char path[PATH_MAX], const char *name)
{
    struct asked *asked = find_asked(name);
    struct found *found = asked ? asked->found : NULL;
    while (found && strcmp(found->name, name) != 0)
        found = found->next;
    struct link_map *map = found ? NULL : dlopen(name, RTLD_LAZY | RTLD_LOCAL);
    if (!found && !map)
        return false;
    bool fits = snprintf(path, PATH_MAX, "%s", found ? found->path : map->l_name) < PATH_MAX;
    if (asked && !found) {
        found = pf_malloc(sizeof *found);
        *found = (struct found){pf_strdup(name), pf_strdup(map->l_name), asked->found};
        asked->found = found;
    }
    if (map)
        dlclose(map);
    return fits;
}

/* The copies that each rank has open. */
static struct copies {
    void **handles;
    int count;
} * of_ranks;

/* What is no rank has none. */
static struct copies *own_copies(void)
{
    static struct copies none;
    size_t rank = (size_t)pf_process_actor() - 1, size = (size_t)pf_job_state.size;
    if (!of_ranks)
        of_ranks = pf_calloc(size, sizeof *of_ranks);
    return rank < size ? &of_ranks[rank] : &none;
}

/* What the rank's program does, if that is in an image, or one of its copies itself, and not what it needs.
 */
static bool defined_by_copy(const char *name, bool undefined, const void *arg, void **value)
{
    const struct copies *own = arg;
    const void *program = pf_process_image(); /* whose names come first, as the dynamic linker has it */
    *value = program ? pf_image_symbol(program, name) : NULL;
    if (*value)
        return true;
    uint32_t hash = undefined ? pf_imports_hash(name) : 0;
    for (int i = 0; i < own->count && undefined && !*value; i++)
        *value = pf_imports_defined(own->handles[i], name, hash);
    return *value != NULL;
}

static bool defined_there(const char *name, bool undefined, const void *library, void **value)
{
    *value = undefined ? pf_imports_defined(library, name, pf_imports_hash(name)) : NULL;
    return *value != NULL;
}

void pf_private_system_lead(void *copy, void *to)
{
    pf_imports_replace(copy, defined_there, to);
}

/* A library that the program's need, and nothing else in the process. */
static void *find_under_program(const char *name)
{
    const void *program = pf_process_image();
    return program && !dlsym(RTLD_DEFAULT, name) ? pf_image_symbol_outside(program, name) : NULL;
}

static bool only_copies_define(const char *name, const void *arg)
{
    void *value;
    return (defined_by_copy(name, true, arg, &value) && !dlsym(RTLD_DEFAULT, name)) ||
           find_under_program(name);
}

bool pf_private_system_plugs(struct pf_elf *elf)
{
    if (count == 0 && !pf_process_image())
        return false;
    bool weak = pf_elf_weaken(elf, only_copies_define, own_copies()) > 0;
    if (!weak && !pf_own_library_is_for_openmpi(elf))
        return false;
    if (pf_elf_needs(elf, "libmpi.so."))
        pf_own_library_open_openmpi();
    if (pf_elf_needs(elf, "libmpi_mpifh.so."))
        pf_own_library_open_fortran();
    return true;
}

static bool is_environment(const char *name)
{
    return strcmp(name, "environ") == 0 || strcmp(name, "_environ") == 0 || strcmp(name, "__environ") == 0;
}

/* Whose references are led. */
struct led {
    const struct copies *own;
    bool openmpi; /* those to MPI are Open MPI's */
};

/* Not those of a library of pfcc, or in a program of the standard ABI. */
static bool refers_to_openmpi(const struct link_map *map)
{
    const struct pf_process *p = pf_process();
    const char *strings = NULL;
    bool other = p && p->image && !p->of_openmpi;
    for (const ElfW(Dyn) *entry = map->l_ld; entry->d_tag != DT_NULL; entry++)
        if (entry->d_tag == DT_STRTAB)
            strings = (const char *)entry->d_un.d_ptr;
    for (const ElfW(Dyn) *entry = map->l_ld; strings && entry->d_tag != DT_NULL; entry++)
        other |= entry->d_tag == DT_NEEDED && begins(strings + entry->d_un.d_val, "libparfocal.so");
    return !other;
}

/* The C library is what pfcc makes it for a program. Of Open MPI's variables the program may have copies,
 * whose addresses are no handles. */
static bool lead_one(const char *name, bool undefined, const void *arg, void **value)
{
    const struct led *led = arg;
    *value = undefined && led->openmpi ? pf_own_library_of_openmpi(name) : NULL;
    if (*value || defined_by_copy(name, undefined, led->own, value))
        return true;
    *value = NULL;
    if (undefined)
        *value = is_environment(name) ? (void *)pf_environment_variable() : pf_libc_of_program(name);
    if (undefined && !*value)
        *value = find_under_program(name);
    return *value != NULL;
}

void pf_private_system_plug(void *loaded)
{
    const struct led led = {own_copies(), refers_to_openmpi(loaded)};
    pf_imports_replace(loaded, lead_one, &led);
    pf_process_lead(loaded);
}

void pf_private_system_serve(void *handle)
{
    struct copies *own = own_copies();
    for (int i = 0; i < own->count; i++)
        if (own->handles[i] == handle)
            return;
    own->handles = pf_reallocarray(own->handles, (size_t)own->count + 1, sizeof *own->handles);
    own->handles[own->count++] = handle;
}

static void *open_led(const char *path, int flags)
{
    void *handle = dlopen(path, flags);
    if (!handle)
        return NULL;
    struct pf_rank *r = pf_compute_call();
    pf_private_system_serve(handle);
    pf_private_system_plug(handle);
    pf_compute_return(r);
    return handle;
}

pf_private_system_open *pf_private_system_opener(const char *name)
{
    if (pf_fortran_runtime_is(name))
        return pf_fortran_runtime_open;
    return pf_private_system_is(name) ? open_led : NULL;
}
