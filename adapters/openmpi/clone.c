/* SPDX-License-Identifier: BSD-3-Clause */
/* Where the copies of Open MPI's libraries lie while they are loaded, and that none stays behind. */
#include "adapters/openmpi/clone.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#include "base/config.h"
#include "base/log.h"
#include "loader/copy.h"

static const char prefix[] = "parfocal-clones.";

static struct {
    char path[PATH_MAX];
    int fd; /* holds the lock that shows other processes that this one is alive; -1: no directory */
} dir = {.fd = -1};

static const char *base_of_clones(void)
{
    if (*pf_config.clone_dir)
        return pf_config.clone_dir;
    const char *tmpdir = getenv("TMPDIR");
    return tmpdir && *tmpdir ? tmpdir : "/var/tmp";
}

/* Empties and removes one directory, which holds plain files only. */
static bool remove_directory(int base_fd, const char *name, int fd)
{
    DIR *stream = fdopendir(dup(fd));
    if (stream) {
        for (struct dirent *entry; (entry = readdir(stream));)
            if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
                unlinkat(fd, entry->d_name, 0);
        closedir(stream);
    }
    return unlinkat(base_fd, name, AT_REMOVEDIR) == 0;
}

int pf_clone_dir_sweep(const char *base)
{
    int removed = 0;
    DIR *stream = opendir(base);
    if (!stream)
        return 0;
    for (struct dirent *entry; (entry = readdir(stream));) {
        if (strncmp(entry->d_name, prefix, sizeof prefix - 1) != 0)
            continue;
        int fd = openat(dirfd(stream), entry->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (fd < 0)
            continue;
        /* The lock and not the number in the name decides: process numbers differ between containers. */
        if (flock(fd, LOCK_EX | LOCK_NB) == 0)
            removed += remove_directory(dirfd(stream), entry->d_name, fd);
        close(fd);
    }
    closedir(stream);
    return removed;
}

/* Another process may sweep the directory between its creation and the lock: for as long as that takes it has
 * the lock, and then the directory is made again. */
static bool make_directory(char *why, size_t n)
{
    enum { ATTEMPTS = 5000 };
    static const struct timespec pause = {.tv_nsec = 1000000};
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
        struct stat by_path, by_fd;
        if (mkdir(dir.path, 0700) != 0 && errno != EEXIST)
            break;
        dir.fd = open(dir.path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (dir.fd >= 0 && flock(dir.fd, LOCK_EX | LOCK_NB) == 0 && fstat(dir.fd, &by_fd) == 0 &&
            stat(dir.path, &by_path) == 0 && by_path.st_ino == by_fd.st_ino)
            return true;
        int error = errno;
        if (dir.fd >= 0)
            close(dir.fd);
        dir.fd = -1;
        errno = error;
        nanosleep(&pause, NULL);
    }
    snprintf(why, n, "cannot make the directory %s for the copies of Open MPI: %s; set PARFOCAL_CLONE_DIR",
             dir.path, strerror(errno));
    return false;
}

static void remove_at_end(void)
{
    if (dir.fd < 0 || pf_config.openmpi_keep_clones)
        return;
    remove_directory(AT_FDCWD, dir.path, dir.fd);
    close(dir.fd);
    dir.fd = -1;
}

bool pf_clone_dir_open(size_t need, char *why, size_t n)
{
    static bool registered;
    struct statvfs space;
    if (dir.fd >= 0)
        return true;
    const char *base = base_of_clones();
    pf_clone_dir_sweep(base);
    if (snprintf(dir.path, sizeof dir.path, "%s/%s%ld", base, prefix, (long)getpid()) >=
        (int)sizeof dir.path) {
        snprintf(why, n, "the name of the directory %s is too long; set PARFOCAL_CLONE_DIR", base);
        return false;
    }
    if (statvfs(base, &space) == 0 && (double)space.f_bavail * (double)space.f_frsize < (double)need) {
        snprintf(why, n,
                 "no space left in %s for the copies of Open MPI: they need %zu MB, %.0f MB are free; free "
                 "some or set "
                 "PARFOCAL_CLONE_DIR to a larger disk",
                 base, need >> 20, (double)space.f_bavail * (double)space.f_frsize / 1048576.0);
        return false;
    }
    if (!make_directory(why, n))
        return false;
    if (!registered)
        pf_at_end(remove_at_end);
    registered = true;
    return true;
}

void pf_clone_dir_close(void)
{
    if (dir.fd < 0 || pf_config.openmpi_keep_clones)
        return;
    rmdir(dir.path);
    close(dir.fd);
    dir.fd = -1;
}

static const char *write_error(int error)
{
    return error == ENOSPC || error == EDQUOT ? "no space left for the copies of Open MPI" : strerror(error);
}

static void explain(enum pf_copy_fault fault, int error, const char *path, const char *text, char *why,
                    size_t n)
{
    bool no_exec = strstr(text, "failed to map segment") != NULL;
    if (fault == PF_COPY_UNWRITTEN)
        snprintf(why, n, "%s: %s; set PARFOCAL_CLONE_DIR to another disk", path, write_error(error));
    else
        snprintf(
            why, n, "%s%s", text,
            no_exec ? " (mounted noexec, or vm.max_map_count reached): set PARFOCAL_CLONE_DIR to another disk"
                    : "");
}

void *pf_clone_load(struct pf_family *member, int rank, char *why, size_t n)
{
    char path[PATH_MAX + 128], text[400];
    const char *slash = strrchr(member->elf.path, '/');
    bool once = dir.fd < 0; /* a plugin that is opened late, on first use */
    void *loaded = NULL;
    if (!pf_family_number(member, rank)) {
        snprintf(why, n, "Open MPI can have at most %d ranks", PF_FAMILY_MAX_RANK + 1);
        return NULL;
    }
    if (!pf_clone_dir_open(member->elf.size, why, n))
        return NULL;
    /* The dynamic linker identifies a library by its path, so the paths of two ranks differ. */
    snprintf(path, sizeof path, "%s/%05d.%.96s", dir.path, rank, slash ? slash + 1 : member->elf.path);
    const struct pf_copy copy = {
        .elf = &member->elf,
        .path = path,
        .keep = pf_config.openmpi_keep_clones,
        .replace = true,
        .flags = pf_copy_flags(),
    };
    enum pf_copy_fault fault = pf_copy_load(&copy, &loaded, text, sizeof text);
    if (fault)
        explain(fault, errno, path, text, why, n);
    if (once)
        pf_clone_dir_close();
    return loaded;
}
