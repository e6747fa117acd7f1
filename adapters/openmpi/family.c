/* SPDX-License-Identifier: BSD-3-Clause */
/* Which names a rank's copy of a library must have so that its copies find each other. */
#include "adapters/openmpi/family.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "adapters/openmpi/private/private.h"
#include "base/memory.h"

/* What begins the name of the library that every plugin needs. */
static const char stem[] = "libmpi.";

/* Names that exist once per rank: libX.so.NN of Open MPI's core and of the code its plugins share. */
static bool in_family(const char *name)
{
    size_t length = strlen(name);
    if (length <= PF_FAMILY_DIGITS || strncmp(name + length - PF_FAMILY_DIGITS, "so.", 3) != 0)
        return false;
    static const char *const libraries[] = {
#define X(stem, file) file,
        PF_OMPI_LIBRARIES(X)
#undef X
    };
    for (size_t i = 0; i < sizeof libraries / sizeof libraries[0]; i++)
        if (strncmp(name, libraries[i], strlen(libraries[i]) - PF_FAMILY_DIGITS) == 0)
            return true;
    return strncmp(name, "libmca_common_", 14) == 0;
}

struct span {
    const char *first, *end;
};

static bool lies_in(char *name, size_t address, size_t size, const void *arg)
{
    const struct span *span = arg;
    return name >= span->first && name < span->end;
}

/* Linkers share tails of strings; a symbol whose name lies in a library's name would be renamed with it. */
static bool is_shared(const struct pf_family *member, const char *library)
{
    const struct span span = {library, library + strlen(library)};
    return pf_elf_symbols(&member->elf, lies_in, &span);
}

static bool add_digits(struct pf_family *member, char *place)
{
    for (int i = 0; i < member->digit_count; i++)
        if (member->digits[i] == place)
            return true;
    if (member->digit_count == PF_FAMILY_MAX_NAMES)
        return false;
    member->digits[member->digit_count++] = place;
    return true;
}

/* Makes "libmpi." and a number of a text, and the entry one that needs it. */
static bool need_libmpi(struct pf_family *member, size_t entry, char *text)
{
    memcpy(text, stem, sizeof stem - 1);
    text[sizeof stem - 1 + PF_FAMILY_DIGITS] = '\0';
    return pf_elf_need(&member->elf, entry, text) && add_digits(member, text + sizeof stem - 1);
}

/*
 * A plugin that names none of the libraries it uses (mca_pml_ob1.so does so) would resolve them in the global
 * scope, where a clone never is. Its own name is of no use to anyone, so the clone makes a DT_NEEDED for its
 * rank's libmpi of it.
 */
static bool adopt_libmpi(struct pf_family *member)
{
    for (int i = 0; i < member->elf.name_count; i++) {
        const struct pf_elf_name *own = &member->elf.names[i];
        if (own->kind == PF_ELF_OWN)
            return strlen(own->text) >= sizeof stem - 1 + PF_FAMILY_DIGITS && !is_shared(member, own->text) &&
                   need_libmpi(member, own->entry, own->text);
    }
    return false;
}

/* The name of the compiler's weak symbol for transactional memory, which nothing defines: its place can hold
 * another name. */
static bool is_spare(char *name, size_t address, size_t size, const void *text)
{
    *(char **)(uintptr_t)text = name;
    return !address && strcmp(name, "_ITM_deregisterTMCloneTable") == 0;
}

/*
 * A library that others need by its name (libmca_common_ompio.so.41) and that names none itself: linkers
 * leave empty entries at the end of the dynamic section, and one becomes the DT_NEEDED for the rank's libmpi.
 */
static bool add_libmpi(struct pf_family *member)
{
    char *text = NULL;
    size_t entry = pf_elf_spare_entry(&member->elf);
    return entry && pf_elf_symbols(&member->elf, is_spare, &text) && need_libmpi(member, entry, text);
}

static bool find_names(struct pf_family *member, char *why, size_t n)
{
    bool core = false, named = false;
    for (int i = 0; i < member->elf.name_count; i++) {
        const struct pf_elf_name *name = &member->elf.names[i];
        if (name->kind == PF_ELF_VERSIONS || !in_family(name->text))
            continue;
        core = core || strncmp(name->text, "libmca_", 7) != 0;
        named = named || name->kind == PF_ELF_OWN;
        if (is_shared(member, name->text) ||
            !add_digits(member, name->text + strlen(name->text) - PF_FAMILY_DIGITS)) {
            snprintf(why, n, "%s: the name %s cannot be rewritten in place", member->elf.path, name->text);
            return false;
        }
        if (name->kind == PF_ELF_NEEDED && member->needed_count < PF_FAMILY_MAX_NAMES)
            member->needed[member->needed_count++] = pf_strdup(name->text);
    }
    if (!core && !(named ? add_libmpi(member) : adopt_libmpi(member))) {
        snprintf(why, n, "%s: not an Open MPI library or plugin (it needs no Open MPI library)",
                 member->elf.path);
        return false;
    }
    return true;
}

struct pf_family *pf_family_open(const char *path, char *why, size_t n)
{
    struct pf_family *member = pf_calloc(1, sizeof *member);
    enum pf_elf_fault fault = pf_elf_read(&member->elf, path);
    if (fault == PF_ELF_UNREADABLE)
        snprintf(why, n, "%s: %s", path, strerror(errno));
    else if (fault || member->elf.is_executable)
        snprintf(why, n, "%s: not a shared object of this machine", path);
    else if (find_names(member, why, n))
        return member;
    pf_family_close(member);
    return NULL;
}

void pf_family_close(struct pf_family *member)
{
    for (int i = 0; i < member->needed_count; i++)
        free(member->needed[i]);
    pf_elf_free(&member->elf);
    free(member);
}

bool pf_family_number(struct pf_family *member, int rank)
{
    char number[16];
    if (rank < 0 || rank > PF_FAMILY_MAX_RANK)
        return false;
    snprintf(number, sizeof number, "%0*d", PF_FAMILY_DIGITS, rank);
    for (int i = 0; i < member->digit_count; i++)
        memcpy(member->digits[i], number, PF_FAMILY_DIGITS);
    return true;
}
