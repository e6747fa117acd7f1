/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes, opens and forgets one rank's copy of a library. */
#include "loader/copy.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/log.h"
#include "loader/image.h"

bool pf_copy_is_deep(void)
{
    static int deep = -1;
    if (deep < 0)
        deep = dlsym(RTLD_DEFAULT, "__asan_init") == NULL;
    return deep != 0;
}

int pf_copy_flags(void)
{
    return RTLD_LAZY | RTLD_LOCAL | (pf_copy_is_deep() ? RTLD_DEEPBIND : 0);
}

static int write_file(const struct pf_copy *copy)
{
    const struct pf_elf *elf = copy->elf;
    size_t done = 0;
    int error = 0;
    int fd = open(copy->path, O_WRONLY | O_CREAT | (copy->replace ? O_TRUNC : O_EXCL) | O_CLOEXEC, 0700);
    if (fd < 0)
        return errno;
    while (done < elf->size && !error) {
        ssize_t put = write(fd, elf->bytes + done, elf->size - done);
        if (put > 0)
            done += (size_t)put;
        else if (put == 0)
            error = EIO;
        else if (errno != EINTR)
            error = errno;
    }
    if (close(fd) != 0 && !error)
        error = errno;
    if (error)
        unlink(copy->path);
    return error;
}

/* Whether it needs no file. */
static bool is_in_memory(const struct pf_copy *copy)
{
    return copy->elf && copy->of && !copy->keep;
}

int pf_copy_write(const struct pf_copy *copy)
{
    return is_in_memory(copy) ? 0 : write_file(copy);
}

struct sharing {
    const struct link_map *map;
    int original, copy; /* descriptors */
};

/* One segment, if it is the same in both files. */
static void share_segment(const struct sharing *sharing, const ElfW(Phdr) * segment)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), begin = segment->p_vaddr & ~(page - 1);
    size_t size = segment->p_vaddr + segment->p_filesz - begin;
    off_t offset = (off_t)(segment->p_offset & ~(page - 1));
    char *here = (char *)sharing->map->l_addr + begin;
    int protection = PROT_READ | (segment->p_flags & PF_X ? PROT_EXEC : 0);
    char *there = mmap(NULL, size, PROT_READ, MAP_PRIVATE, sharing->original, offset);
    if (there == MAP_FAILED)
        return;
    bool same = memcmp(here, there, size) == 0;
    munmap(there, size);
    if (same &&
        mmap(here, size, protection, MAP_PRIVATE | MAP_FIXED, sharing->original, offset) != MAP_FAILED)
        fallocate(sharing->copy, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, offset,
                  (off_t)(size & ~(page - 1))); /* the copy's own pages are memory */
}

static int share_segments(struct dl_phdr_info *info, size_t size, void *arg)
{
    const struct sharing *sharing = arg;
    if (info->dlpi_addr != sharing->map->l_addr || strcmp(info->dlpi_name, sharing->map->l_name) != 0)
        return 0;
    for (int i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_LOAD && !(info->dlpi_phdr[i].p_flags & PF_W))
            share_segment(sharing, &info->dlpi_phdr[i]);
    return 1;
}

/* There would be the code and constants of a library in memory once for each copy, and in the caches of the
 * processor. */
static void share(const struct pf_copy *copy, void *loaded, int descriptor)
{
    struct sharing sharing = {.original = open(copy->of, O_RDONLY | O_CLOEXEC), .copy = descriptor};
    if (sharing.original >= 0 && dlinfo(loaded, RTLD_DI_LINKMAP, &sharing.map) == 0)
        dl_iterate_phdr(share_segments, &sharing);
    if (sharing.original >= 0)
        close(sharing.original);
}

/* The segments that the dynamic linker reads, which is little of a copy that begins late, or a rank writes;
 * -1: the system has no such memory. */
