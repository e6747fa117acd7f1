/* SPDX-License-Identifier: BSD-3-Clause */
#include "middleware/process/private_elf.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"

/* `size` bytes at an offset, NULL unless they lie in the file and are aligned as this kind of entry must
 * be. */
static void *at(const struct pf_elf *elf, uint64_t offset, uint64_t size, size_t alignment)
{
    bool inside = offset <= elf->size && size <= elf->size - offset;
    return inside && offset % alignment == 0 ? elf->bytes + offset : NULL;
}

/* Where a virtual address lies in the file; outside of it if no segment holds it. */
static uint64_t file_offset(const struct pf_elf *elf, uint64_t address)
{
    const Elf64_Ehdr *header = (const void *)elf->bytes;
    const Elf64_Phdr *segment = at(elf, header->e_phoff, (uint64_t)header->e_phnum * sizeof *segment, 8);
    for (int i = 0; segment && i < header->e_phnum; i++, segment++)
        if (segment->p_type == PT_LOAD && address - segment->p_vaddr < segment->p_filesz)
            return segment->p_offset + (address - segment->p_vaddr);
    return UINT64_MAX;
}

/* A text at an offset, if it ends inside the file. */
static char *text_at(const struct pf_elf *elf, uint64_t offset)
{
    char *text = at(elf, offset, 1, 1);
    return text && memchr(text, 0, elf->size - offset) ? text : NULL;
}

static void add_name(struct pf_elf *elf, char *text, bool needed)
{
    if (!text)
        return;
    elf->names = reallocarray(elf->names, (size_t)elf->name_count + 1, sizeof *elf->names);
    if (!elf->names)
        pf_die("out of memory");
    elf->names[elf->name_count++] = (struct pf_elf_name){text, needed};
}

/* The libraries from which versions of symbols are wanted. */
static void read_versions(struct pf_elf *elf, uint64_t offset, uint64_t count, uint64_t strings)
{
    for (uint64_t i = 0; i < count; i++) {
        const Elf64_Verneed *need = at(elf, offset, sizeof *need, 4);
        if (!need)
            return;
        add_name(elf, text_at(elf, strings + need->vn_file), false);
        if (!need->vn_next)
            return;
        offset += need->vn_next;
    }
}

static bool read_dynamic(struct pf_elf *elf, const Elf64_Dyn *entries, size_t count)
{
    uint64_t strings = UINT64_MAX, versions = UINT64_MAX, version_count = 0;
    for (size_t i = 0; i < count && entries[i].d_tag != DT_NULL; i++) {
        if (entries[i].d_tag == DT_STRTAB)
            strings = file_offset(elf, entries[i].d_un.d_ptr);
        else if (entries[i].d_tag == DT_VERNEED)
            versions = file_offset(elf, entries[i].d_un.d_ptr);
        else if (entries[i].d_tag == DT_VERNEEDNUM)
            version_count = entries[i].d_un.d_val;
    }
    if (strings == UINT64_MAX)
        return false;
    for (size_t i = 0; i < count && entries[i].d_tag != DT_NULL; i++) {
        char *text = text_at(elf, strings + entries[i].d_un.d_val);
        if (entries[i].d_tag == DT_NEEDED || entries[i].d_tag == DT_SONAME)
            add_name(elf, text, entries[i].d_tag == DT_NEEDED);
        if (entries[i].d_tag == DT_SONAME)
            elf->soname = text;
        if (entries[i].d_tag == DT_RUNPATH || (entries[i].d_tag == DT_RPATH && !elf->search))
            elf->search = text;
    }
    read_versions(elf, versions, version_count, strings);
    return true;
}

static bool load(struct pf_elf *elf, const char *path)
{
    struct stat info;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    if (fstat(fd, &info) == 0 && info.st_size > (off_t)sizeof(Elf64_Ehdr) &&
        (elf->bytes = calloc(1, (size_t)info.st_size)))
        while (elf->size < (size_t)info.st_size) {
            ssize_t got = read(fd, elf->bytes + elf->size, (size_t)info.st_size - elf->size);
            if (got <= 0)
                break;
            elf->size += (size_t)got;
        }
    close(fd);
    return elf->size > 0 && elf->size == (size_t)info.st_size;
}

bool pf_elf_read(struct pf_elf *elf, const char *path)
{
    memset(elf, 0, sizeof *elf);
    bool good = false;
    if (load(elf, path) && memcmp(elf->bytes, ELFMAG, SELFMAG) == 0 && elf->bytes[EI_CLASS] == ELFCLASS64) {
        const Elf64_Ehdr *header = (const void *)elf->bytes;
        const Elf64_Phdr *segment = at(elf, header->e_phoff, (uint64_t)header->e_phnum * sizeof *segment, 8);
        for (int i = 0; segment && i < header->e_phnum; i++, segment++) {
            const Elf64_Dyn *entries =
                segment->p_type == PT_DYNAMIC ? at(elf, segment->p_offset, segment->p_filesz, 8) : NULL;
            if (entries)
                good = read_dynamic(elf, entries, segment->p_filesz / sizeof *entries);
        }
    }
    if (!good)
        pf_elf_free(elf);
    return good;
}

bool pf_elf_write(const struct pf_elf *elf, const char *path)
{
    size_t done = 0;
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0700);
    if (fd < 0)
        return false;
    while (done < elf->size) {
        ssize_t put = write(fd, elf->bytes + done, elf->size - done);
        if (put < 0 && errno == EINTR)
            continue;
        if (put <= 0) {
            int error = errno;
            close(fd);
            unlink(path);
            errno = error;
            return false;
        }
        done += (size_t)put;
    }
    return close(fd) == 0;
}

void pf_elf_free(struct pf_elf *elf)
{
    free(elf->bytes);
    free(elf->names);
    memset(elf, 0, sizeof *elf);
}
