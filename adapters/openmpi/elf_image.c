/* SPDX-License-Identifier: BSD-3-Clause */
#include "adapters/openmpi/elf_image.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* The pieces of the dynamic section that cloning needs, as positions in the file. */
struct dynamic {
    const ElfW(Dyn) * entries;
    size_t count;
    size_t strtab, strsz;
    const ElfW(Sym) * symbols;
    size_t symbol_count;
};

static bool inside(const struct pf_elf *elf, size_t offset, size_t length)
{
    return offset <= elf->size && length <= elf->size - offset;
}

/* The same for a table, whose entries are read where they stand. */
static bool table_inside(const struct pf_elf *elf, size_t offset, size_t length)
{
    return inside(elf, offset, length) && offset % _Alignof(ElfW(Addr)) == 0;
}

/* Translates a virtual address of the object into a position in the file; SIZE_MAX when no segment has it. */
static size_t file_position(const struct pf_elf *elf, size_t address)
{
    const ElfW(Ehdr) *header = (const void *)elf->data;
    const ElfW(Phdr) *segments = (const void *)(elf->data + header->e_phoff);
    for (int i = 0; i < header->e_phnum; i++)
        if (segments[i].p_type == PT_LOAD && address >= segments[i].p_vaddr &&
            address - segments[i].p_vaddr < segments[i].p_filesz)
            return address - segments[i].p_vaddr + segments[i].p_offset;
    return SIZE_MAX;
}

static bool header_is_usable(const struct pf_elf *elf)
{
    const ElfW(Ehdr) *header = (const void *)elf->data;
    int class = sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32;
    return elf->size > sizeof *header && memcmp(header->e_ident, ELFMAG, SELFMAG) == 0 &&
           header->e_ident[EI_CLASS] == class && header->e_type == ET_DYN &&
           header->e_phentsize == sizeof(ElfW(Phdr)) &&
           table_inside(elf, header->e_phoff, header->e_phnum * sizeof(ElfW(Phdr))) &&
           table_inside(elf, header->e_shoff, header->e_shnum * sizeof(ElfW(Shdr)));
}

/* The dynamic symbols' number is only in the section headers, which distributions keep. */
static void find_symbols(const struct pf_elf *elf, struct dynamic *dynamic)
{
    const ElfW(Ehdr) *header = (const void *)elf->data;
    const ElfW(Shdr) *sections = (const void *)(elf->data + header->e_shoff);
    dynamic->symbols = NULL;
    dynamic->symbol_count = 0;
    for (int i = 0; i < header->e_shnum; i++)
        if (sections[i].sh_type == SHT_DYNSYM &&
            table_inside(elf, sections[i].sh_offset, sections[i].sh_size)) {
            dynamic->symbols = (const void *)(elf->data + sections[i].sh_offset);
            dynamic->symbol_count = sections[i].sh_size / sizeof(ElfW(Sym));
        }
}

static bool find_dynamic(const struct pf_elf *elf, struct dynamic *dynamic)
{
    const ElfW(Ehdr) *header = (const void *)elf->data;
    const ElfW(Phdr) *segments = (const void *)(elf->data + header->e_phoff);
    memset(dynamic, 0, sizeof *dynamic);
    for (int i = 0; i < header->e_phnum; i++)
        if (segments[i].p_type == PT_DYNAMIC &&
            table_inside(elf, segments[i].p_offset, segments[i].p_filesz)) {
            dynamic->entries = (const void *)(elf->data + segments[i].p_offset);
            dynamic->count = segments[i].p_filesz / sizeof(ElfW(Dyn));
        }
    dynamic->strtab = SIZE_MAX;
    for (size_t i = 0; i < dynamic->count; i++) {
        if (dynamic->entries[i].d_tag == DT_STRTAB)
            dynamic->strtab = file_position(elf, dynamic->entries[i].d_un.d_ptr);
        else if (dynamic->entries[i].d_tag == DT_STRSZ)
            dynamic->strsz = dynamic->entries[i].d_un.d_val;
    }
    find_symbols(elf, dynamic);
    return dynamic->strtab != SIZE_MAX && dynamic->strsz > 0 &&
           inside(elf, dynamic->strtab, dynamic->strsz) &&
           elf->data[dynamic->strtab + dynamic->strsz - 1] == 0;
}