static int write_memory(const struct pf_elf *elf)
{
    const Elf64_Ehdr *header = (const void *)elf->bytes;
    const Elf64_Phdr *segment = (const void *)(elf->bytes + header->e_phoff);
    int fd = memfd_create("parfocal-copy", MFD_CLOEXEC);
    bool good = fd >= 0 && ftruncate(fd, (off_t)elf->size) == 0;
    for (int left = header->e_phnum; left > 0 && good; left--, segment++)
        if (segment->p_type == PT_LOAD &&
            (!elf->late || (segment->p_flags & PF_W) || !pf_elf_is_unread(elf, segment)))
            good = pwrite(fd, elf->bytes + segment->p_offset, segment->p_filesz, (off_t)segment->p_offset) ==
                   (ssize_t)segment->p_filesz;
    if (fd >= 0 && !good)
        close(fd);
    return good ? fd : -1;
}

/* The dynamic linker takes files of one name for one library, and a descriptor's number comes again. A way
 * through the same folder is another name: each bit of a number says which. */
static void name_memory(char path[PATH_MAX], int fd)
{
    static unsigned count;
    char *end = stpcpy(path, "/proc/self/fd");
    for (unsigned bits = ++count; bits; bits /= 2)
        end = stpcpy(end, bits % 2 ? "/." : "/");
    sprintf(end, "/%d", fd);
}

/* A copy while it comes into being: two descriptors, of the library and of its memory. */
struct born {
    const struct pf_copy *copy;
    const struct link_map *map;
    int original, memory;
};

/* What is mapped elsewhere, or was copied when it was written, need not be there twice: those pages of a part
 * that lie in this segment alone. */
static void release(const struct born *born, const Elf64_Phdr *segment, size_t from, size_t to)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), end = segment->p_offset + segment->p_filesz;
    from = from > segment->p_offset ? from : segment->p_offset;
    from = (from + page - 1) & ~(page - 1);
    to = (to < end ? to : end) & ~(page - 1);
    if (from < to)
        fallocate(born->memory, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)from, (off_t)(to - from));
}

/* A part of the library itself, in whole pages. */
static bool map_original(const struct born *born, const Elf64_Phdr *segment, size_t offset, size_t size)
{
    char *at = (char *)born->map->l_addr + segment->p_vaddr - segment->p_offset + offset;
    int protection = PROT_READ | (segment->p_flags & PF_X ? PROT_EXEC : 0);
    return mmap(at, size, protection, MAP_PRIVATE | MAP_FIXED, born->original, (off_t)offset) != MAP_FAILED;
}

/* Of a segment that has been changed before it was written, the long parts that are as they were: each is
 * one more mapping. */
static bool map_unchanged(const struct born *born, const Elf64_Phdr *segment, size_t begin, size_t size)
{
    enum { LONG = 1 << 16 };
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    bool good = true;
    const char *changed = born->copy->elf->bytes + begin;
    const char *there = mmap(NULL, size, PROT_READ, MAP_PRIVATE, born->original, (off_t)begin);
    if (there == MAP_FAILED)
        return false;
    for (size_t from = 0, to; from < size && good; from = to + page) {
        for (to = from; to < size && memcmp(changed + to, there + to, page) == 0;)
            to += page;
        if (to - from < LONG)
            continue;
        good = map_original(born, segment, begin + from, to - from);
        release(born, segment, begin + from, begin + to);
    }
    munmap((void *)there, size);
    return good;
}

/* What a rank may write is its own from now on; not where the system cannot do that. */
static void copy_all(const struct born *born, const Elf64_Phdr *segment, size_t fixed)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), moved = segment->p_vaddr - segment->p_offset;
    size_t from = ((fixed > segment->p_vaddr ? fixed : segment->p_vaddr) + page - 1) & ~(page - 1);
    size_t to = (segment->p_vaddr + segment->p_filesz) & ~(page - 1);
    if (from < to && madvise((char *)born->map->l_addr + from, to - from, MADV_POPULATE_WRITE) == 0)
        release(born, segment, from - moved, to - moved);
}

