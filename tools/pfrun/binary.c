/* SPDX-License-Identifier: BSD-3-Clause */
#include "tools/pfrun/binary.h"

#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* The file as mapped; every access goes through `at`, so that a damaged file cannot lead outside. */
struct image {
    const char *bytes;
    size_t size;
};

static const void *at(const struct image *image, uint64_t offset, uint64_t size)
{
    return offset <= image->size && size <= image->size - offset ? image->bytes + offset : NULL;
}

/* File offset of a virtual address; UINT64_MAX when no segment holds it. */
static uint64_t file_offset(const Elf64_Phdr *segments, int count, uint64_t address)
{
    for (int i = 0; i < count; i++)
        if (segments[i].p_type == PT_LOAD && address >= segments[i].p_vaddr &&
            address < segments[i].p_vaddr + segments[i].p_filesz)
            return address - segments[i].p_vaddr + segments[i].p_offset;
    return UINT64_MAX;
}

static void note_needed(struct binary_facts *facts, const char *name)
{
    static const char *const ours[] = {"libparfocal.so", "libportals.so"};
    static const char *const others[] = {"libmpi.so", "libmpich.so", "libmpicxx.so", "libmpi_cxx.so",
                                         "libsimgrid.so"};
    for (size_t i = 0; i < sizeof ours / sizeof ours[0]; i++)
        if (strncmp(name, ours[i], strlen(ours[i])) == 0)
            facts->parfocal = true;
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        if (strncmp(name, others[i], strlen(others[i])) == 0)
            snprintf(facts->other_mpi, sizeof facts->other_mpi, "%s", name);
    if (facts->needed_count < BINARY_MAX_NEEDED)
        facts->needed[facts->needed_count++] = strdup(name);
}

static const char *read_dynamic(const struct image *image, const Elf64_Phdr *segments, int count,
                                const Elf64_Phdr *dynamic, struct binary_facts *facts)
{
    const Elf64_Dyn *entries = at(image, dynamic->p_offset, dynamic->p_filesz);
    size_t entry_count = dynamic->p_filesz / sizeof *entries;
    uint64_t strings = UINT64_MAX;
    const char *reason = NULL;
    if (!entries)
        return "it is truncated";
    for (size_t i = 0; i < entry_count && entries[i].d_tag != DT_NULL; i++) {
        if (entries[i].d_tag == DT_STRTAB)
            strings = file_offset(segments, count, entries[i].d_un.d_ptr);
        if (entries[i].d_tag == DT_FLAGS_1 && (entries[i].d_un.d_val & DF_1_PIE))
            reason = "it is an ordinary executable";
    }
    for (size_t i = 0; i < entry_count && entries[i].d_tag != DT_NULL; i++) {
        const char *text = strings != UINT64_MAX ? at(image, strings + entries[i].d_un.d_val, 1) : NULL;
        if (!text || !memchr(text, 0, (size_t)(image->bytes + image->size - text)))
            continue;
        if (entries[i].d_tag == DT_NEEDED)
            note_needed(facts, text);
        if ((entries[i].d_tag == DT_RUNPATH || entries[i].d_tag == DT_RPATH) && !facts->search)
            facts->search = strdup(text);
    }
    return reason;
}

static const char *examine(const struct image *image, struct binary_facts *facts)
{
    const Elf64_Ehdr *header = at(image, 0, sizeof *header);
    if (!header || memcmp(header->e_ident, ELFMAG, SELFMAG) != 0)
        return "it is not a compiled program";
    if (header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_machine != EM_X86_64)
        return "it was compiled for another processor";
    const Elf64_Phdr *segments = at(image, header->e_phoff, (uint64_t)header->e_phnum * sizeof *segments);
    if ((header->e_type != ET_DYN && header->e_type != ET_EXEC) || !segments)
        return "it is not a program";
    const char *reason = "it is statically linked";
    for (int i = 0; i < header->e_phnum; i++)
        if (segments[i].p_type == PT_DYNAMIC)
            reason = read_dynamic(image, segments, header->e_phnum, &segments[i], facts);
    return header->e_type == ET_EXEC && !reason ? "it is an ordinary executable" : reason;
}

const char *binary_read(const char *path, struct binary_facts *facts)
{
    struct stat info;
    memset(facts, 0, sizeof *facts);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &info) != 0 || info.st_size == 0) {
        if (fd >= 0)
            close(fd);
        return fd < 0 ? "it cannot be read" : "it is empty";
    }
    void *bytes = mmap(NULL, (size_t)info.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    close(fd);
    if (bytes == MAP_FAILED)
        return "it cannot be mapped";
    struct image image = {bytes, (size_t)info.st_size};
    const char *reason = examine(&image, facts);
    munmap(bytes, (size_t)info.st_size);
    return reason;
}

bool binary_is_script(const char *path)
{
    char begin[2] = "";
    FILE *file = fopen(path, "r");
    if (!file)
        return false;
    bool script = fread(begin, 1, sizeof begin, file) == sizeof begin && memcmp(begin, "#!", 2) == 0;
    fclose(file);
    return script;
}

void binary_forget(struct binary_facts *facts)
{
    for (int i = 0; i < facts->needed_count; i++)
        free(facts->needed[i]);
    free(facts->search);
    memset(facts, 0, sizeof *facts);
}