/* Names that exist once per rank: libX.so.NN of Open MPI's core and of the code its plugins share. */
static bool in_family(const char *name)
{
    size_t length = strlen(name);
    if (length <= PF_ELF_SUFFIX || strncmp(name + length - PF_ELF_SUFFIX, "so.", 3) != 0)
        return false;
    return strncmp(name, "libmpi.so.", 10) == 0 || strncmp(name, "libopen-rte.so.", 15) == 0 ||
           strncmp(name, "libopen-pal.so.", 15) == 0 || strncmp(name, "libmca_common_", 14) == 0;
}

/* Linkers share tails of strings; a symbol whose name lies in a library's name would be renamed with it. */
static bool string_is_shared(const struct dynamic *dynamic, size_t string, size_t length)
{
    for (size_t i = 0; i < dynamic->symbol_count; i++)
        if (dynamic->symbols[i].st_name >= string && dynamic->symbols[i].st_name < string + length)
            return true;
    return false;
}

static bool add_patch(struct pf_elf *elf, size_t offset, const char *stem)
{
    for (int i = 0; i < elf->patch_count; i++)
        if (elf->patches[i].offset == offset)
            return true;
    if (elf->patch_count == PF_ELF_MAX_PATCHES)
        return false;
    elf->patches[elf->patch_count++] = (struct pf_elf_patch){offset, stem};
    return true;
}

/*
 * A plugin that names none of the libraries it uses (mca_pml_ob1.so does so) would resolve them in the global
 * scope, where a clone never is. Its own name is of no use to anyone, so the clone makes a DT_NEEDED for its
 * rank's libmpi of it.
 */
static bool adopt_libmpi(struct pf_elf *elf, const struct dynamic *dynamic)
{
    static const char stem[] = "libmpi.";
    for (size_t i = 0; i < dynamic->count; i++) {
        const ElfW(Dyn) *entry = &dynamic->entries[i];
        if (entry->d_tag != DT_SONAME || entry->d_un.d_val >= dynamic->strsz)
            continue;
        const char *name = (const char *)elf->data + dynamic->strtab + entry->d_un.d_val;
        if (strlen(name) < sizeof stem - 1 + PF_ELF_SUFFIX ||
            string_is_shared(dynamic, entry->d_un.d_val, strlen(name)))
            return false;
        elf->retag_offset = (size_t)((const uint8_t *)entry - elf->data);
        return add_patch(elf, dynamic->strtab + entry->d_un.d_val, stem);
    }
    return false;
}

/* The name of the compiler's weak symbol for transactional memory, which nothing defines: its place can hold
 * another name. */
static const char *find_spare_string(const struct pf_elf *elf, const struct dynamic *dynamic)
{
    static const char spare[] = "_ITM_deregisterTMCloneTable";
    for (size_t i = 0; i < dynamic->symbol_count; i++) {
        const ElfW(Sym) *symbol = &dynamic->symbols[i];
        if (symbol->st_shndx != SHN_UNDEF || symbol->st_name >= dynamic->strsz)
            continue;
        const char *name = (const char *)elf->data + dynamic->strtab + symbol->st_name;
        if (strcmp(name, spare) == 0)
            return name;
    }
    return NULL;
}

/*
 * A library that others need by its name (libmca_common_ompio.so.41) and that names none itself: linkers
 * leave empty entries at the end of the dynamic section, and one becomes the DT_NEEDED for the rank's libmpi.
 */
static bool add_libmpi(struct pf_elf *elf, const struct dynamic *dynamic)
{
    const char *string = find_spare_string(elf, dynamic);
    size_t end = 0;
    while (end < dynamic->count && dynamic->entries[end].d_tag != DT_NULL)
        end++;
    if (!string || end + 1 >= dynamic->count)
        return false;
    elf->retag_offset = (size_t)((const uint8_t *)&dynamic->entries[end] - elf->data);
    elf->retag_string = (size_t)((const uint8_t *)string - elf->data) - dynamic->strtab;
    return add_patch(elf, dynamic->strtab + elf->retag_string, "libmpi.");
}