static bool map_segments(const struct born *born)
{
    const struct pf_elf *elf = born->copy->elf;
    const Elf64_Ehdr *header = (const void *)elf->bytes;
    const Elf64_Phdr *segments = (const void *)(elf->bytes + header->e_phoff);
    size_t page = (size_t)sysconf(_SC_PAGESIZE), fixed = 0;
    bool good = true;
    for (int i = 0; i < header->e_phnum; i++)
        if (segments[i].p_type == PT_GNU_RELRO)
            fixed = segments[i].p_vaddr + segments[i].p_memsz;
    for (const Elf64_Phdr *segment = segments; segment < segments + header->e_phnum && good; segment++) {
        size_t begin = segment->p_offset & ~(page - 1);
        size_t size = (segment->p_offset + segment->p_filesz - begin + page - 1) & ~(page - 1);
        if (segment->p_type != PT_LOAD)
            continue;
        if (segment->p_flags & PF_W)
            copy_all(born, segment, fixed);
        else
            good = pf_elf_is_unread(elf, segment) ? map_original(born, segment, begin, size)
                                                  : map_unchanged(born, segment, begin, size);
    }
    return good;
}

static void *open_memory(const struct pf_copy *copy, int memory)
{
    char path[PATH_MAX];
    struct link_map *map;
    name_memory(path, memory);
    void *loaded = (copy->open ? copy->open : dlopen)(path, copy->flags);
    if (loaded && dlinfo(loaded, RTLD_DI_LINKMAP, &map) == 0) {
        const struct born born = {copy, map, open(copy->of, O_RDONLY | O_CLOEXEC), memory};
        free(map->l_name); /* which the dynamic linker has allocated, and releases */
        map->l_name = strdup(copy->path);
        pf_loaded_note(copy->path, copy->of);
        if (born.original < 0 || !map_segments(&born))
            pf_die("'%s': no memory for its code: %s", copy->of, strerror(errno));
        close(born.original);
    }
    close(memory);
    return loaded;
}

typedef void begin_t(int argc, char **argv, char **environment);

/* As the dynamic linker does it, which would pass the process's arguments. */
void pf_copy_begin(void *loaded)
{
    static char *none[] = {NULL};
    const struct link_map *map = loaded;
    begin_t *begin = NULL, **begins = NULL;
    size_t count = 0;
    for (const ElfW(Dyn) *entry = map->l_ld; entry->d_tag != DT_NULL; entry++)
        if (entry->d_tag == PF_ELF_BEGIN)
            begin = (begin_t *)(map->l_addr + entry->d_un.d_ptr);
        else if (entry->d_tag == PF_ELF_BEGINS)
            begins = (begin_t **)(map->l_addr + entry->d_un.d_ptr);
        else if (entry->d_tag == PF_ELF_BEGINS_SIZE)
            count = entry->d_un.d_val / sizeof *begins;
    if (begin)
        begin(0, none, environ);
    for (size_t i = 0; begins && i < count; i++)
        begins[i](0, none, environ);
}

void *pf_copy_open(const struct pf_copy *copy)
{
    int memory = is_in_memory(copy) ? write_memory(copy->elf) : -1;
    if (memory >= 0)
        return open_memory(copy, memory);
    if (is_in_memory(copy))
        write_file(copy); /* the dynamic linker says so if it is missing */
    int descriptor = copy->of && !copy->keep ? open(copy->path, O_RDWR | O_CLOEXEC) : -1;
    void *loaded = (copy->open ? copy->open : dlopen)(copy->path, copy->flags);
    if (!copy->keep)
        unlink(copy->path);
    if (descriptor >= 0) {
        if (loaded)
            share(copy, loaded, descriptor);
        close(descriptor);
    }
    return loaded;
}

enum pf_copy_fault pf_copy_load(const struct pf_copy *copy, void **loaded, char *why, size_t n)
{
    int error = pf_copy_write(copy);
    if (error) {
        snprintf(why, n, "%s", strerror(error));
        errno = error;
        return PF_COPY_UNWRITTEN;
    }
    void *opened = pf_copy_open(copy);
    if (!opened) {
        snprintf(why, n, "%s", dlerror());
        return PF_COPY_UNOPENED;
    }
    *loaded = opened;
    return PF_COPY_GOOD;
}

void *pf_copy_symbol(void *loaded, const char *name)
{
    return pf_image_holds(loaded) ? pf_image_symbol(loaded, name) : dlsym(loaded, name);
}
