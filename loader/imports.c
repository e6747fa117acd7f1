/* SPDX-License-Identifier: BSD-3-Clause */
/* Changes where a loaded library's calls lead, in its relocation tables. */
#include "loader/imports.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <link.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/log.h"
#include "loader/image.h"

/* A slot may lie in a part that the dynamic linker made read-only after relocation. */
static void write_slot(void **slot, void *value)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    void *start = (void *)((uintptr_t)slot & ~(page - 1));
    if (*slot == value)
        return;
    if (mprotect(start, page, PROT_READ | PROT_WRITE) != 0)
        pf_die("the system does not let the calls of a library be led elsewhere: %s", strerror(errno));
    *slot = value;
}

struct imports {
    const ElfW(Sym) * symbols;
    const char *strings;
    const ElfW(Rela) * tables[2];
    size_t sizes[2];
};

/* The dynamic linker has turned the addresses in the dynamic section of a loaded object into absolute
 * ones. */
static struct imports find_imports(const struct link_map *map)
{
    struct imports found = {0};
    for (const ElfW(Dyn) *entry = map->l_ld; entry->d_tag != DT_NULL; entry++)
        switch (entry->d_tag) {
        case DT_SYMTAB:
            found.symbols = (const void *)entry->d_un.d_ptr;
            break;
        case DT_STRTAB:
            found.strings = (const void *)entry->d_un.d_ptr;
            break;
        case DT_JMPREL:
            found.tables[0] = (const void *)entry->d_un.d_ptr;
            break;
        case DT_PLTRELSZ:
            found.sizes[0] = entry->d_un.d_val;
            break;
        case DT_RELA:
            found.tables[1] = (const void *)entry->d_un.d_ptr;
            break;
        case DT_RELASZ:
            found.sizes[1] = entry->d_un.d_val;
            break;
        default:
            break;
        }
    return found;
}

static int is_slot(unsigned long type)
{
    return type == R_X86_64_JUMP_SLOT || type == R_X86_64_GLOB_DAT || type == R_X86_64_64;
}

int pf_imports_replace(void *library, pf_imports_find *find, const void *arg)
{
    struct link_map *map;
    int changed = 0;
    if (dlinfo(library, RTLD_DI_LINKMAP, &map) != 0)
        return 0;
    struct imports imports = find_imports(map);
    if (!imports.symbols || !imports.strings)
        return 0;
    for (int t = 0; t < 2; t++)
        for (size_t i = 0; imports.tables[t] && i < imports.sizes[t] / sizeof(ElfW(Rela)); i++) {
            const ElfW(Rela) *entry = &imports.tables[t][i];
            if (!is_slot(ELF64_R_TYPE(entry->r_info)))
                continue;
            const ElfW(Sym) *symbol = &imports.symbols[ELF64_R_SYM(entry->r_info)];
            void *hook;
            if (!find(imports.strings + symbol->st_name, symbol->st_shndx == SHN_UNDEF, arg, &hook))
                continue;
            write_slot((void **)(map->l_addr + entry->r_offset), (char *)hook + entry->r_addend);
            changed++;
        }
    return changed;
}

/* The DT_GNU_HASH table of the GNU linkers. */
uint32_t pf_imports_hash(const char *name)
{
    uint32_t hash = 5381;
    for (; *name; name++)
        hash = hash * 33 + (unsigned char)*name;
    return hash;
}

struct exports {
    const ElfW(Sym) * symbols;
    const char *strings;
    const uint16_t *versions;
    const struct {
        uint32_t buckets, first, words, shift;
        uint64_t filter[];
    } * hashes;
};

static struct exports find_exports(const struct link_map *map)
{
    struct exports found = {0};
    for (const ElfW(Dyn) *entry = map->l_ld; entry->d_tag != DT_NULL; entry++)
        if (entry->d_tag == DT_SYMTAB)
            found.symbols = (const void *)entry->d_un.d_ptr;
        else if (entry->d_tag == DT_STRTAB)
            found.strings = (const void *)entry->d_un.d_ptr;
        else if (entry->d_tag == DT_VERSYM)
            found.versions = (const void *)entry->d_un.d_ptr;
        else if (entry->d_tag == DT_GNU_HASH)
            found.hashes = (const void *)entry->d_un.d_ptr;
    return found;
}

void *pf_imports_defined(const void *library, const char *name, uint32_t hash)
{
    enum { HIDDEN = 0x8000 }; /* an older version of the same name */
    const struct link_map *map = library;
    const struct exports all = find_exports(map);
    if (!all.hashes)
        return NULL;
    uint64_t word = all.hashes->filter[hash / 64 % all.hashes->words];
    if (!(word >> (hash % 64) & word >> ((hash >> all.hashes->shift) % 64) & 1))
        return NULL;
    const uint32_t *buckets = (const void *)&all.hashes->filter[all.hashes->words];
    const uint32_t *chain = buckets + all.hashes->buckets - all.hashes->first;
    uint32_t i = buckets[hash % all.hashes->buckets];
    for (bool more = i >= all.hashes->first; more; more = !(chain[i++] & 1)) {
        const ElfW(Sym) *symbol = &all.symbols[i];
        bool fits = (chain[i] ^ hash) < 2 && symbol->st_shndx != SHN_UNDEF && symbol->st_shndx != SHN_ABS &&
                    ELF64_ST_TYPE(symbol->st_info) != STT_TLS &&
                    ELF64_ST_TYPE(symbol->st_info) != STT_GNU_IFUNC &&
                    !(all.versions && (all.versions[i] & HIDDEN));
        if (fits && strcmp(all.strings + symbol->st_name, name) == 0)
            return (char *)map->l_addr + symbol->st_value;
    }
    return NULL;
}

struct replacement {
    const char *name;
    void *value;
};

static bool of_name(const char *name, bool undefined, const void *arg, void **value)
{
    const struct replacement *replacement = arg;
    *value = replacement->value;
    return strcmp(name, replacement->name) == 0;
}

int pf_imports_replace_one(void *library, const char *name, void *value)
{
    const struct replacement replacement = {name, value};
    if (pf_image_holds(library))
        return pf_image_replace(library, name, value);
    return pf_imports_replace(library, of_name, &replacement);
}
