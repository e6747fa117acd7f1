/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes, opens and forgets one rank's copy of a library. */
#include "loader/copy.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
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

void *pf_copy_open(const struct pf_copy *copy)
{
    void *loaded = (copy->open ? copy->open : dlopen)(copy->path, copy->flags);
    if (!copy->keep)
        unlink(copy->path);
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
