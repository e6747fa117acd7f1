/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes, opens and forgets one rank's copy of a library. */
#include "loader/copy.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

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

int pf_copy_write(const struct pf_copy *copy)
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
    (void)size;
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

void *pf_copy_open(const struct pf_copy *copy)
{
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