static bool find_patches(struct pf_elf *elf, const struct dynamic *dynamic, char *why, size_t n)
{
    bool core = false, named = false;
    for (size_t i = 0; i < dynamic->count; i++) {
        const ElfW(Dyn) *entry = &dynamic->entries[i];
        if ((entry->d_tag != DT_NEEDED && entry->d_tag != DT_SONAME) || entry->d_un.d_val >= dynamic->strsz)
            continue;
        size_t string = entry->d_un.d_val;
        const char *name = (const char *)elf->data + dynamic->strtab + string;
        if (!in_family(name))
            continue;
        core = core || strncmp(name, "libmca_", 7) != 0;
        named = named || entry->d_tag == DT_SONAME;
        size_t length = strlen(name);
        if (string_is_shared(dynamic, string, length) ||
            !add_patch(elf, dynamic->strtab + string + length - PF_ELF_SUFFIX, NULL)) {
            snprintf(why, n, "%s: the name %s cannot be rewritten in place", elf->path, name);
            return false;
        }
        if (entry->d_tag == DT_NEEDED)
            elf->family[elf->family_count++] = name;
    }
    if (!core && !(named ? add_libmpi(elf, dynamic) : adopt_libmpi(elf, dynamic))) {
        snprintf(why, n, "%s: not an Open MPI library or plugin (it needs no Open MPI library)", elf->path);
        return false;
    }
    return true;
}

struct pf_elf *pf_elf_open(const char *path, char *why, size_t n)
{
    struct stat status;
    struct pf_elf *elf = NULL;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &status) != 0) {
        snprintf(why, n, "%s: %s", path, strerror(errno));
        goto out;
    }
    void *data = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (data == MAP_FAILED) {
        snprintf(why, n, "%s: %s", path, strerror(errno));
        goto out;
    }
    elf = calloc(1, sizeof *elf);
    *elf = (struct pf_elf){.path = strdup(path), .data = data, .size = (size_t)status.st_size};
    struct dynamic dynamic;
    if (!header_is_usable(elf) || !find_dynamic(elf, &dynamic)) {
        snprintf(why, n, "%s: not a shared object of this machine", path);
        pf_elf_close(elf);
        elf = NULL;
    } else if (!find_patches(elf, &dynamic, why, n)) {
        pf_elf_close(elf);
        elf = NULL;
    }
out:
    if (fd >= 0)
        close(fd);
    return elf;
}

void pf_elf_close(struct pf_elf *elf)
{
    munmap((void *)(uintptr_t)elf->data, elf->size);
    free(elf->path);
    free(elf);
}

static int write_at(int fd, const void *data, size_t size, size_t offset)
{
    const char *next = data;
    while (size > 0) {
        ssize_t written = pwrite(fd, next, size, (off_t)offset);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return written < 0 ? errno : EIO;
        next += written;
        offset += (size_t)written;
        size -= (size_t)written;
    }
    return 0;
}

int pf_elf_write_clone(const struct pf_elf *elf, int rank, int fd)
{
    if (rank < 0 || rank > PF_ELF_MAX_RANK)
        return EINVAL;
    int error = write_at(fd, elf->data, elf->size, 0);
    for (int i = 0; i < elf->patch_count && !error; i++) {
        const struct pf_elf_patch *patch = &elf->patches[i];
        char text[32];
        int length = snprintf(text, sizeof text, "%s%05d", patch->stem ? patch->stem : "", rank);
        /* With a stem the whole string is replaced, and its end has to be written too. */
        error = write_at(fd, text, (size_t)length + (patch->stem ? 1 : 0), patch->offset);
    }
    if (elf->retag_offset && !error) {
        ElfW(Dyn) entry;
        memcpy(&entry, elf->data + elf->retag_offset, sizeof entry);
        entry.d_tag = DT_NEEDED;
        if (elf->retag_string)
            entry.d_un.d_val = elf->retag_string;
        error = write_at(fd, &entry, sizeof entry, elf->retag_offset);
    }
    return error;
}

const char *pf_elf_string_symbol(const struct pf_elf *elf, const char *name)
{
    struct dynamic dynamic;
    if (!find_dynamic(elf, &dynamic))
        return NULL;
    for (size_t i = 0; i < dynamic.symbol_count; i++) {
        const ElfW(Sym) *symbol = &dynamic.symbols[i];
        if (symbol->st_name >= dynamic.strsz || symbol->st_shndx == SHN_UNDEF ||
            strcmp((const char *)elf->data + dynamic.strtab + symbol->st_name, name) != 0)
            continue;
        size_t position = file_position(elf, symbol->st_value);
        if (position == SIZE_MAX || !memchr(elf->data + position, 0, elf->size - position))
            return NULL;
        return (const char *)elf->data + position;
    }
    return NULL;
}
