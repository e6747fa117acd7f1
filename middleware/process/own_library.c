/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds and opens those of our libraries that have the names of another MPI. */
#include "middleware/process/own_library.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "loader/elf_search.h"
#include "loader/image.h"
#include "middleware/process/libc_process.h"

/* Where it is in an installation, and in the build directory. */
#define FORTRAN "parfocal/openmpi/libmpi_mpifh.so.40", "ompi_abi/libmpi_mpifh.so.40"

bool pf_own_library_find(char path[PATH_MAX], const char *installed, const char *built)
{
    const char *const places[] = {installed, built};
    Dl_info here;
    const char *slash = dladdr((void *)pf_own_library_find, &here) ? strrchr(here.dli_fname, '/') : NULL;
    int length = slash ? (int)(slash + 1 - here.dli_fname) : 0;
    for (int i = 0; i < 2; i++)
        if (snprintf(path, PATH_MAX, "%.*s%s", length, here.dli_fname, places[i]) < PATH_MAX &&
            access(path, R_OK) == 0)
            return true;
    return false;
}

void *pf_own_library_open(const char *installed, const char *built)
{
    char path[PATH_MAX];
    if (!pf_own_library_find(path, installed, built))
        pf_die("cannot find %s", built);
    void *opened = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
    if (!opened)
        pf_die("cannot load %s: %s", built, dlerror());
    return opened;
}

void *pf_own_library_open_openmpi(void)
{
    return pf_own_library_open("parfocal/openmpi/libmpi.so.40", "ompi_abi/libmpi.so.40");
}

void *pf_own_library_of_openmpi(const char *name)
{
    static const char *const beginnings[] = {"MPI_", "PMPI_", "ompi_", "OMPI_C_"};
    static void *library;
    bool its = false;
    for (size_t i = 0; i < sizeof beginnings / sizeof beginnings[0]; i++)
        its |= strncmp(name, beginnings[i], strlen(beginnings[i])) == 0;
    if (its && !library)
        library = pf_own_library_open_openmpi();
    return its ? dlsym(library, name) : NULL;
}

void *pf_own_library_handle(const char *name)
{
    const struct pf_process *p = pf_process();
    void *value = p && p->image && p->of_openmpi ? pf_own_library_of_openmpi(name) : NULL;
    return (size_t)value < PF_IMAGE_CONSTANTS ? value : NULL;
}

void pf_own_library_open_fortran(void)
{
    pf_own_library_open(FORTRAN);
}

bool pf_own_library_find_fortran(char path[PATH_MAX])
{
    return pf_own_library_find(path, FORTRAN);
}

static bool needs_openmpi(const struct pf_elf *elf)
{
    return pf_elf_needs(elf, "libmpi.so.40") || pf_elf_needs(elf, "libmpi_mpifh.so.40") ||
           pf_elf_needs(elf, "libmpi_usempi");
}

/* Linkers leave out what only a library needs. */
bool pf_own_library_is_for_openmpi(const struct pf_elf *elf)
{
    return pf_elf_reaches(elf, needs_openmpi);
}

bool pf_own_library_needed(char path[PATH_MAX], const struct pf_elf *elf, const char *name)
{
    if (strncmp(name, "libmpi_mpifh.so.", 16) == 0)
        return pf_own_library_find_fortran(path);
    return strncmp(name, "libmpi.so.", 10) != 0 && pf_elf_search_needed(path, elf, name);
}
